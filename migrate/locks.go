package migrate

import (
	"fmt"
	"regexp"
	"slices"

	nexussql "github.com/nexuspg/nexus/sql"
)

var relationName = regexp.MustCompile(`\bcore(?:_private)?\.[a-z_][a-z0-9_]*`)

// lockTables takes all locks that the files and after_install will take on tables and views, before anything is held. One at a time they
// would come in an order of their own, and each node at work has begun at the other end: it holds core.queues and waits for core.namespaces,
// which a migration has, until a policy of core.queues is to be changed.
func (b *builder) lockTables(files []nexussql.File) {
	if len(files) == 0 {
		return
	}
	// after_install gives these two their triggers.
	names := []string{"core.delayed", "core.scheduled_tasks"}
	for _, f := range files {
		names = append(names, relationName.FindAllString(f.Body, -1)...)
	}
	slices.Sort(names)
	b.add(step{role: owner, sql: fmt.Sprintf(lockTablesSQL, b.lockTimeout.Milliseconds(), array(slices.Compact(names)))})
}

// The first lock is waited for with nothing held, which costs nobody a deadlock. The others have to come within half a second together, or
// all are let go and the one that did not come goes to the front, until the order is that of those who are at work. So a session that waits
// for us is kept for less than the second after which Postgres would end its transaction. Against users of the tables that leave no such
// moment the last try waits as every statement does.
//
// Changing the owner of a view to the one it has locks the view alone; LOCK TABLE would lock all that it reads.
const lockTablesSQL = `do $lock_tables$
declare
  v_limit  integer := %d;
  v_start  timestamptz := clock_timestamp();
  v_all_by timestamptz;
  v_lock   text;
  v_order  text[] := '{}';
  v_last   boolean := false;
begin
  loop
    begin
      v_all_by := null;
      for v_lock in
        with relation as (
          select c.oid, c.relkind
            from unnest(%s) n (name)
            join pg_class c on c.oid = to_regclass(n.name)
           union
          select p.polrelid, c.relkind
            from pg_policy p
            join pg_class c on c.oid = p.polrelid
           where p.polname in ('visible', 'nexus_read') and c.relowner = current_user::regrole
             and pg_get_expr(p.polqual, p.polrelid) like '%%core.visible_namespaces()%%'
           union
          select c.oid, c.relkind
            from pg_class c
           where c.relkind = 'v' and c.relowner = current_user::regrole
             and c.relnamespace in (to_regnamespace('core'), to_regnamespace('core_node'), to_regnamespace('core_private')))
        select l.statement
          from relation r
         cross join lateral (
            select case when r.relkind = 'v' then format('alter view %%s owner to %%I', r.oid::regclass, current_user)
                        else format('lock table %%s in access exclusive mode', r.oid::regclass) end) l (statement)
         where r.relkind in ('r', 'p', 'v')
         order by array_position(v_order, l.statement), r.relkind = 'v' desc, r.oid::regclass::text = 'core.queues' desc, l.statement
      loop
        perform set_config('lock_timeout', case when v_last or v_all_by is null then v_limit
          else least(v_limit, greatest(1, (extract(epoch from v_all_by - clock_timestamp()) * 1000)::integer)) end::text, true);
        execute v_lock;
        v_all_by := coalesce(v_all_by, clock_timestamp() + interval '0.5 s');
      end loop;
      exit;
    exception
      when lock_not_available or deadlock_detected then
        if v_last or v_all_by is null then
          raise;
        end if;
        v_last := clock_timestamp() > v_start + v_limit * interval '1 ms';
      when undefined_table then
        null; -- a namespace was dropped meanwhile
    end;
    v_order := v_lock || array_remove(v_order, v_lock);
  end loop;
  perform set_config('lock_timeout', v_limit::text, true);
end
$lock_tables$;
`
