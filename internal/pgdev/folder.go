package pgdev

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// makeDir makes the cluster's folder and gives it to the account that the server runs as.
func (c *Cluster) makeDir(dir string, inMemory bool) error {
	var err error
	switch {
	case dir != "":
		if dir, err = filepath.Abs(dir); err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
	case c.platform.Root != "":
		// A chrooted server sees nothing outside its root.
		dir, err = os.MkdirTemp(c.platform.outside("/tmp"), "nexus-pg-")
		c.mounted = err == nil && inMemory && mountMemory(dir)
	case inMemory:
		dir, err = os.MkdirTemp(memoryFolder(), "nexus-pg-")
	default:
		dir, err = os.MkdirTemp("", "nexus-pg-")
	}
	if err != nil {
		return fmt.Errorf("make the cluster's folder: %w", err)
	}
	if root := c.platform.Root; root != "" && !strings.HasPrefix(dir, filepath.Clean(root)+"/") {
		return fmt.Errorf("the cluster's folder %s must lie below %s, the root of platform %s", dir, root, c.platform.Name)
	}
	c.dir = dir
	return c.account.own(dir)
}

// remove takes a temporary folder away.
func (c *Cluster) remove() error {
	if c.mounted {
		if err := unmountMemory(c.dir); err != nil {
			return fmt.Errorf("unmount %s: %w", c.dir, err)
		}
	}
	return os.RemoveAll(c.dir)
}

func (c *Cluster) dataDir() string { return filepath.Join(c.dir, "data") }

// initialise runs initdb, or takes up the cluster that is already there.
func (c *Cluster) initialise(ctx context.Context) error {
	passwordFile := filepath.Join(c.dir, "password")
	if _, err := os.Stat(filepath.Join(c.dataDir(), "PG_VERSION")); err == nil {
		kept, err := os.ReadFile(passwordFile)
		if err != nil {
			return fmt.Errorf("%s holds a cluster whose password is not known: %w", c.dir, err)
		}
		c.password = strings.TrimSpace(string(kept))
		return nil
	}
	c.password = newPassword()
	if err := os.WriteFile(passwordFile, []byte(c.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the superuser's password: %w", err)
	}
	if err := c.account.own(passwordFile); err != nil {
		return err
	}
	verifierFile := filepath.Join(c.dir, "verifier")
	if err := os.WriteFile(verifierFile, []byte(Verifier(c.password)+"\n"), 0o600); err != nil {
		return fmt.Errorf("write what the server keeps of the password: %w", err)
	}
	if err := c.account.own(verifierFile); err != nil {
		return err
	}
	cmd := c.command(ctx, "initdb",
		"--pgdata="+c.platform.inside(c.dataDir()),
		"--username=postgres",
		"--pwfile="+c.platform.inside(verifierFile),
		"--auth=scram-sha-256",
		"--encoding=UTF8",
		"--locale=C.UTF-8",
		"--no-sync",
		"--no-instructions",
	)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(out))
	}
	return c.includeSettings()
}

// command prepares a program of the platform to run as the server's account. Its environment is bare, so that the caller's
// PGPORT, PGDATA or LANG change nothing.
func (c *Cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.platform.BinDir, program), args...)
	cmd.Dir = c.platform.inside(c.dir)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = c.account.attributes(c.platform.Root)
	return cmd
}
