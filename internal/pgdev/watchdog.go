package pgdev

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// A watchdog is a shell that reads from a pipe whose other end only this process holds. A word on the pipe sends it home; the end
// of the pipe means that this process is gone, and then it stops the server and removes the folder. The kernel's parent-death
// signal would be shorter, but it follows the thread that started the server, not the process, can't be taken back when a server is
// to stay (demo KEEP=1), and leaves the folder behind.
type watchdog struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// The pid is read at the last moment, since a restart changes it; only digits count, for initdb writes a negative number there. A
// server so young that it has not written the file yet ends by itself when it misses the file.
const watchdogScript = `
read -r word && exit 0
pid=$(head -n 1 "$2/postmaster.pid" 2>/dev/null)
case $pid in
'' | *[!0-9]*) ;;
*)
	kill -"$3" "$pid" 2>/dev/null
	tries=100
	while [ "$tries" -gt 0 ] && kill -0 "$pid" 2>/dev/null; do
		tries=$((tries - 1))
		sleep 0.1
	done
	[ "$tries" -gt 0 ] || kill -KILL "$pid" 2>/dev/null
	;;
esac
[ "$4" = unmount ] && umount -l "$1"
[ "$4" = keep ] || rm -rf "$1"
exit 0
`

func startWatchdog(dir, dataDir string, removeDir, mounted bool) (*watchdog, error) {
	signal, end := "INT", "keep"
	if removeDir {
		signal, end = "QUIT", "remove" // nobody will look at the data again
		if mounted {
			end = "unmount"
		}
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return nil, fmt.Errorf("start the cluster's watchdog: %w", err)
	}
	cmd := exec.Command(shell, "-c", watchdogScript, "nexus-pg-watchdog", dir, dataDir, signal, end)
	cmd.Dir = filepath.Dir(dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = ownSession()
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the cluster's watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the cluster's watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, pipe: pipe}, nil
}

// dismiss sends the watchdog home; it touches neither server nor folder.
func (w *watchdog) dismiss() error {
	if _, err := io.WriteString(w.pipe, "dismissed\n"); err != nil {
		return fmt.Errorf("dismiss the cluster's watchdog: %w", err)
	}
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("dismiss the cluster's watchdog: %w", err)
	}
	return nil
}
