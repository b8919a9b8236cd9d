package workflow

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/nexuspg/nexus/internal/db"
)

const (
	groupMost  = 200 // commits in one statement
	groupFew   = 3   // commits that cost less one by one, in one transaction
	committers = 2   // exchanges at once
)

// commit is a step that is done, on its way into the journal.
type commit struct {
	fence
	entered   int
	key, ord  *string
	result    *string
	undo      *string
	op        string
	output    *string
	answer    chan answer
	abandoned <-chan struct{} // closed when nobody waits for the answer
	quick     bool            // it came soon after the answer to the one before
	wave      *wave           // of those that are answered with it
	soon      time.Duration   // after the answer the next one would be quick
	carried   bool            // it was passed over, or could not be had, once before
	first     bool            // the journal has nothing of the step
}

type answer struct {
	outcome, detail string
	err             error
}

// alone reports whether a commit need not go with others: there are no more runs in hand than exchanges at once, and nobody is worth waiting for.
func (r *runner) alone(c *commit) bool {
	if c.quick {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hands) <= committers
}

// sendAlone is one exchange by whoever waits for the answer, which spares two changes of goroutines. It reports whether there is an answer.
func (r *runner) sendAlone(c *commit) bool {
	again := r.send([]*commit{c})
	if again == nil {
		return true
	}
	timer := time.NewTimer(resend)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.abandoned:
	}
	return false
}

// committing sends what has gathered, group by group, until no more comes. What somebody else has locked just then goes with the next group.
func (r *runner) committing() {
	var carried []*commit
	for {
		group, more := r.gather(carried)
		if !more {
			return
		}
		carried = r.send(group)
	}
}

// send commits a group, and returns those that have to come again.
func (r *runner) send(group []*commit) (again []*commit) {
	landed := r.together.sent(group)
	answers, next, err := r.exchange(group)
	w := landed()
	switch {
	case err == nil:
	case db.Passes(err):
		if db.Unavailable(err) {
			r.h.Unavailable(err)
		}
		if r.h.Handling.Err() == nil {
			answers = make([]answer, len(group)) // all again, but for those whose lease is over
			break
		}
		for _, c := range group {
			c.answer <- answer{err: err}
		}
		return nil
	case len(group) > 1: // one of them is at fault
		for _, c := range group {
			again = append(again, r.send([]*commit{c})...)
		}
		return again
	default:
		answers = []answer{{err: err}}
	}
	if next != nil { // before those that it is in place of are answered
		for _, h := range next.hands {
			h.wave, h.soon = w.joined(), group[0].soon
		}
		r.flag.Fetched()
		next.take(next.hands)
	}
	for i, c := range group {
		if a := answers[i]; a.err != nil || a.outcome != "" && a.outcome != busy {
			c.answer <- a
			continue
		}
		select {
		case <-c.abandoned:
			c.answer <- answer{outcome: lost, err: err}
		default:
			c.wave.back()
			c.wave, c.carried = nil, true
			again = append(again, c)
		}
	}
	return again
}

// resend is the pause before what the database did not take goes again, unless another commit comes first.
const resend = 50 * time.Millisecond

// exchange commits a group in one exchange with the database, which also claims what is in hand next in place of what ends, if there is sure to be more.
func (r *runner) exchange(group []*commit) (answers []answer, next *claiming, err error) {
	carried := slices.ContainsFunc(group, func(c *commit) bool { return c.carried })
	if len(group) <= groupFew && !carried {
		next = r.handsOn(group)
		if len(group) > 1 || next != nil {
			answers, err = r.commitFew(group, next)
			if err == nil {
				return answers, next, nil
			}
			if db.Unavailable(err) {
				return nil, nil, err
			}
			// What somebody has locked the others do not wait for again, nor for a claim that cannot be.
		}
	}
	answers, err = r.commitSteps(group)
	return answers, nil, err
}

