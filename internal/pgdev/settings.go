package pgdev

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settingsFile is included at the end of postgresql.conf and rewritten at every start. ALTER SYSTEM still wins over it.
const settingsFile = "nexus.conf"

// defaults are the settings of every cluster before the caller's.
func (c *Cluster) defaults(cronDatabase string) map[string]string {
	s := map[string]string{
		"listen_addresses": "127.0.0.1",
		"max_connections":  "200",

		// One job of pg_cron takes one worker; the rest is room for parallel queries.
		"max_worker_processes": "20",

		"timezone":        "UTC",
		"log_timezone":    "UTC",
		"log_line_prefix": "%m [%p] %q%u@%d ",

		"unix_socket_directories": c.platform.inside(c.dir),
	}
	// A socket's address holds 107 bytes; TCP is there in any case.
	if len(s["unix_socket_directories"])+len("/.s.PGSQL.65535") > 100 {
		s["unix_socket_directories"] = ""
	}
	// A bare chroot has no tmpfs at /dev/shm.
	if c.platform.Root != "" {
		s["dynamic_shared_memory_type"] = "mmap"
	}
	if c.platform.hasLibrary("pg_cron") {
		s["shared_preload_libraries"] = "pg_cron"
		s["cron.database_name"] = cmp.Or(cronDatabase, "postgres")
		s["cron.use_background_workers"] = "on" // its other mode would need a password file
		s["cron.max_running_jobs"] = "10"
	}
	return s
}

// TestSettings trade durability over a power cut for speed and keep everything that tests can observe: commits stay synchronous, so
// their order and what a crash of the server alone loses (nothing) are as in production.
func TestSettings() map[string]string {
	return map[string]string{
		"fsync":              "off",
		"full_page_writes":   "off",
		"synchronous_commit": "on",
		"max_wal_size":       "4GB", // no checkpoint in the middle of a run
		"checkpoint_timeout": "30min",
		"shared_buffers":     "256MB",
		"jit":                "off", // to compile one plan takes longer than all of a test
	}
}

func writeSettings(acc account, path string, settings map[string]string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = '%s'\n", name, strings.ReplaceAll(settings[name], "'", "''"))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write the server's settings: %w", err)
	}
	return acc.own(path)
}

func (c *Cluster) includeSettings() error {
	f, err := os.OpenFile(filepath.Join(c.dataDir(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("include %s: %w", settingsFile, err)
	}
	_, err = fmt.Fprintf(f, "\ninclude '%s'\n", settingsFile)
	if err := cmp.Or(err, f.Close()); err != nil {
		return fmt.Errorf("include %s: %w", settingsFile, err)
	}
	return nil
}
