package migrate

import (
	"slices"
	"strings"
	"testing"
)

// Whoever revokes a right from the role that owns an object breaks what runs as that role. Status names it, Up gives it back, as a
// superuser or as who may just become the owners.
func TestRightsOfTheOwnersArePutBack(t *testing.T) {
	own := newCluster(t) // somebody becomes a member of the owners
	address := own.URL(newDatabase(t, own))
	pool := connect(t, address)
	mustUp(t, pool, nil, embedded())
	execute(t, address, `select core.create_namespace('shop');
		create role plain_owner login createrole password 'secret';
		grant nexus_owner, nexus_scheduler, nexus_guard to plain_owner; grant create on database `+pool.Config().ConnConfig.Database+` to plain_owner`)
	plain := connect(t, as(t, address, "plain_owner", "secret"))
	mustUp(t, plain, &Options{Trust: []string{"plain_owner"}}, embedded())
	const lost = `select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.oid = c.relowner
		 where n.nspname in ('core', 'core_node', 'core_private', 'pgmq') and r.rolname like 'nexus\_%' and c.relkind in ('r', 'p', 'v', 'S')
		   and case c.relkind when 'S' then not has_sequence_privilege(r.oid, c.oid, 'usage') or not has_sequence_privilege(r.oid, c.oid, 'update')
		         else not (has_table_privilege(r.oid, c.oid, 'select') and has_table_privilege(r.oid, c.oid, 'insert')
		                   and has_table_privilege(r.oid, c.oid, 'update') and has_table_privilege(r.oid, c.oid, 'delete')) end`
	for i, c := range []struct {
		harm, seen string
		alone      bool // breaks no emit
		super      bool // only a superuser can put it back
	}{
		{harm: `revoke insert on core.event_log from nexus_owner`, seen: "nexus_owner lacks rights on its own table core.event_log: insert"},
		{harm: `revoke all on core.event_log, core.namespaces, core_private.schema_migrations from nexus_owner`, seen: "nexus_owner lacks rights on its own table core_private.schema_migrations: "},
		{harm: `revoke usage on sequence core.event_id_seq from nexus_owner`, seen: "nexus_owner lacks rights on its own sequence core.event_id_seq: usage", alone: true},
		{harm: `revoke select on core.queue_metrics from nexus_owner`, seen: "nexus_owner lacks rights on its own table core.queue_metrics: select", alone: true},
		{harm: `revoke execute on function core_private.now() from nexus_owner`, seen: "nexus_owner lacks rights on its own routine core_private.now(): execute"},
		{harm: `revoke all on schema core_private from nexus_owner`, seen: "nexus_owner lacks rights on its own schema core_private: create, usage"},
		{harm: `revoke usage on schema core from nexus_owner`, seen: "nexus_owner lacks rights on its own schema core: usage"},
		{harm: `revoke all on pgmq.q_core_events_shop from nexus_owner`, seen: "nexus_owner lacks rights on its own table pgmq.q_core_events_shop: "},
		{harm: `revoke all on all sequences in schema pgmq from nexus_owner`, seen: "nexus_owner lacks rights on its own sequence pgmq.q_core_events_shop_msg_id_seq: "},
		{harm: `revoke usage on schema pgmq from nexus_owner`, seen: "right that is gone: grant usage on schema pgmq to nexus_owner", super: true},
		{harm: `revoke all on pgmq.meta from nexus_owner`, seen: "right that is gone: grant select, insert, update, delete on table pgmq.meta to nexus_owner", alone: true, super: true},
		{harm: `do $$ declare f regprocedure; begin
			for f in select oid from pg_proc where proowner = 'nexus_scheduler'::regrole and pronamespace = 'core_private'::regnamespace loop
				execute format('revoke all on function %s from nexus_scheduler', f); end loop; end $$`, seen: "nexus_scheduler lacks rights on its own routine core_private.", alone: true},
	} {
		if leftOut(i) {
			continue
		}
		for who, by := range map[string]struct {
			address string
			skip    bool
		}{"a superuser": {address: address}, "a member": {as(t, address, "plain_owner", "secret"), c.super}} {
			t.Run(c.harm+", by "+who, func(t *testing.T) {
				if by.skip {
					t.Skip("the extension is not its own")
				}
				pool := connect(t, by.address)
				execute(t, address, c.harm)
				if _, err := connect(t, address).Exec(t.Context(), `select core.emit('shop', 'a')`); (err == nil) != c.alone {
					t.Errorf("emit: %v", err)
				}
				report, err := Status(t.Context(), pool)
				if err != nil || !slices.ContainsFunc(report.Unsafe, func(line string) bool { return strings.HasPrefix(line, c.seen) }) || len(report.Applied) == 0 {
					t.Errorf("status does not say %q: %+v, %v", c.seen, report, err)
				}
				report = mustUp(t, pool, nil, embedded())
				if len(report.Unsafe) > 0 || len(report.Applied) == 0 || report.Version != report.Want {
					t.Errorf("after up: %+v", report)
				}
				if again := mustUp(t, pool, nil, embedded()); len(again.Applied) > 0 {
					t.Errorf("there is still to do: %q", again.Applied)
				}
				execute(t, address, `set role nexus_producer; select core.emit('shop', 'b')`)
				if n := value[int](t, connect(t, address), lost); n > 0 {
					t.Errorf("%d objects lack rights", n)
				}
			})
		}
	}
}
