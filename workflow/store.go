package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/work"
)

// exchange is how long one statement of the runner's own may take.
const exchange = 30 * time.Second

// Who asks about one run waits so long for whoever has locked it, and asks again later: an operator who thinks in an open transaction
// would otherwise take one connection of the node after the other.
const (
	briefly   = `set_config('lock_timeout', '1s', true), `
	atAGlance = `set_config('lock_timeout', '20ms', true), ` // who commits for many runs, before the call that it is for
)

// fence is what proves that a cursor is still in hand.
type fence struct {
	run   uuid.UUID
	path  string
	epoch int32
	token uuid.UUID
	pos   int32
}

// What the database answers. Those that stand nowhere here are about what is over for this hand.
const (
	ok        = "ok"
	already   = "already"
	busy      = "busy"
	lost      = "lost"
	tooBig    = "too_big"
	goOn      = "go"
	nextItem  = "item"
	nextUndo  = "next"
	undone    = "ended"
	undoStuck = "stuck"
	failed    = "failed"
)

// What follows a commit.
const (
	opNext   = "next"
	opYield  = "yield"
	opEnd    = "end"
	opAgain  = "again"
	opBranch = "branch"
)

func (r *runner) register(ctx context.Context, steps string) (def int64, err error) {
	s := r.flow.set()
	o := db.NewOptions("register_workflow", "")
	o.Number("concurrency", int64(s.concurrency))
	opts, err := o.Encode()
	if err != nil {
		return 0, err
	}
	err = db.Call(ctx, r.h.Own, "register_workflow", "select core_node.register_workflow($1::text, $2::text, $3::text::int, $4::text::jsonb, $5::text::jsonb)",
		[]any{string(r.h.Namespace), r.flow.name, fmt.Sprint(s.version), steps, opts}, &def)
	return def, err
}

// pace says by which key writers wake this runner, and how long it is until something is due; negative: nothing is.
func (r *runner) pace(ctx context.Context) (key string, due time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	var seconds *float64
	err = r.h.Own.QueryRow(ctx, "select wake_key, extract(epoch from due)::float8 from core_node.workflow_pace($1, $2)",
		string(r.h.Namespace), []int64{r.def}).Scan(&key, &seconds)
	due = -1
	if seconds != nil {
		due = time.Duration(*seconds * float64(time.Second))
	}
	return key, due, db.Error(ctx, "workflow_pace", err)
}

// behind is where the next claim begins: at the last that this node was given.
type behind struct {
	due   []*time.Time // none, or one
	run   []*pgtype.UUID
	whole time.Time // when a claim is to begin from the beginning again
}

// share of a runner's time that claims from the beginning may take: where much is dead that vacuum may not take away, they walk over all of it.
const share = 10

// claiming is a claim that is being made.
type claiming struct {
	r     *runner
	limit int
	sent  time.Time
	whole bool
	from  behind
	hands []*hand
	take  func([]*hand) // has them go on
}

// beginClaim begins a claim of up to limit runs where the one before has ended, or from the beginning where that is due.
func (r *runner) beginClaim(limit int) *claiming {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &claiming{r: r, limit: limit, sent: time.Now(), from: r.behind}
	if c.whole = !c.sent.Before(r.behind.whole); c.whole {
		c.from = behind{}
	}
	return c
}

const claimed = `select run_id, path, epoch, token, pos, attempt, deaths, state, coalesce(undo_key, ''), input::text, depth,
		coalesce(correlation_id, ''), created_at, nullif(results, '{}')::text, nullif(pending, '{}')::text, nullif(failed, '{}')::text, coalesce(traceparent, ''), due_at
	from core_node.`

const claimRuns = claimed + `claim_runs($1, $2, $3, $4, $5, $6, $7)`

func (c *claiming) args() []any {
	return []any{string(c.r.h.Namespace), []int64{c.r.def}, c.r.h.NodeID, c.limit, c.r.lease, c.from.due, c.from.run}
}

