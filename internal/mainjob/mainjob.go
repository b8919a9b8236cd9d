package mainjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/deadletter"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/schedule"
)

// As says as whom the job is done.
type As struct {
	Node    string       // URL of a login in nexus_consumer and nexus_producer: runs the node, emits, schedules
	Operate string       // URL of a login in nexus_admin, or a superuser: makes the namespace, replays, looks
	Logger  *slog.Logger // of the node; nil: none
	Events  int          // of each mode in a round; 0: 12
}

// Job is one that has been started: a namespace of its own, and a node that runs.
type Job struct {
	As
	Namespace nexus.Namespace

	rounds int
	nodes  *pgxpool.Pool
	people *pgxpool.Pool
	mended atomic.Bool // what the handler of "broken" needs to succeed
	stop   context.CancelFunc
	ended  chan error
}

const (
	retried = "flaky"
	buried  = "broken"
)

// modes are the four ways to handle, by event type.
var modes = []string{"single", "express", "batch", "leased"}

// Run starts a job, does one round and stops it.
func Run(ctx context.Context, as As) error {
	j, err := Start(ctx, as)
	if err != nil {
		return err
	}
	return errors.Join(j.Round(ctx), j.Stop(ctx))
}

// Start creates the namespace and runs the node, until Stop. What it does not return it has closed.
func Start(ctx context.Context, as As) (_ *Job, err error) {
	if as.Events == 0 {
		as.Events = 12
	}
	if as.Logger == nil {
		as.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	j := &Job{As: as, Namespace: nexus.Namespace(fmt.Sprintf("job_%d", rand.N(1_000_000_000))), ended: make(chan error, 1)}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	if j.nodes, err = open(ctx, as.Node); err != nil {
		return nil, err
	}
	if j.people, err = open(ctx, as.Operate); err != nil {
		return nil, err
	}
	err = write(ctx, j.people, func(tx pgx.Tx) error { return queue.CreateNamespace(ctx, tx, j.Namespace, nil) })
	if err != nil {
		return nil, fmt.Errorf("create the namespace: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j.stop = cancel
	n := j.newNode()
	go func() { j.ended <- n.Run(running) }()
	return j, nil
}

func open(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 8
	return pgxpool.NewWithConfig(ctx, cfg)
}

// write does f in a transaction that depends on no default.
func write(ctx context.Context, pool *pgxpool.Pool, f func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, f)
}

func (j *Job) close() {
	for _, p := range []*pgxpool.Pool{j.nodes, j.people} {
		if p != nil {
			p.Close()
		}
	}
}

// newNode has a handler for each mode, one that fails at first, and one that fails until it is mended.
func (j *Job) newNode() *node.Node {
	quick := nexus.RetryPolicy{MaxAttempts: 3, Base: 10 * time.Millisecond, Max: 10 * time.Millisecond, Jitter: -1}
	n := node.New(j.nodes, node.Config{Namespace: j.Namespace, ID: string(j.Namespace), Workers: 4, Retry: quick, Logger: j.Logger})
	effect := func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		_, err := queue.Emitter{Namespace: j.Namespace}.Emit(nexus.WithDelivery(ctx, d), tx, "done."+d.Type, nil, nil)
		return err
	}
	n.On("single", effect)
	n.On("express", effect).Express = true
	n.OnBatch("batch", func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error {
		for _, d := range batch {
			if err := effect(ctx, tx, d); err != nil {
				return err
			}
		}
		return nil
	})
	n.OnLeased("leased", func(ctx context.Context, d *nexus.Delivery) error {
		return write(ctx, j.nodes, func(tx pgx.Tx) error {
			if err := effect(ctx, tx, d); err != nil {
				return err
			}
			return queue.Ack(ctx, tx, d)
		})
	})
	for _, t := range []string{"once", "each"} {
		n.On(t, effect)
	}
	n.On(retried, func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if err := effect(ctx, tx, d); err != nil || d.Attempt > 1 {
			return err
		}
		return errors.New("the first attempt fails")
	})
	n.On(buried, func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error {
		if err := effect(ctx, tx, d); err != nil || j.mended.Load() {
			return err
		}
		return errors.New("it is broken")
	})
	n.OnLeased("done.*", func(context.Context, *nexus.Delivery) error { return nil })
	return n
}

