package pgdev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Platform is one set of server binaries.
type Platform struct {
	// Name is what PlatformVariable selects.
	Name string

	// Major is PostgreSQL's major version; 0 if it isn't known before the server runs.
	Major int

	// Root is the folder of another Debian into which the server's programs are chrooted; empty means this machine itself.
	// The folders below are as seen from inside.
	Root string

	BinDir   string // initdb, postgres
	ShareDir string // has extension/
	LibDir   string // loadable modules
}

const (
	// PlatformVariable is the environment variable that makes Find take the platform of that name.
	PlatformVariable = "NEXUS_PLATFORM"

	// rootVariable moves platform B; scripts/install-deps reads it too.
	rootVariable = "NEXUS_PLATFORM_B_ROOT"
	defaultRoot  = "/var/lib/nexus/platform-b"
)

// Platforms are the sets of binaries that Find looks for, in this order: A and B, on which the whole database suite must pass, and
// "host", whatever else this machine has (the pg_config on the PATH, or the newest of Debian's layout).
func Platforms() []Platform {
	root := cmp.Or(os.Getenv(rootVariable), defaultRoot)
	list := []Platform{
		debian("A", 15, ""),   // Debian 12
		debian("B", 17, root), // Debian 13 in a folder
	}
	if host, ok := hostPlatform(); ok {
		list = append(list, host)
	}
	return list
}

func debian(name string, major int, root string) Platform {
	v := strconv.Itoa(major)
	return Platform{
		Name: name, Major: major, Root: root,
		BinDir:   "/usr/lib/postgresql/" + v + "/bin",
		ShareDir: "/usr/share/postgresql/" + v,
		LibDir:   "/usr/lib/postgresql/" + v + "/lib",
	}
}

func hostPlatform() (Platform, bool) {
	if p, ok := fromPgConfig(); ok {
		return p, true
	}
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	newest := 0
	for _, bin := range bins {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(bin)))); err == nil {
			newest = max(newest, v)
		}
	}
	return debian("host", newest, ""), newest > 0
}

func fromPgConfig() (Platform, bool) {
	out, err := exec.Command("pg_config", "--bindir", "--sharedir", "--pkglibdir").Output()
	lines := strings.Fields(string(out))
	if err != nil || len(lines) != 3 {
		return Platform{}, false
	}
	p := Platform{Name: "host", BinDir: lines[0], ShareDir: lines[1], LibDir: lines[2]}
	// Debian's client-side pg_config is there without a server.
	return p, p.Check() == nil
}

// Find returns the platform named by PlatformVariable, or else the first one that can run here. Its error holds the line to run.
func Find() (Platform, error) {
	list := Platforms()
	if name := os.Getenv(PlatformVariable); name != "" {
		i := slices.IndexFunc(list, func(p Platform) bool { return p.Name == name })
		if i < 0 {
			return Platform{}, fmt.Errorf("%s is %q; it must be A, B or host", PlatformVariable, name)
		}
		return list[i], list[i].Check()
	}
	return firstUsable(list)
}

func firstUsable(list []Platform) (Platform, error) {
	var errs []error
	for _, p := range list {
		err := p.Check()
		if err == nil {
			return p, nil
		}
		errs = append(errs, err)
	}
	return Platform{}, fmt.Errorf("no PostgreSQL server can be started here: %w", errors.Join(errs...))
}

// Check tells whether the platform can run here, and if not, what to do about it.
func (p Platform) Check() error {
	if runtime.GOOS == "windows" {
		return errors.New("private clusters need a Unix; use a PostgreSQL server by its URL instead")
	}
	for _, program := range []string{"initdb", "postgres"} {
		path := p.outside(filepath.Join(p.BinDir, program))
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("platform %s: %s is missing; run: %s", p.Name, path, p.installLine())
		}
	}
	if p.Root != "" && os.Geteuid() != 0 {
		return fmt.Errorf("platform %s runs by chroot, which only root may do; run the same command as root", p.Name)
	}
	return nil
}

func (p Platform) installLine() string {
	if p.Root != "" {
		return "make install-deps PLATFORM=B"
	}
	return "make install-deps"
}

// outside turns a path inside the platform into one that this process can open.
func (p Platform) outside(path string) string { return filepath.Join(p.Root, path) }

// inside is the reverse, for a path that lies below Root.
func (p Platform) inside(path string) string {
	if p.Root == "" {
		return path
	}
	return "/" + strings.TrimPrefix(strings.TrimPrefix(path, filepath.Clean(p.Root)), "/")
}

func (p Platform) hasLibrary(name string) bool {
	for _, suffix := range []string{".so", ".dylib"} {
		if _, err := os.Stat(p.outside(filepath.Join(p.LibDir, name+suffix))); err == nil {
			return true
		}
	}
	return false
}

// Shell is a script for bash that finds the platform's client programs, in a folder of its own, which goes with it.
func (p Platform) Shell(ctx context.Context, script string, env ...string) *exec.Cmd {
	args := []string{"bash", "-euo", "pipefail", "-c", "cd \"$(mktemp -d)\"; trap 'rm -rf \"$PWD\"' EXIT\n" + script}
	if p.Root != "" {
		args = append([]string{"chroot", p.Root}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), "PATH="+p.BinDir+":/usr/bin:/bin", "TMPDIR=/tmp")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}