// read reads what the database gave.
func (c *claiming) read(rows pgx.Rows) (err error) {
	c.hands, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*hand, error) {
		h := &hand{r: c.r, facts: &facts{namespace: c.r.h.Namespace, workflow: c.r.flow.name}, journal: newJournal(), until: c.sent.Add(c.r.lease)}
		var results, pending, failed *string
		err := row.Scan((*[16]byte)(&h.run), &h.path, &h.epoch, (*[16]byte)(&h.token), &h.pos, &h.attempt, &h.deaths, &h.state, &h.undoKey, (*raw)(&h.facts.input),
			&h.facts.depth, &h.facts.correlation, &h.facts.created, &results, &pending, &failed, &h.facts.traceparent, &h.due)
		h.facts.id = h.run
		h.journal.read(results, pending, failed)
		return h, err
	})
	return err
}

// over notes what has committed, or that nothing has.
func (c *claiming) over(err error) {
	r, now := c.r, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plenty = err == nil && len(c.hands) == c.limit; err != nil {
		return
	}
	r.last.Store(now.UnixNano())
	for _, h := range c.hands {
		if last := r.behind.due; last == nil || h.due.After(*last[0]) || h.due.Equal(*last[0]) && bytes.Compare(h.run[:], r.behind.run[0].Bytes[:]) > 0 {
			id := binary(h.run)
			r.behind.due, r.behind.run = []*time.Time{&h.due}, []*pgtype.UUID{&id}
		}
	}
	if c.whole {
		r.behind.whole = now.Add(share * now.Sub(c.sent))
	}
}

// claim leases what is due, up to limit.
func (r *runner) claim(ctx context.Context, limit int) ([]*hand, error) {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	c := r.beginClaim(limit)
	rows, err := r.h.Own.Query(ctx, claimRuns, c.args()...)
	if err == nil {
		err = c.read(rows)
	}
	if c.over(err); db.OfData(err) {
		return r.claimUnread(limit, db.Error(ctx, "claim_runs", err))
	}
	if err != nil {
		return nil, db.Error(ctx, "claim_runs", err)
	}
	return c.hands, nil
}

// raw scans text.
type raw []byte

// Scan implements the interface of database/sql, which pgx knows.
func (r *raw) Scan(v any) error {
	*r = []byte(fmt.Sprint(v))
	return nil
}

// read takes over what a claim brought.
func (j *journal) read(results, pending, failed *string) {
	if results != nil {
		j.kept = len(*results)
	}
	for _, one := range [...]struct {
		of   map[string][]byte
		text *string
	}{{j.results, results}, {j.pending, pending}, {j.failed, failed}} {
		if one.text == nil {
			continue
		}
		var all map[string]json.RawMessage
		if json.Unmarshal([]byte(*one.text), &all) == nil {
			for key, v := range all {
				one.of[key] = v
			}
		}
	}
}

// tried reports whether the journal, as it was at the claim, has something of a step that is not done.
func (j *journal) tried(key string) bool {
	_, pending := j.pending[key]
	_, failed := j.failed[key]
	return pending || failed
}

