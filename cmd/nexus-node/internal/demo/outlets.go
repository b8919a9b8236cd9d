package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
)

// Outlets is what was counted of the other consumers: the auditor that came late, the webhook, and the function that pg_cron ran.
type Outlets struct {
	Audited   int64 // webhooks that the auditor has an effect of
	Delivered int64 // events that the receiver took, each with a good signature
	Booked    int64 // invoices that the function has an effect of
	Lost      int64 // what should have come to one of them and did not
	Doubled   int64 // effects of auditor and function beyond the first of each, and whatever came that nobody emitted
	Refused   int64 // signatures that were not good

	back    time.Duration // after which the event came again that the receiver had sent away; 0: never
	served  int64         // nodes of the namespace that should have none
	byCron  bool          // what there was of pg_cron ended well, or there is none
	written int64         // invoices emitted
}

func (o *Outlets) String() string {
	return fmt.Sprintf("consumers: audit=%d webhook=%d pg_cron=%d lost=%d doubled=%d refused=%d",
		o.Audited, o.Delivered, o.Booked, o.Lost, o.Doubled, o.Refused)
}

func (o *Outlets) judge() error {
	var found faults
	if o.Lost != 0 {
		found.add("%d events did not come to a consumer", o.Lost)
	}
	if o.Doubled != 0 {
		found.add("%d effects of consumers are too many", o.Doubled)
	}
	if o.Refused != 0 {
		found.add("%d POSTs were not signed well", o.Refused)
	}
	if o.back < busyFor {
		found.add("the receiver said that it is busy for %s, and the event came again after %s", busyFor, o.back)
	}
	if o.Booked != o.written || !o.byCron || o.served != 0 {
		found.add("pg_cron alone should have handled %d invoices; %d are handled, its job ended well: %t, nodes of their namespace: %d",
			o.written, o.Booked, o.byCron, o.served)
	}
	return found.err()
}

func countOutlets(ctx context.Context, db nexus.DBTX, r *receiver, hasCron bool) (*Outlets, error) {
	o := &Outlets{byCron: !hasCron}
	r.mu.Lock()
	o.Refused, o.back = int64(r.refused), r.back
	r.mu.Unlock()
	err := db.QueryRow(ctx, `
		with audited as (select event_uid, count(*) as n from demo.audited group by event_uid),
		webhook as (select r.event_uid, a.n from demo.received r left join audited a using (event_uid)),
		taken as (select t::uuid as event_uid from unnest($2::text[]) t),
		star as (select r.event_uid, t.event_uid is not null as taken from demo.received r left join taken t using (event_uid) where r.event_type ^@ 'github.star.'),
		invoice as (
			select (l.payload ->> 'number')::integer as number, (select count(*) from demo.booked b where b.number = (l.payload ->> 'number')::integer) as n
			  from core.event_log l where l.namespace = $1)
		select (select count(n) from webhook),
		       (select count(*) from star where taken),
		       (select count(*) from invoice where n > 0),
		       (select count(*) from webhook where n is null) + (select count(*) from star where not taken) + (select count(*) from invoice where n = 0),
		       (select count(*) from demo.audited) - (select count(n) from webhook)
		           + (select count(*) from taken) - (select count(*) from star where taken)
		           + (select count(*) from demo.booked) - (select count(*) from invoice where n > 0),
		       (select count(*) from core.nodes n where n.namespace = $1),
		       (select count(*) from invoice)`, ledger, r.ids()).
		Scan(&o.Audited, &o.Delivered, &o.Booked, &o.Lost, &o.Doubled, &o.served, &o.written)
	if err == nil && hasCron {
		err = db.QueryRow(ctx, `
			select exists (select from cron.job_run_details r where r.username = 'nexus_sql' and r.status = 'succeeded')
			   and not exists (select from demo.booked b where b.login <> 'nexus_sql')`).Scan(&o.byCron)
	}
	if err != nil {
		return nil, fmt.Errorf("count consumers: %w", err)
	}
	return o, nil
}
