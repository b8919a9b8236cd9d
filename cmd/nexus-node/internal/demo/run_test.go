package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// small is a run on the written set.
func small(t *testing.T, word string, keep bool) (out string, all []webhook, err error) {
	t.Helper()
	list, err := parse(written)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	o := Options{Events: 300, Keep: keep, Out: &b, NodeArgs: nodeArgs(word)}
	err = run(t.Context(), o, list, "the test")
	t.Logf("%s\nended with: %v", &b, err)
	return b.String(), script(list, o.Events), err
}

func ofType(all []webhook, eventType string) (n int) {
	for _, w := range all {
		if w.Type == eventType {
			n++
		}
	}
	return n
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	return lines[len(lines)-1]
}

// holds: S1-demo
func TestDemoKeptAndLookedInto(t *testing.T) {
	t.Parallel()
	out, all, err := small(t, "be-node", true)
	server := stopAtTheEnd(t, out) // which a demo that fails leaves up as well
	if err != nil {
		t.Fatal(err)
	}
	slots := slotsOf(t, out)
	want := fmt.Sprintf("demo: emitted=%d handled=%d dead_lettered=1 replayed=1 lost=0 doubled=0", len(all), len(all)-1)
	if got := lastLine(out); got != want {
		t.Errorf("last line\ngot  %s\nwant %s", got, want)
	}
	for _, line := range []string{
		`kill -9 \d+`,
		`handled by node-a +[1-9]`,
		`handled by node-b +[1-9]`,
		`longest \d+`,
		regexp.QuoteMeta("dead letters: "+noPush) + ` +1, discarded`,
		`dead letters: error +1, replayed`,
		`left on queue core_events_github +0\n`,
		`left on queue core_events_github__audit +0\n`,
		regexp.QuoteMeta("dead letters: "+noStatus) + ` +1, replayed`,
		`audit, begins at the beginning: [1-9]\d* webhooks`,
		`400 movements of 8 accounts are enqueued`,
		`halted +\d+ +\d+ +halted at message \d+ +movement 25 of account 3`,
		`5 orders are shipped; for the one without a carrier`,
		`ship +failed +1 +no carrier goes there`,
		`8 accounts have all 50 movements once, in their order`,
		`nexus_sql +succeeded +\S+ +\S+ +20\n`,
		fmt.Sprintf(`partition core\.event_log_p\S+ +%d events`, int64(len(all))+slots.Fired+slots.OneShots+invoices+2*parcels), // of a parcel a change and a request
	} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no line matches %s", line)
		}
	}

	checkSchedules(t, out, slots)
	stars := ofType(all, flakyType) + ofType(all, "github.star.deleted")
	if got, want := outletsOf(t, out), (Outlets{Audited: int64(len(all)), Delivered: int64(stars), Booked: invoices}); *got != want {
		t.Errorf("counted %s, want %s", got, &want)
	}

	if got, want := parcelsOf(t, out), (Parcels{Told: parcels, Posted: parcels, Mended: 1, Answered: parcels}); *got != want {
		t.Errorf("counted %s, want %s", got, &want)
	}

	// Each fails twice, but for attempts that the killed node took along.
	failed, killed := figure(t, out, regexp.QuoteMeta(flakyType)+` (\d+)`), figure(t, out, `retries after kill -9 +(\d+)`)
	if most := 2 * ofType(all, flakyType); failed > most || failed < most-killed {
		t.Errorf("%s failed %d times; expected %d less at most %d", flakyType, failed, most, killed)
	}

	lines := regexp.MustCompile(`(?m)^  (psql .+)$`).FindAllStringSubmatch(out, -1)
	if want := len(look) + len(lookCron); len(lines) != want {
		t.Errorf("%d lines for psql, want %d", len(lines), want)
	}
	for _, line := range lines {
		if err := shell(t, line[1]); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
	}
	if active := ask[int](t, server, `select count(*) from core.scheduled_tasks where active`); active > 0 {
		t.Errorf("%d tasks still fire on the server that stays", active)
	}
	nodes := regexp.MustCompile(`alive: pids (\d+) and (\d+)`).FindStringSubmatch(out)
	for _, pid := range nodes[1:] {
		if runs(t, pid) {
			t.Errorf("node %s is still there", pid)
		}
	}
}

// stopAtTheEnd stops the server that was kept, by the line that is printed for that, when the test ends. It returns its URL.
func stopAtTheEnd(t *testing.T, out string) (url string) {
	t.Helper()
	server := regexp.MustCompile(`the server stays up: (\S+)\nstop it with: (.+)\n`).FindStringSubmatch(out)
	if server == nil {
		t.Fatal("it does not say how to reach and stop the server")
	}
	t.Cleanup(func() {
		if err := shell(t, server[2]); err != nil {
			t.Error(err)
		}
		if reachable(server[1]) {
			t.Error("the line that should stop the server does not")
		}
	})
	return server[1]
}