func ordText(ord []int) string {
	if ord == nil {
		return ""
	}
	return "{" + strings.Trim(strings.ReplaceAll(fmt.Sprint(ord), " ", ","), "[]") + "}"
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// asked runs a statement that answers with an outcome and one more text, again while the database is away.
func (h *hand) asked(op, sql string, args ...any) (outcome, detail string, err error) {
	err = h.r.patiently(h, func(ctx context.Context) error {
		var second *string
		detail = ""
		err := h.r.h.Own.QueryRow(ctx, sql, args...).Scan(&outcome, &second)
		if second != nil {
			detail = *second
		}
		return db.Error(ctx, op, err)
	})
	return outcome, detail, err
}

func (h *hand) waitStep(p place, kind string, d time.Duration, until *time.Time, signal string) (outcome, result string, err error) {
	var length *string
	if kind != "until" && (kind == "sleep" || d > 0) {
		length = nullable(db.Interval(d))
	}
	return h.asked("wait_step", `select outcome, result::text from `+briefly+`core_node.wait_step($1, $2, $3, $4, $5, $6, $7, $8::text::int[], $9,
		$10::text::interval, $11, $12)`, h.run, h.path, h.epoch, h.token, h.pos, p.node.top()+1, p.key(), ordText(p.ord()), kind, length, until, nullable(signal))
}

func (h *hand) fanOut(p place, branches []string, items *string) (outcome string, err error) {
	var most *int
	if p.node.kind == mapKind {
		most = &p.node.most
	}
	outcome, _, err = h.asked("fan_out", `select f, null::text from `+briefly+`core_node.fan_out($1, $2, $3, $4, $5, $6, $7, $8::text::int[], $9, $10::text::jsonb, $11) f`, h.run, h.path, h.epoch, h.token, h.pos, p.node.top()+1, p.key(), ordText(p.ord()), branches, items, most)
	return outcome, err
}

func (h *hand) startChild(p place, input, undo string) (outcome, child string, err error) {
	return h.asked("start_child", `select outcome, child::text from `+briefly+`core_node.start_child($1, $2, $3, $4, $5, $6, $7, $8::text::int[], $9,
		$10::text::jsonb, '{}', $11::text::jsonb)`, h.run, h.path, h.epoch, h.token, h.pos, p.node.top()+1, p.key(), ordText(p.ord()), p.node.child,
		input, nullable(undo))
}

// endBranch ends a branch, with its last step unless that was journaled before: key is "" then.
func (h *hand) endBranch(key, ord, result, undo string) (outcome, next string, err error) {
	return h.asked("end_branch", `select outcome, next_path from `+briefly+`core_node.end_branch($1, $2, $3, $4, $5, $6, $7::text::int[], $8::text::jsonb,
		$9::text::jsonb)`, h.run, h.path, h.epoch, h.token, h.pos, nullable(key), nullable(ord), nullable(result), nullable(undo))
}

func (h *hand) failStep(key, ord string, entered int, res work.Result, policy, undo string) (outcome string, err error) {
	outcome, _, err = h.asked("fail_step", `select outcome, due_at::text from `+briefly+`core_node.fail_step($1, $2, $3, $4, $5, $6, $7, $8::text::int[], $9,
		$10::text::interval, $11::text::jsonb, $12, $13, $14::text::jsonb)`, h.run, h.path, h.epoch, h.token, h.pos, entered, key, ord,
		res.Action.String(), after(res), nullable(policy), nullable(res.Reason), nullable(res.Error), nullable(undo))
	return outcome, err
}

// after is the delay that a verdict named; nil: it goes by the policy.
func after(res work.Result) *string {
	if res.Exact || res.Action == work.Release {
		return nullable(db.Interval(res.After))
	}
	return nil
}

func (h *hand) undoStep(action string, res work.Result, policy string) (outcome, next string, err error) {
	return h.asked("undo_step", `select outcome, next_key from `+briefly+`core_node.undo_step($1, $2, $3, $4, $5, $6::text::interval, $7::text::jsonb, $8, $9)`,
		h.run, h.epoch, h.token, h.undoKey, action, after(res), nullable(policy), nullable(res.Reason), nullable(res.Error))
}

// release gives the cursor back as it is.
func (h *hand) release() error {
	return h.r.patiently(h, func(ctx context.Context) error {
		_, err := h.r.h.Own.Exec(ctx, "select from "+briefly+"core_node.release_runs($1, $2, $3, $4)", []uuid.UUID{h.run}, []string{h.path}, []int32{h.epoch}, []uuid.UUID{h.token})
		return db.Error(ctx, "release_runs", err)
	})
}

func (h *hand) setProgress(ctx context.Context, v string) error {
	var is bool
	return db.Call(ctx, h.r.h.Own, "set_progress", "select core_node.set_progress($1::text::uuid, $2::text::uuid, $3::text::jsonb)",
		[]any{h.run.String(), h.token.String(), v}, &is)
}
