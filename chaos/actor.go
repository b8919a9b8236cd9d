package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
)

// actor plays the scripts of events.
type actor struct {
	pool      *pgxpool.Pool
	book      *journal
	namespace nexus.Namespace
	leaky     bool
}

var errScripted = errors.New("as the script says")

// register lets the node handle a pattern in a mode.
func (a *actor) register(n *node.Node, pattern string, m mode) (h *node.Handler) {
	one := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error { return a.one(ctx, tx, m, d) }
	batch := func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error { return a.batch(ctx, tx, m, batch) }
	switch m {
	case modeOn:
		h = n.On(pattern, one)
	case modeExpress:
		h = n.On(pattern, one)
		h.Express = true
	case modeBatch:
		h = n.OnBatch(pattern, batch)
		h.Batch = 50
	case modeLeasedB:
		h = n.OnBatch(pattern, batch)
		h.Leased, h.Batch = true, 50
	case modeLeased:
		h = n.OnLeased(pattern, func(ctx context.Context, d *nexus.Delivery) error { return a.one(ctx, a.pool, m, d) })
	case modeAck:
		h = n.OnLeased(pattern, func(ctx context.Context, d *nexus.Delivery) error { return a.acked(ctx, d) })
	}
	return h
}

// one plays one delivery and tells the journal.
func (a *actor) one(ctx context.Context, q nexus.DBTX, m mode, d *nexus.Delivery) error {
	return a.noted(m, d, func() error { return a.play(ctx, q, m, d) })
}

// noted tells the journal how an attempt begins and ends, however it ends.
func (a *actor) noted(m mode, d *nexus.Delivery, attempt func() error) (err error) {
	a.book.begin(m, d)
	defer func() {
		if p := recover(); p != nil {
			a.book.end(m, d, errScripted)
			panic(p)
		}
		a.book.end(m, d, err)
	}()
	return attempt()
}

// acked writes the effect in a transaction of the handler's own, with the ack.
func (a *actor) acked(ctx context.Context, d *nexus.Delivery) error {
	return a.noted(modeAck, d, func() error {
		return pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error {
			if err := a.play(ctx, tx, modeAck, d); err != nil {
				return err
			}
			return queue.Ack(ctx, tx, d)
		})
	})
}

// batch plays all, each in a savepoint, and names those that failed.
func (a *actor) batch(ctx context.Context, tx pgx.Tx, m mode, batch []*nexus.Delivery) error {
	a.book.begin(m, batch...)
	var failed []error
	for i, d := range batch {
		err := a.guarded(ctx, tx, m, d)
		a.book.end(m, d, err)
		if err == nil {
			continue
		}
		if verdictOf(err) == "broken" {
			for _, rest := range batch[i+1:] {
				a.book.end(m, rest, err)
			}
			return err // names nobody
		}
		failed = append(failed, nexus.At(d, err))
	}
	return errors.Join(failed...)
}

func (a *actor) guarded(ctx context.Context, tx pgx.Tx, m mode, d *nexus.Delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v: %w", p, errScripted)
		}
	}()
	return a.play(ctx, tx, m, d)
}

func (a *actor) play(ctx context.Context, q nexus.DBTX, m mode, d *nexus.Delivery) error {
	var s script
	if err := d.Decode(&s); err != nil {
		return err
	}
	again := d.Attempt <= s.Times
	switch s.Do {
	case doSlow, doHang:
		if err := pause(ctx, time.Duration(s.MS)*time.Millisecond, s.Do == doHang); err != nil {
			return err
		}
	case doFail:
		if again {
			return fmt.Errorf("attempt %d: %w", d.Attempt, errScripted)
		}
	case doLate:
		if again {
			if err := a.effect(ctx, q, m, d); err != nil {
				return err
			}
			return fmt.Errorf("attempt %d, after its effect: %w", d.Attempt, errScripted)
		}
	case doPanic:
		if again {
			panic("as the script says")
		}
	case doRelease:
		if d.Deferrals < s.Times {
			return nexus.Release(time.Duration(s.MS) * time.Millisecond)
		}
	case doReject:
		return nexus.Reject(rejection)
	case doStuck:
		var mended bool
		if err := q.QueryRow(ctx, `select exists (select from chaos.mended where ns = $1)`, a.namespace).Scan(&mended); err != nil {
			return err
		}
		if !mended {
			return fmt.Errorf("not mended yet: %w", errScripted)
		}
	case doKill:
		if again {
			a.book.write(kindKill, m, []*nexus.Delivery{d}, func(int) string { return "" })
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	case doChain:
		if err := a.chain(ctx, q, d); err != nil {
			return err
		}
	}
	return a.effect(ctx, q, m, d)
}

// effect writes down that the event was handled, where q points. Planted, it is committed at once.
func (a *actor) effect(ctx context.Context, q nexus.DBTX, m mode, d *nexus.Delivery) error {
	if a.leaky {
		q = a.pool
	}
	var one int
	return q.QueryRow(ctx, `insert into chaos.effects (uid, ns, type, mode, msg_id, attempt, deferrals, pid)
		values ($1, $2, $3, $4, $5, $6, $7, $8) returning 1`,
		d.UID, a.namespace, d.Type, m, d.MessageID, d.Attempt, d.Deferrals, os.Getpid()).Scan(&one)
}

// chain emits another event of the same kind, where q points, and a ledger row with it.
func (a *actor) chain(ctx context.Context, q nexus.DBTX, d *nexus.Delivery) error {
	bus := queue.Emitter{Namespace: a.namespace, Producer: "handler"}
	if _, ok := q.(*pgxpool.Pool); ok {
		return pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error { return emitOne(ctx, tx, bus, d.Type, script{Do: doOK}, nil, "chain") })
	}
	return emitOne(ctx, q, bus, d.Type, script{Do: doOK}, nil, "chain")
}

// pause waits, until ctx ends unless it is deaf.
func pause(ctx context.Context, d time.Duration, deaf bool) error {
	done := ctx.Done()
	if deaf {
		done = nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-done:
		return context.Cause(ctx)
	}
}
