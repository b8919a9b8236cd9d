package demo

import (
	"context"
	"fmt"

	"github.com/nexuspg/nexus"
)

// Slots is what was counted of the tasks and the one-shots. What was to be handled is in the ledger and in demo.reminders; what was
// is in demo.reports.
type Slots struct {
	Fired     int64 // slots of the tasks, by the ledger
	Events    int64 // events of slots, in the log
	Matched   int64 // fired slots with an event of that task, slot and uid
	Handled   int64 // fired slots with an effect
	OneShots  int64 // not cancelled, with an effect
	Cancelled int64 // cancelled, without an effect
	Lost      int64 // fired slots and one-shots without an effect, and minutes that the ledger knows nothing of
	Doubled   int64 // effects beyond the first of each, of what was cancelled, and of what nobody scheduled
}

func (s *Slots) String() string {
	return fmt.Sprintf("schedules: slots=%d events=%d handled=%d one_shots_fired=%d one_shots_cancelled=%d lost=%d doubled=%d",
		s.Fired, s.Events, s.Handled, s.OneShots, s.Cancelled, s.Lost, s.Doubled)
}

func (s *Slots) judge() error {
	var found faults
	if s.Events != s.Fired || s.Matched != s.Fired {
		found.add("%d slots have %d events, %d of them their own", s.Fired, s.Events, s.Matched)
	}
	if s.Handled != s.Fired {
		found.add("of %d slots %d have an effect", s.Fired, s.Handled)
	}
	if s.OneShots != 1 || s.Cancelled != 1 {
		found.add("%d one-shots fired and %d were cancelled, not one of each", s.OneShots, s.Cancelled)
	}
	if s.Lost != 0 {
		found.add("%d slots and one-shots were lost", s.Lost)
	}
	if s.Doubled != 0 {
		found.add("%d effects of slots and one-shots are too many", s.Doubled)
	}
	return found.err()
}

func countSlots(ctx context.Context, db nexus.DBTX) (*Slots, error) {
	s := &Slots{}
	err := db.QueryRow(ctx, `
		with effect as (select event_uid, count(*) as n from demo.reports group by event_uid),
		slot as (
			select s.task_id, s.slot, s.event_uid, e.n is not null as done
			  from core.task_slots s left join effect e using (event_uid)
			 where s.namespace = $1 and s.status in ('fired', 'caught_up')),
		reminder as (select r.event_uid, r.cancelled, e.n is not null as done from demo.reminders r left join effect e using (event_uid)),
		forgotten as (
			select t.task_id, m.slot
			  from core.scheduled_tasks t
			 cross join lateral generate_series(date_trunc('minute', t.created_at) + interval '1 minute', t.last_slot, interval '1 minute') m(slot)
			 where t.namespace = $1 and t.cron_expression = '* * * * *'
			   and not exists (select from core.task_slots s where s.task_id = t.task_id and (s.slot = m.slot or s.slot < m.slot and m.slot < s.until)))
		select (select count(*) from slot),
		       (select count(*) from core.event_log l where l.namespace = $1 and l.slot is not null),
		       (select count(*) from slot s join core.event_log l on l.scheduled_task_id = s.task_id and l.slot = s.slot and l.event_uid = s.event_uid),
		       (select count(*) from slot where done),
		       (select count(*) from reminder where done and not cancelled),
		       (select count(*) from reminder where not done and cancelled),
		       (select count(*) from slot where not done) + (select count(*) from reminder where not done and not cancelled)
		           + (select count(*) from forgotten),
		       (select coalesce(sum(n), 0)::bigint from effect) - (select count(*) from slot where done)
		           - (select count(*) from reminder where done and not cancelled)`, namespace).
		Scan(&s.Fired, &s.Events, &s.Matched, &s.Handled, &s.OneShots, &s.Cancelled, &s.Lost, &s.Doubled)
	if err != nil {
		return nil, fmt.Errorf("count slots: %w", err)
	}
	return s, nil
}