// figure is the number that a pattern's group matches.
func figure(t *testing.T, out, pattern string) int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no line matches %s", pattern)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// holds: S1-demo
func TestCountsAreHonest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]func(r *Result, s *Slots, o *Outlets, p *Parcels, all []webhook) bool{
		// Attempts 1 and 2 fail and leave their effects; one of them may have gone down with the killed node. A batch that was rolled
		// back leaves more of them.
		"be-leaky-node": func(r *Result, s *Slots, o *Outlets, p *Parcels, all []webhook) bool {
			return p.Lost == 0 && p.Doubled >= parcels-1 && o.Lost == 0 && o.Doubled >= int64(ofType(all, forgottenType)) && s.Lost == 0 && 2*s.Doubled > s.Fired && s.Handled == s.Fired &&
				r.Lost == 0 && r.Doubled >= int64(ofType(all, flakyType)) && r.Handled+r.DeadLettered == r.Emitted
		},
		"be-forgetful-node": func(r *Result, s *Slots, o *Outlets, p *Parcels, all []webhook) bool {
			return p.Lost == 1 && p.Doubled == 0 && o.Lost == int64(ofType(all, forgottenType)) && o.Doubled == 0 && s.Lost == s.Fired+1 && s.Doubled == 0 && s.Handled == 0 && s.Cancelled == 1 &&
				r.Doubled == 0 && r.Lost == int64(ofType(all, forgottenType)) && r.Handled+r.Lost+r.DeadLettered == r.Emitted
		},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			out, all, err := small(t, word, false)
			if !errors.Is(err, ErrWrong) {
				t.Errorf("the error is %v", err)
			}
			var r Result
			_, err = fmt.Sscanf(lastLine(out), "demo: emitted=%d handled=%d dead_lettered=%d replayed=%d lost=%d doubled=%d",
				&r.Emitted, &r.Handled, &r.DeadLettered, &r.Replayed, &r.Lost, &r.Doubled)
			if err != nil {
				t.Fatal(err)
			}
			if s, o, p := slotsOf(t, out), outletsOf(t, out), parcelsOf(t, out); !want(&r, s, o, p, all) {
				t.Errorf("counted %s, %s, %s, %s", &r, s, o, p)
			}
		})
	}
}

func TestNodeThatDiesIsNoticed(t *testing.T) {
	t.Parallel()
	began := time.Now()
	_, _, err := small(t, "be-dying-node", false)
	if err == nil || !strings.Contains(err.Error(), "ended by itself: exit status 1") || !strings.Contains(err.Error(), "my last words") {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("it took %s to notice", took)
	}
}

func TestWebhookThatCannotBeEmittedEndsTheDemo(t *testing.T) {
	t.Parallel()
	began := time.Now()
	o := Options{Events: 10, Out: io.Discard, NodeArgs: nodeArgs("be-node")}
	err := run(t.Context(), o, []webhook{{"github.no type", []byte(`{}`)}}, "the test")
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeEventType {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("it took %s to notice", took)
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("this system has no /proc to find processes in")
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], asDemo)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stdout)
			port := awaitLine(t, lines, `PostgreSQL on port (\d+)`)[0]
			pids := awaitLine(t, lines, `alive: pids (\d+) and (\d+)`)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("it ended as if it had been done")
			}
			for _, pid := range pids {
				eventually(t, "node "+pid+" is gone", func() bool { return !runs(t, pid) })
			}
			eventually(t, "the server is gone", func() bool {
				conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
				if err == nil {
					_ = conn.Close()
				}
				return err != nil
			})
		})
	}
}

// awaitLine reads until a line matches and returns what its groups matched.
func awaitLine(t *testing.T, lines *bufio.Scanner, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for lines.Scan() {
		if m := re.FindStringSubmatch(lines.Text()); m != nil {
			return m[1:]
		}
	}
	t.Fatalf("no line matches %s", pattern)
	return nil
}

func shell(t *testing.T, line string) error {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PAGER=cat")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// ask returns the one value of a query.
func ask[T any](t *testing.T, url, sql string) (value T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func reachable(url string) bool {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		return false
	}
	defer conn.Close(context.Background())
	return true
}

// runs reports whether a process is there and more than a zombie, which nobody in a container may ever reap.
func runs(t *testing.T, pid string) bool {
	t.Helper()
	if n, err := strconv.Atoi(pid); err != nil || n <= 1 {
		t.Fatalf("%q is no pid", pid)
	}
	line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	return err == nil && len(line) > 0
}

// eventually waits until a condition outside this process holds; nothing there can notify us.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after a minute still not true: %s", what)
		}
	}
}
