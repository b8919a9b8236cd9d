package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// pooler is a PgBouncer in transaction mode.
type pooler struct {
	url string
	dir string
	cmd *exec.Cmd
}

// startPooler starts one before the database that the URL names; nil without an error where there is none on the PATH.
func startPooler(ctx context.Context, databaseURL string) (*pooler, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the report says that it is left out
	}
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	if err := listener.Close(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nexus-chaos-pooler-")
	if err != nil {
		return nil, err
	}
	p := &pooler{dir: dir}
	password, _ := u.User.Password()
	users := filepath.Join(dir, "users.txt")
	settings := fmt.Sprintf(`[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = plain
auth_file = %s
pool_mode = transaction
default_pool_size = 8
max_client_conn = 300
ignore_startup_parameters = search_path
`, u.Hostname(), u.Port(), port, users)
	ini := filepath.Join(dir, "pgbouncer.ini")
	p.cmd = exec.Command(program, ini)
	if err := p.prepare(map[string]string{users: fmt.Sprintf("%q %q\n", u.User.Username(), password), ini: settings}); err != nil {
		p.stop()
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		p.stop()
		return nil, err
	}
	u.Host = net.JoinHostPort("127.0.0.1", port)
	p.url = u.String()
	return p, nil
}

// prepare writes the files and picks an account: like Postgres it refuses to run as root.
func (p *pooler) prepare(files map[string]string) error {
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if os.Getuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 31)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 31)
	if err != nil {
		return err
	}
	for path := range files {
		if err := os.Chown(path, int(uid), int(gid)); err != nil {
			return err
		}
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return os.Chown(p.dir, int(uid), int(gid))
}

func (p *pooler) stop() {
	if p == nil {
		return
	}
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	_ = os.RemoveAll(p.dir)
}
