package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/outbox"
)

const (
	movesQueue = "moves"
	accounts   = 8
	movesEach  = 50
	badAccount = 3 // whose move of half way is written as nobody expected
)

// move is a movement on an account.
type move struct {
	Account int             `json:"account"`
	N       int             `json:"n"` // of the account, from 1 on
	Cents   json.RawMessage `json:"cents"`
}

// enqueueMoves puts the movements of all accounts into an outbox queue, those of an account in their order.
func (d *demo) enqueueMoves(ctx context.Context) error {
	_, err := outbox.RegisterQueue(ctx, d.owner, namespace, movesQueue, 4, &outbox.QueueOptions{
		Retry: nexus.RetryPolicy{MaxAttempts: 3, Base: 100 * time.Millisecond}, Halt: true,
	})
	if err != nil {
		return err
	}
	for n := 1; n <= movesEach; n++ {
		var batch []outbox.Message
		for a := range accounts {
			cents := fmt.Sprint(n)
			if a == badAccount && n == movesEach/2 {
				cents = fmt.Sprintf(`"%d,00"`, n)
			}
			body, err := json.Marshal(move{Account: a, N: n, Cents: json.RawMessage(cents)})
			if err != nil {
				return err
			}
			batch = append(batch, outbox.Message{Queue: movesQueue, Key: fmt.Sprintf("account-%d", a), Type: "application/json", Body: body})
		}
		if _, err := outbox.EnqueueBatch(ctx, d.app, namespace, batch); err != nil {
			return err
		}
	}
	d.tell("%d movements of %d accounts are enqueued, those of an account in order", accounts*movesEach, accounts)
	return nil
}

// makeMove applies a movement. One that it does not understand stops its lane, so that none behind it comes first.
func makeMove(ctx context.Context, tx pgx.Tx, m *outbox.Item) error {
	var v move
	if err := json.Unmarshal(m.Body, &v); err != nil {
		return err
	}
	var fixed bool
	if err := tx.QueryRow(ctx, `select exists (select from demo.switches where name = 'comma')`).Scan(&fixed); err != nil {
		return err
	}
	var cents int
	if err := json.Unmarshal(v.Cents, &cents); err != nil {
		var text string
		if !fixed || json.Unmarshal(v.Cents, &text) != nil {
			return fmt.Errorf("movement %d of account %d: %s is no number", v.N, v.Account, v.Cents)
		}
		if _, err := fmt.Sscanf(text, "%d,00", &cents); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `insert into demo.moves (account, n, cents) values ($1, $2, $3)`, v.Account, v.N, cents)
	return err
}

// releaseMoves waits for the lane that halts, teaches the handler, has the lane go on, and checks all accounts.
func (d *demo) releaseMoves(ctx context.Context) error {
	if err := d.wait(ctx, "a lane to halt", `select exists (select from core.lane_status s where s.namespace = $1 and s.queue = $2 and s.state = 'halted')`,
		namespace, movesQueue); err != nil {
		return err
	}
	// Its lane keeps what is behind it, and no other lane waits.
	if err := d.wait(ctx, "the other lanes to be through", `select count(*) = 1 from core.lane_status s where s.namespace = $1 and s.queue = $2 and s.lag > 0`,
		namespace, movesQueue); err != nil {
		return err
	}
	if err := d.table(ctx, "core.lane_status", `
		select lane, state, seq, lag, why, last_error from core.lane_status where namespace = '`+namespace+`' and queue = '`+movesQueue+`' order by lane`); err != nil {
		return err
	}
	var lane int
	if err := d.owner.QueryRow(ctx, `select s.lane from core.lane_status s where s.namespace = $1 and s.queue = $2 and s.state = 'halted'`,
		namespace, movesQueue).Scan(&lane); err != nil {
		return err
	}
	if _, err := d.owner.Exec(ctx, `insert into demo.switches (name) values ('comma')`); err != nil {
		return err
	}
	if _, err := outbox.Resume(ctx, d.owner, namespace, movesQueue, lane, "the comma is understood"); err != nil {
		return err
	}
	if err := d.wait(ctx, "all movements to be made", `select count(*) >= $1 from demo.moves`, accounts*movesEach); err != nil {
		return err
	}
	var right int
	if err := d.owner.QueryRow(ctx, `
		select count(*) from (
			select from demo.moves group by account
			having array_agg(n order by move_id) = array(select g from generate_series(1, $1::int) g) and sum(cents) = $1::int * ($1::int + 1) / 2) a`,
		movesEach).Scan(&right); err != nil {
		return err
	}
	if right != accounts {
		return fmt.Errorf("%w: %d of %d accounts have their movements once, in order and with the right sum", ErrWrong, right, accounts)
	}
	d.tell("lane %d of %s goes on after the fix: %d accounts have all %d movements once, in their order, and the right balance", lane, movesQueue, right, movesEach)
	return nil
}
