package workflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/workflow"
)

type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// Each line about a run says which run, step and attempt it is about, and so does what code logs of it, without the input.
func TestLinesNameTheRun(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var out buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	w := workflow.New[order, int]("w")
	w.Retry = quick
	workflow.Step(w, "book", func(context.Context, *run) (int, error) { return 1, nil }).
		Compensate(func(context.Context, *run, int) error { return errors.New("no way back") })
	workflow.Step(w, "pay", func(_ context.Context, r *run) (int, error) {
		log.Info("paying", "run", r)
		return 0, errors.New("no money")
	})
	stop := start(t, db, node.Config{ID: "n", Logger: log}, w)
	id := begin(t, db, w, order{SKU: "secret"}, nil)
	if _, err := await(t, db, w, id); err == nil {
		t.Fatal("it did not fail")
	}
	stop()
	var failures, undos, own int
	for line := range strings.Lines(out.String()) {
		var l struct {
			Msg, Node, Namespace, Workflow, Step string
			RunID                                string `json:"run_id"`
			Attempt                              int
			Run                                  struct {
				Workflow, Step string
				RunID          string `json:"run_id"`
				Attempt        int
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err, line)
		}
		named := l.Node == "n" && l.Namespace == ns && l.Workflow == "w" && l.RunID == id.String()
		switch {
		case l.Msg == "a step failed" && named && l.Step == "pay" && l.Attempt == failures+1:
			failures++
		case l.Msg == "a compensation failed" && named && l.Step == "book~undo" && l.Attempt == undos+1:
			undos++
		case l.Msg == "paying" && l.Run.RunID == id.String() && l.Run.Workflow == "w" && l.Run.Step == "pay" && l.Run.Attempt == own+1:
			own++
		}
	}
	if failures != 3 || undos != 3 || own != 3 {
		t.Errorf("%d lines of failures, %d of compensations, %d of the step's own, want 3 of each in:\n%s", failures, undos, own, out.String())
	}
	if strings.Contains(out.String(), "secret") {
		t.Error("the input was logged")
	}
}

// A step that cannot be committed, though its code found no fault, is no failure; but it is told of.
func TestWhatCannotBeCommittedIsToldOf(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	var out buffer
	w := workflow.New[order, int]("w")
	db.Exec("create table public.doomed (n int)")
	db.Exec("grant insert on public.doomed to public")
	db.Exec("create function public.go_down() returns trigger language plpgsql as $$begin raise exception using errcode = 'cannot_connect_now', message = 'the server is going down'; end$$")
	db.Exec("create constraint trigger at_commit after insert on public.doomed deferrable initially deferred for each row execute function public.go_down()")
	again := false
	workflow.TxStep(w, "look", func(ctx context.Context, tx pgx.Tx, r *run) (int, error) {
		if again {
			return r.Attempt, nil
		}
		again = true
		_, err := tx.Exec(ctx, "insert into public.doomed values (1)") // told at the commit
		return 0, err
	})
	stop := start(t, db, node.Config{ID: "n", Logger: slog.New(slog.NewJSONHandler(&out, nil))}, w)
	if _, err := await(t, db, w, begin(t, db, w, order{}, nil)); err != nil {
		t.Fatal(err)
	}
	stop()
	if lines := out.String(); !strings.Contains(lines, "a step could not be committed") || !strings.Contains(lines, "the server is going down") || strings.Contains(lines, "a step failed") {
		t.Errorf("the log has:\n%s", lines)
	}
}
