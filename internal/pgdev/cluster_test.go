package pgdev

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func query[T any](t *testing.T, url, sql string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	v, err := pgx.CollectOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func exec1(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// alive lists the processes of a cluster: each works in its data directory or, before it got there, in its folder.
func alive(t *testing.T, dir string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(links) == 0 {
		t.Skip("this system has no /proc to find processes in")
	}
	var pids []string
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, dir) {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}

func TestURLReachesTheSuperuser(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	type server struct {
		User, Super, Encoding, Collate, Listen, Fsync string
	}
	got := server{
		User:     query[string](t, c.URL("postgres"), "select current_user::text"),
		Super:    query[string](t, c.URL("template1"), "show is_superuser"),
		Encoding: query[string](t, c.URL("postgres"), "show server_encoding"),
		Collate:  query[string](t, c.URL("postgres"), "select datcollate::text from pg_database where datname = 'template1'"),
		Listen:   query[string](t, c.URL("postgres"), "show listen_addresses"),
		Fsync:    query[string](t, c.URL("postgres"), "show fsync"),
	}
	want := server{"postgres", "on", "UTF8", "C.UTF-8", "127.0.0.1", "off"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("server (-want +got):\n%s", diff)
	}

	wrong, err := url.Parse(c.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	wrong.User = url.UserPassword("postgres", "guess")
	if err := ping(t.Context(), wrong.String()); err == nil {
		t.Error("a wrong password was let in")
	}
}

func TestPasswordsAreCheckedWithOneRound(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	exec1(t, c.URL("postgres"), "create role plain login password '"+Verifier("right")+"'")
	for _, role := range []string{"postgres", "plain"} {
		if kept := query[string](t, c.URL("postgres"), "select rolpassword from pg_authid where rolname = '"+role+"'"); !strings.HasPrefix(kept, "SCRAM-SHA-256$1:") {
			t.Errorf("of %s the server keeps %q", role, kept)
		}
	}
	for password, let := range map[string]bool{"right": true, "wrong": false} {
		address, err := url.Parse(c.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		address.User = url.UserPassword("plain", password)
		conn, err := pgx.Connect(t.Context(), address.String())
		if (err == nil) != let {
			t.Errorf("with the %s password: %v", password, err)
		}
		if conn != nil {
			conn.Close(context.Background())
		}
	}
}

func TestStopLeavesNoProcessAndNoFolder(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	if len(alive(t, c.Dir())) == 0 {
		t.Fatal("a running cluster has no process: the check below proves nothing")
	}
	// An open session must not hold the shutdown up.
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pids := alive(t, c.Dir()); len(pids) > 0 {
		t.Errorf("processes left: %v", pids)
	}
	if exists(c.Dir()) {
		t.Errorf("%s is left", c.Dir())
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Errorf("second stop: %v", err)
	}
	if err := c.Restart(t.Context(), nil); err == nil {
		t.Error("a stopped cluster restarted")
	}
}

// A server in a shutdown that an ended context cuts short must be gone all the same.
func TestStopWithAnEndedContextIsImmediate(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if pids := alive(t, c.Dir()); len(pids) > 0 {
		t.Errorf("processes left: %v", pids)
	}
}

func TestRestartKeepsPortAndDataAndTakesSettings(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	exec1(t, c.URL("postgres"), "create table kept as select 1 as n")
	before := c.URL("postgres")
	if err := c.Restart(t.Context(), map[string]string{"work_mem": "7MB", "cluster_name": "it's ours"}); err != nil {
		t.Fatal(err)
	}
	if c.URL("postgres") != before {
		t.Errorf("the URL changed from %s to %s", before, c.URL("postgres"))
	}
	if got := query[string](t, before, "show work_mem"); got != "7MB" {
		t.Errorf("work_mem = %s", got)
	}
	if got := query[string](t, before, "show cluster_name"); got != "it's ours" {
		t.Errorf("cluster_name = %s", got)
	}
	if got := query[string](t, before, "show fsync"); got != "off" {
		t.Errorf("the settings of the start are lost: fsync = %s", got)
	}
	if got := query[int](t, before, "select n from public.kept"); got != 1 {
		t.Errorf("kept.n = %d", got)
	}
}

func TestRestartAfterKillRecovers(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	exec1(t, c.URL("postgres"), "create table kept as select 1 as n")
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := ping(t.Context(), c.URL("postgres")); err == nil {
		t.Fatal("the killed server answers")
	}
	if pids := alive(t, c.Dir()); len(pids) > 0 {
		t.Errorf("processes left: %v", pids)
	}
	if err := c.Restart(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := query[int](t, c.URL("postgres"), "select n from kept"); got != 1 {
		t.Errorf("kept.n = %d", got)
	}
	log, err := os.ReadFile(c.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), "automatic recovery in progress") {
		t.Error("the kill was a clean shutdown: nothing had to be recovered")
	}
}

func TestTwoClustersAtOnce(t *testing.T) {
	t.Parallel()
	a, b := start(t, Options{}), start(t, Options{})
	exec1(t, a.URL("postgres"), "create table only_in_a ()")
	if query[bool](t, b.URL("postgres"), "select to_regclass('only_in_a') is not null") {
		t.Error("both URLs reach one server")
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ping(t.Context(), b.URL("postgres")); err != nil {
		t.Errorf("stopping one cluster ended the other: %v", err)
	}
}

func TestFolderThatWasNamedIsKeptAndOpenedAgain(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	first := start(t, Options{Dir: dir})
	exec1(t, first.URL("postgres"), "create table kept as select 1 as n")
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := start(t, Options{Dir: dir})
	if got := query[int](t, second.URL("postgres"), "select n from kept"); got != 1 {
		t.Errorf("kept.n = %d", got)
	}
}

// folder is a temporary one that the server's account can reach; those of testing.T are closed to others.
func folder(t *testing.T) string {
	t.Helper()
	p, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(p.outside("/tmp"), "nexus-pg-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "cluster")
}

func TestFailedStartCleansUpAndShowsTheServersLog(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	_, err := Start(t.Context(), Options{Dir: dir, Settings: map[string]string{"shared_buffers": "a lot"}})
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Fatalf("err = %v; want the server's complaint about shared_buffers", err)
	}
	if pids := alive(t, dir); len(pids) > 0 {
		t.Errorf("processes left: %v", pids)
	}
}

func TestPortThatIsTakenIsNamed(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	_, err := Start(t.Context(), Options{Port: c.Port()})
	if !errors.Is(err, errPortTaken) {
		t.Errorf("err = %v; want errPortTaken", err)
	}
	if err := ping(t.Context(), c.URL("postgres")); err != nil {
		t.Errorf("the cluster that had the port is gone: %v", err)
	}
}

func TestKilledParentTakesServerAndFolderAlong(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), helperVariable+"=1")
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := out.Read(line)
	if err != nil {
		t.Fatalf("the parent told nothing: %v", errors.Join(err, parent.Wait()))
	}
	fields := strings.Fields(string(line[:n]))
	if len(fields) != 2 {
		t.Fatalf("the parent said %q", line[:n])
	}
	dir := fields[1]
	if len(alive(t, dir)) == 0 {
		t.Fatal("no server process before the kill: the checks below prove nothing")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, "the server of a killed parent is gone", func() bool { return len(alive(t, dir)) == 0 })
	eventually(t, "the folder of a killed parent is gone", func() bool { return !exists(dir) })
}

func TestKeepRunningOutlivesStopUntilItsLineIsRun(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	left, err := c.KeepRunning()
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop := func() {
		if out, err := exec.Command("sh", "-c", left.Stop).CombinedOutput(); err != nil && !stopped {
			t.Errorf("%s: %v\n%s", left.Stop, err, out)
		}
		stopped = true
	}
	defer stop()
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ping(t.Context(), left.URL); err != nil {
		t.Fatalf("the server left with Stop: %v", err)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(left.PID)); err != nil {
		t.Errorf("PID: %v", err)
	}
	stop()
	if pids := alive(t, left.Dir); len(pids) > 0 {
		t.Errorf("processes left after %q: %v", left.Stop, pids)
	}
	if exists(left.Dir) {
		t.Errorf("%s is left after %q", left.Dir, left.Stop)
	}
}

func TestAvailableTellsWhatCanBeCreated(t *testing.T) {
	t.Parallel()
	c := start(t, Options{CronDatabase: "postgres"})
	for name, version := range c.Available() {
		exec1(t, c.URL("postgres"), "create schema if not exists "+pgx.Identifier{"for_" + name}.Sanitize())
		exec1(t, c.URL("postgres"), "create extension "+pgx.Identifier{name}.Sanitize())
		got := query[string](t, c.URL("postgres"), "select extversion from pg_extension where extname = '"+name+"'")
		if got != version {
			t.Errorf("%s: created %s, announced %s", name, got, version)
		}
	}
}

// A server without pg_cron's library must start all the same.
func TestStartsWithoutPgCron(t *testing.T) {
	t.Parallel()
	p, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	p.LibDir = "/nonexistent" // where this package looks; the server knows its own
	c := start(t, Options{Platform: p})
	if got := query[string](t, c.URL("postgres"), "show shared_preload_libraries"); got != "" {
		t.Errorf("shared_preload_libraries = %q", got)
	}
	if _, ok := c.Available()["pg_cron"]; ok {
		t.Error("pg_cron is announced, but its library was not preloaded")
	}
}