// Round emits events, schedules some, waits until all have had their effect, mends and replays those that were buried, and looks
// whether each had its effect once. It may be called again, before Stop.
func (j *Job) Round(ctx context.Context) error {
	j.rounds++
	j.mended.Store(false)
	want := j.Events * (len(modes) + 1) * j.rounds
	if err := j.emit(ctx); err != nil {
		return err
	}
	if err := j.schedule(ctx); err != nil {
		return err
	}
	// Those of a type each, one of them through a delay, and the others once.
	err := j.wait(ctx, "events are handled", `select count(*) >= $2 + 2 * $3 from core.event_log
		where namespace = $1 and event_type = any (array['done.single', 'done.express', 'done.batch', 'done.leased', 'done.flaky', 'done.once'])`,
		j.Namespace, want, j.rounds)
	if err != nil {
		return err
	}
	err = j.wait(ctx, "the broken one is a dead letter",
		`select count(*) = 1 from core.unresolved_dead_letters where namespace = $1 and event_type = 'broken' and attempts = 3`, j.Namespace)
	if err != nil {
		return err
	}
	j.mended.Store(true)
	err = write(ctx, j.people, func(tx pgx.Tx) error {
		r, err := deadletter.Replay(ctx, tx, deadletter.Filter{Namespace: j.Namespace, Type: buried}, nil)
		if err == nil && r.Done != 1 {
			err = fmt.Errorf("replayed %+v, want one", r)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	err = j.wait(ctx, "the replayed one is handled",
		`select count(*) >= $2 from core.event_log where namespace = $1 and event_type = 'done.broken'`, j.Namespace, j.rounds)
	if err != nil {
		return err
	}
	err = j.wait(ctx, "the task has run by itself and by hand", `select count(*) filter (where s.status = 'fired') >= 2 * $2
		and exists (select from core.task_runs r where r.task_id = any (array_agg(s.task_id)))
		from core.task_slots s join core.scheduled_tasks t using (task_id) where t.namespace = $1`, j.Namespace, j.rounds)
	if err != nil {
		return err
	}
	if err := j.end(ctx); err != nil {
		return err
	}
	return j.upkeep(ctx)
}

func (j *Job) emit(ctx context.Context) error {
	e := queue.Emitter{Namespace: j.Namespace}
	err := write(ctx, j.nodes, func(tx pgx.Tx) error {
		for _, t := range append([]string{retried}, modes...) {
			var batch []queue.Emission
			for i := range j.Events - 1 {
				batch = append(batch, queue.Emission{Type: t, Payload: map[string]any{"n": i, "text": `\ ' " ä`, "x": 1e-7}})
			}
			if _, err := e.EmitBatch(ctx, tx, batch); err != nil {
				return err
			}
			late := &queue.EmitOptions{Delay: 100 * time.Millisecond, DedupeKey: fmt.Sprintf("%s %d", t, j.rounds), Headers: map[string]string{"a": "b"}}
			if _, err := e.Emit(ctx, tx, t, nil, late); err != nil {
				return err
			}
			twice, err := e.Emit(ctx, tx, t, nil, late)
			if err != nil {
				return err
			}
			if !twice.Duplicate {
				return fmt.Errorf("%s: a second event has the same dedupe key", t)
			}
		}
		_, err := e.Emit(ctx, tx, buried, nil, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("emit: %w", err)
	}
	undone := errors.New("undone")
	err = write(ctx, j.nodes, func(tx pgx.Tx) error {
		_, err := e.Emit(ctx, tx, "single", "rolled back", nil)
		return errors.Join(err, undone)
	})
	if err != nil && !errors.Is(err, undone) || err == nil {
		return fmt.Errorf("emit and roll back: %w", err)
	}
	return nil
}

// schedule makes two one-shots, one of which is put off first, one that is cancelled, and a task of every second with a run by hand.
func (j *Job) schedule(ctx context.Context) error {
	err := write(ctx, j.nodes, func(tx pgx.Tx) error {
		if _, err := schedule.ScheduleEvent(ctx, tx, j.Namespace, "once", nil, time.Now().Add(100*time.Millisecond), nil); err != nil {
			return err
		}
		id, err := schedule.ScheduleEvent(ctx, tx, j.Namespace, "once", nil, time.Now().Add(time.Hour), nil)
		if err != nil {
			return err
		}
		if _, err = schedule.RescheduleEvent(ctx, tx, id, time.Now().Add(200*time.Millisecond)); err != nil {
			return err
		}
		id, err = schedule.ScheduleEvent(ctx, tx, j.Namespace, "once", nil, time.Now().Add(time.Hour), nil)
		if err != nil {
			return err
		}
		if out, err := schedule.CancelScheduledEvent(ctx, tx, id); err != nil || out != schedule.Cancelled {
			return fmt.Errorf("cancel: %s, %w", out, err)
		}
		task := schedule.Task{Namespace: j.Namespace, Name: "each", Cron: "@every 1s", Type: "each", Overlap: schedule.Allow}
		if _, err := schedule.ScheduleTask(ctx, tx, task); err != nil {
			return err
		}
		if err := schedule.ResumeTask(ctx, tx, j.Namespace, "each"); err != nil {
			return err
		}
		return schedule.RunTaskNow(ctx, tx, j.Namespace, "each")
	})
	if err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	return nil
}

// end pauses the task, waits until nothing is under way, and compares.
func (j *Job) end(ctx context.Context) error {
	err := write(ctx, j.nodes, func(tx pgx.Tx) error { return schedule.PauseTask(ctx, tx, j.Namespace, "each") })
	if err != nil {
		return fmt.Errorf("pause the task: %w", err)
	}
	err = j.wait(ctx, "nothing waits", `select not exists (select from core.queue_metrics m join core.queues q using (queue_name)
		where q.namespace = $1 and q.consumer_id is not null and m.queue_length + m.delayed + m.parked > 0)`, j.Namespace)
	if err != nil {
		return err
	}
	var wrong []string
	err = write(ctx, j.people, func(tx pgx.Tx) error {
		// What looks is no part of the job: no setting that the job is tried under may end it.
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `select format('%s: %s events, %s effects, %s of them of several', e.event_type, count(*), sum(e.n), count(*) filter (where e.n > 1))
		from (select e.event_type, (select count(*) from core.event_log d where d.namespace = $1 and d.event_type like 'done.%' and d.causation_uid = e.event_uid) as n
		        from core.event_log e where e.namespace = $1 and e.event_type not like 'done.%') e
		group by e.event_type having bool_or(e.n <> 1)
		union all
		select format('dead letter: %s, %s', l.event_type, l.reason) from core.unresolved_dead_letters l where l.namespace = $1`, j.Namespace)
		wrong, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("not each event had its effect once: %q", wrong)
	}
	return nil
}

// upkeep runs each sweep once, as an administrator may, and looks whether the log has its months.
func (j *Job) upkeep(ctx context.Context) error {
	rows, _ := j.people.Query(ctx, `select name from core.sweep_status where enabled order by name`)
	sweeps, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the sweeps: %w", err)
	}
	var failed []error
	for _, sweep := range sweeps {
		failed = append(failed, j.sweep(ctx, sweep))
	}
	var ahead int
	err = j.people.QueryRow(ctx, `select count(*) from core.partitions p where p.from_time > core.now()`).Scan(&ahead)
	if err == nil && ahead < 6 {
		err = fmt.Errorf("the log has %d months ahead", ahead)
	}
	return errors.Join(append(failed, err)...)
}

// sweep runs one, again if a lock of somebody else's was in the way.
func (j *Job) sweep(ctx context.Context, name string) error {
	for tries := 1; ; tries++ {
		var failure *string
		err := write(ctx, j.people, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `set local statement_timeout = 0`); err != nil {
				return err
			}
			return tx.QueryRow(ctx, `select core.run_sweep($1) ->> 'error'`, name).Scan(&failure)
		})
		switch {
		case err != nil:
			return fmt.Errorf("sweep %s: %w", name, err)
		case failure == nil:
			return nil
		case tries == 3 || !strings.Contains(*failure, "lock timeout"):
			return fmt.Errorf("sweep %s: %s", name, *failure)
		}
	}
}

// wait asks until the answer is true, for a minute, or until the node ends.
func (j *Job) wait(ctx context.Context, what, sql string, args ...any) error {
	late := time.After(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var done bool
		if err := j.people.QueryRow(ctx, sql, args...).Scan(&done); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if done {
			return nil
		}
		select {
		case err := <-j.ended:
			j.ended <- err
			return fmt.Errorf("%s: the node has ended: %w", what, err)
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-late:
			return fmt.Errorf("%s: not within a minute: %s", what, j.state(ctx))
		case <-tick.C:
		}
	}
}

// state is what there is to see of the namespace when something does not come.
func (j *Job) state(ctx context.Context) string {
	var text string
	err := j.people.QueryRow(ctx, `select format('log %s, queues %s, dead letters %s, last failures %s',
		(select jsonb_object_agg(x.event_type, x.n) from (select event_type, count(*) as n from core.event_log where namespace = $1 group by 1) x),
		(select jsonb_agg(to_jsonb(m)) from core.queue_metrics m join core.queues q using (queue_name) where q.namespace = $1 and m.queue_length + m.delayed + m.parked > 0),
		(select jsonb_agg(l.event_type || ': ' || l.reason) from core.unresolved_dead_letters l where l.namespace = $1),
		(select jsonb_agg(distinct left(e.error, 200)) from core.delivery_errors e join core.queues q on q.queue_name = e.queue_name where q.namespace = $1))`,
		j.Namespace).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return text
}

// Stop drains the node, drops the namespace and closes the connections.
func (j *Job) Stop(ctx context.Context) error {
	defer j.close()
	j.stop()
	var err error
	select {
	case err = <-j.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("the node: %w", err)
	}
	err = write(ctx, j.people, func(tx pgx.Tx) error { return queue.DropNamespace(ctx, tx, j.Namespace, j.Namespace, true) })
	if err != nil {
		return fmt.Errorf("drop the namespace: %w", err)
	}
	return nil
}