// In the list of what is selected, since functions in FROM cost a tenth of the call.
const (
	commitNext = `core_node.commit_step($1, $2, $3, $4, $5, $6, $7, $8::text::int[], $9, $10, $11, $12, $13)`
	commitStep = `select ` + atAGlance + commitNext
)

func (c *commit) args() []any {
	return []any{binary(c.run), c.path, c.epoch, binary(c.token), c.pos, c.entered, c.key, c.ord, c.result, c.undo, c.op, c.output, c.first}
}

// scan reads what commit_step says: an outcome, with ": " and a detail where there is one.
func (a *answer) scan(said string) { a.outcome, a.detail, _ = strings.Cut(said, ": ") }

// commitStep is one statement for one commit, of which most are alone where few runs are in hand.
func (r *runner) commitStep(c *commit) ([]answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), exchange)
	defer cancel()
	var said string
	err := db.Error(ctx, "commit_step", r.h.Own.QueryRow(ctx, commitStep, c.args()...).Scan(nil, &said))
	if err != nil && c.first && !db.Passes(err) {
		c.first = false // should there be a row after all, it is found now
		return r.commitStep(c)
	}
	var a answer
	a.scan(said)
	return []answer{a}, err
}

// commitFew is a transaction of a statement for each, and of a claim: all of it is flushed once.
func (r *runner) commitFew(group []*commit, next *claiming) ([]answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), exchange)
	defer cancel()
	answers := make([]answer, len(group))
	b := &pgx.Batch{}
	for i, c := range group {
		read := func(row pgx.Row) error {
			var said string
			err := row.Scan(nil, &said)
			answers[i].scan(said)
			return err
		}
		if i == 0 { // whose lock_timeout is that of the transaction
			b.Queue(commitStep, c.args()...).QueryRow(read)
		} else {
			b.Queue(`select null, `+commitNext, c.args()...).QueryRow(read)
		}
	}
	if next != nil {
		b.Queue(claimRuns, next.args()...).Query(next.read)
	}
	err := r.h.Own.SendBatch(ctx, b).Close()
	if next != nil {
		next.over(err)
	}
	return answers, db.Error(ctx, "commit_step", err)
}

// commitSteps is one statement. A commit without an answer was passed over.
func (r *runner) commitSteps(group []*commit) ([]answer, error) {
	n := len(group)
	if n == 1 {
		return r.commitStep(group[0])
	}
	runs, tokens := make([]pgtype.UUID, n), make([]pgtype.UUID, n)
	paths, ops := make([]string, n), make([]string, n)
	epochs, pos, entered := make([]int32, n), make([]int32, n), make([]int32, n)
	keys, ords, results, undos, outputs := make([]*string, n), make([]*string, n), make([]*string, n), make([]*string, n), make([]*string, n)
	for i, c := range group {
		runs[i], tokens[i], paths[i], ops[i], epochs[i], pos[i], entered[i] = binary(c.run), binary(c.token), c.path, c.op, c.epoch, c.pos, int32(c.entered) //nolint:gosec // few nodes
		keys[i], ords[i], results[i], undos[i], outputs[i] = c.key, c.ord, c.result, c.undo, c.output
	}
	ctx, cancel := context.WithTimeout(context.Background(), exchange)
	defer cancel()
	rows, err := r.h.Own.Query(ctx, `select n, outcome, coalesce(detail, '')
		from core_node.commit_steps($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		runs, paths, epochs, tokens, pos, entered, keys, ords, results, undos, ops, outputs)
	if err != nil {
		return nil, db.Error(ctx, "commit_steps", err)
	}
	defer rows.Close()
	answers := make([]answer, n)
	for rows.Next() {
		var i int
		var a answer
		if err := rows.Scan(&i, &a.outcome, &a.detail); err != nil {
			return nil, db.Error(ctx, "commit_steps", err)
		}
		answers[i-1] = a
	}
	return answers, db.Error(ctx, "commit_steps", rows.Err())
}

// binary is id as the protocol has it: of a uuid.UUID pgx makes text first, and reads that again.
func binary(id uuid.UUID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }
