package docgen_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
)

const (
	servicePage  = "docs/tutorials/service.md"
	serviceDir   = "examples/6_service"
	workflowPage = "docs/tutorials/workflow.md"
	workflowDir  = "examples/12_trip"
	pageAddress  = "127.0.0.1:8080"
)

// serviceBlock is a file with its name before it, or lines for the shell or what they print, with the language in their fence.
var serviceBlock = regexp.MustCompile("(?m)(?:^`([\\w.]+)`:\n\n)?^( *)```(\\w*)\n((?:.*\n)*?) *```$")

type tutorialBlock struct{ file, language, text string }

func tutorialBlocks(t *testing.T, of string) []tutorialBlock {
	t.Helper()
	page := read(t, of)
	var blocks []tutorialBlock
	for _, m := range serviceBlock.FindAllStringSubmatch(page, -1) {
		text := strings.ReplaceAll("\n"+m[4], "\n"+m[2], "\n")[1:]
		blocks = append(blocks, tutorialBlock{m[1], m[3], text})
	}
	if fences := strings.Count(page, "```"); fences != 2*len(blocks) {
		t.Fatalf("%d fences, %d blocks", fences, len(blocks))
	}
	return blocks
}

// What a tutorial shows is the whole example, and the example is what it shows.
// holds: tutorial
func TestTutorialsShowTheirExamples(t *testing.T) {
	t.Parallel()
	for page, dir := range map[string]string{servicePage: serviceDir, workflowPage: workflowDir} {
		shown := []string{"go.mod", "go.sum"} // TestServiceTutorialRuns compares these with what Go writes
		for _, b := range tutorialBlocks(t, page) {
			if b.file == "" {
				continue
			}
			shown = append(shown, b.file)
			if diff := cmp.Diff(read(t, dir+"/"+b.file), b.text); diff != "" {
				t.Errorf("%s shows another %s than %s has (-example +page):\n%s", page, b.file, dir, diff)
			}
		}
		files, err := os.ReadDir(filepath.Join("..", "..", "..", "..", filepath.FromSlash(dir)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !slices.Contains(shown, f.Name()) {
				t.Errorf("%s does not show %s", page, f.Name())
			}
		}
	}
}

// A reader's afternoon: an empty folder, the files as they are shown, the lines in one shell, in order, and after them what the page says
// that they print.
// holds: tutorial
func TestServiceTutorialRuns(t *testing.T) {
	t.Parallel()
	if _, err := pgdev.Find(); err != nil {
		t.Skip(err)
	}
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := commandLine(t)
	url := startDev(t, path)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	most := mostSessions(t, pool, "shop_service")
	sh := newTerminal(t, dir, path)
	// This checkout is the clone. Under its own path Go has it built already.
	page := strings.NewReplacer("=../nexus", "="+root, "postgres://…", url, pageAddress, freeAddress(t))
	blocks := tutorialBlocks(t, servicePage)
	left := 0
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		switch {
		case b.file != "":
			writeFile(t, filepath.Join(dir, "shop", b.file), b.text)
		case b.language != "sh":
			t.Fatalf("what is this for?\n%s", b.text)
		case strings.HasPrefix(b.text, "git clone"), strings.HasPrefix(b.text, "nexus/bin/nexus-node dev"):
			left++ // done above
		case i+1 < len(blocks) && blocks[i+1].language == "" && blocks[i+1].file == "":
			i++
			sh.expect(page.Replace(b.text), blocks[i].text)
		default:
			sh.run(page.Replace(b.text))
		}
	}
	if left != 2 {
		t.Errorf("%d blocks were left out", left)
	}

	var took time.Duration
	if err := pool.QueryRow(t.Context(), `select max(sent_at) - min(asked_at) from mails where body = 'News!'`).Scan(&took); err != nil {
		t.Fatal(err)
	}
	if took > 4*time.Second { // three at once, which is what handlers in transactions get, take 7; if each holds one of four connections it is 5
		t.Errorf("a hundred mails took %v", took)
	}
	if n, may := most(), max(4, runtime.NumCPU())+6; n < 2 || n > may {
		t.Errorf("the service had up to %d connections, the page says %d", n, may)
	}
	sameModule(t, root, filepath.Join(dir, "shop"))
}

// startDev runs `nexus-node dev` until the test ends and returns the URL that it prints.
func startDev(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.SplitList(path)[0], "nexus-node"), "dev")
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, is := strings.CutPrefix(strings.TrimSpace(line), "NEXUS_DATABASE_URL=")
	if err != nil || !is {
		t.Fatalf("dev printed %q: %v", line, err)
	}
	return url
}

// mostSessions counts the sessions of a login until the test ends, and returns what says how many there were at most.
func mostSessions(t *testing.T, pool *pgxpool.Pool, login string) func() int {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	most := make(chan int, 1)
	go func() {
		n, seen := 0, 0
		for ctx.Err() == nil {
			_ = pool.QueryRow(ctx, `select count(*) from pg_stat_activity, pg_sleep(0.02) where usename = $1`, login).Scan(&n)
			seen = max(seen, n)
		}
		most <- seen
	}()
	t.Cleanup(stop)
	return func() int {
		stop()
		return <-most
	}
}

// sameModule compares the module that came of the page with the example's.
func sameModule(t *testing.T, root, dir string) {
	t.Helper()
	varies := regexp.MustCompile(`(?m)^(go|toolchain|replace) .*\n`)
	for _, name := range []string{"go.mod", "go.sum"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(varies.ReplaceAllString(read(t, serviceDir+"/"+name), ""), varies.ReplaceAllString(string(got), "")); diff != "" {
			t.Errorf("a reader gets another %s than %s has; run `GOWORK=off go mod tidy` there (-example +reader):\n%s", name, serviceDir, diff)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// terminal is one shell for all lines, as a reader has it.
type terminal struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	n   int
}

func newTerminal(t *testing.T, dir, path string) *terminal {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	cmd := exec.CommandContext(ctx, "bash", "--norc")
	cmd.Dir = dir
	// The go.work of the clone means nothing to a reader, and neither does what this test was called with.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NEXUS_") }), "PATH="+path, "GOFLAGS=", "GOWORK=", "PAGER=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
		_ = w.Close()
	}()
	t.Cleanup(func() {
		stop()
		_ = r.Close()
		<-ended
	})
	sh := &terminal{t: t, in: in, out: bufio.NewReader(r)}
	sh.run("set -Eeuo pipefail")
	return sh
}

// run returns what the lines print. One that fails ends the shell.
func (sh *terminal) run(lines string) string {
	sh.t.Helper()
	sh.n++
	end := fmt.Sprintf("end of block %d", sh.n)
	if _, err := fmt.Fprintf(sh.in, "%s\necho; echo '%s'\n", lines, end); err != nil {
		sh.t.Fatalf("%v in\n%s", err, lines)
	}
	var out strings.Builder
	for {
		line, err := sh.out.ReadString('\n')
		if err != nil {
			sh.t.Fatalf("the shell has ended (%v) in\n%s%s", err, lines, out.String())
		}
		if strings.TrimSuffix(line, "\n") == end {
			return out.String()
		}
		out.WriteString(line)
	}
}

// expect runs lines that print what the page says. Those that only look do so again until it is there, for half a minute.
func (sh *terminal) expect(lines, want string) {
	sh.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		got := sh.run(lines)
		if likeness(want).MatchString(squeezed(got)) {
			return
		}
		if !onlyLooks(lines) || time.Now().After(deadline) {
			sh.t.Fatalf("%s\nprints\n%s\nand the page says\n%s", lines, got, want)
		}
	}
}

func onlyLooks(lines string) bool {
	for _, does := range []string{"core.emit", " -d ", "replay", "run-now", "create", "go ", "kill", "./"} {
		if strings.Contains(lines, does) {
			return false
		}
	}
	return true
}

var (
	widths = regexp.MustCompile(`[ \t]+|-[-+]+`)
	// What is another one each time: times, how long something took.
	changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.\\]+(?:\\\+\d\d:\d\d)?|\d\d:\d\d:\d\d\\\.\d+|\d+\\\.\d+s`)
	digits   = regexp.MustCompile(`\d+`)
)

// squeezed takes out what widths of columns and empty lines make.
func squeezed(text string) string {
	var lines []string
	for line := range strings.Lines(widths.ReplaceAllString(text, " ")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// likeness matches what is like the text: … is anything, and of times only the form counts.
func likeness(text string) *regexp.Regexp {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(squeezed(text)), "…", ".*")
	quoted = changing.ReplaceAllStringFunc(quoted, func(s string) string { return digits.ReplaceAllLiteralString(s, `\d+`) })
	return regexp.MustCompile("^" + quoted + "$")
}
