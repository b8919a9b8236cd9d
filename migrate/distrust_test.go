package migrate

import (
	"slices"
	"testing"

	"github.com/nexuspg/nexus"
)

// What is not to be trusted hides nothing else: the rest is compared all the same, without running what lies in the database.
func TestDistrustHidesNothing(t *testing.T) {
	c := newCluster(t)
	address := c.URL(newDatabase(t, c))
	pool := connect(t, address)
	mustUp(t, pool, nil, embedded())
	execute(t, address, `select core.create_namespace('shop'); create policy open on core.event_log using (true);
		alter table core.dead_letters disable row level security; revoke execute on function core.emit(text, text, jsonb, jsonb) from nexus_producer;
		drop trigger wake_for_delayed on core.delayed; alter table pgmq.q_core_events_shop disable row level security;
		drop policy nexus_change on pgmq.q_core_events_shop; create policy narrow on core.event_log as restrictive using (true)`)
	trusting, err := Status(t.Context(), pool)
	if err != nil || len(trusting.Unsafe) != 6 || len(trusting.Orphans) != 1 {
		t.Fatalf("%q, %q, %v", trusting.Unsafe, trusting.Orphans, err)
	}
	execute(t, address, `alter role nexus_reader login; create role visitor; grant nexus_owner to visitor;
		create or replace function core_private.guard_drift() returns table (what text, restore text, theirs boolean) language plpgsql
		as $$ begin raise exception 'it was run'; end $$;
		create or replace function core_private.queue_guard() returns table (what text, queue_name text, removal text) language plpgsql
		as $$ begin raise exception 'it was run'; end $$;
		create function core_private.planted() returns text language plpgsql as $$ begin raise exception 'it was run'; end $$;
		drop view core_private.installed_definitions cascade;
		create view core_private.installed_definitions as select core_private.planted() as kind, '' as signature, '' as definition, '0'::xid as xid;
		alter view core_private.installed_definitions owner to nexus_owner; alter function core_private.planted() owner to nexus_owner`)
	report, err := Status(t.Context(), pool)
	if err != nil || len(report.Distrusted) != 2 || !slices.Equal(report.Unsafe, trusting.Unsafe) || !slices.Equal(report.Orphans, trusting.Orphans) {
		t.Errorf("distrusted %q\nunsafe %q, before\n%q\n%q, %v", report.Distrusted, report.Unsafe, trusting.Unsafe, report.Orphans, err)
	}
	_, err = up(t.Context(), pool, nil, embedded())
	_ = wantCode(t, err, nexus.CodeNotTrusted)
}
