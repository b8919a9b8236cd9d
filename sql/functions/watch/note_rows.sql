-- Transition tables can be read here and nowhere else. A few rows are done one by one, since making a statement takes
-- as long as eight of them do. A column may have any name, the row's too, so that the row is asked for with its star.
-- Fewer digits of floats, which the writer's session may ask for, would hide their changes; and whatever the session
-- asks for of times, intervals, bytes and money, the same row is the same mutation.
create or replace function core_node.note_rows()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set extra_float_digits = 1
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set lc_monetary = 'C'
set jit = off
as $$
declare
    v_watch   core.watched_tables := core_private.watch_of(tg_argv[0], tg_relid);
    v_now     timestamptz;
    v_op      text;
    v_columns record;
    v_queues  text[];
    v_ids     bigint[];
    v_n       integer;
    r         record;
begin
    if v_watch.watch_id is null then
        return null;
    end if;
    v_now := core_private.now();
    v_op := lower(tg_op);
    v_queues := core_private.mutation_queues(v_watch.namespace, v_watch.collection, v_op);
    if v_queues is null and not v_watch.emit then
        return null;
    end if;
    if tg_op = 'DELETE' then
        v_n := (select count(*) from (select from old_rows limit 9) x);
    else
        v_n := (select count(*) from (select from new_rows limit 9) x);
    end if;
    if v_n = 0 then
        return null;
    elsif v_n <= 8 and not v_watch.emit and not core_private.is_blind(tg_relid) then
        if tg_op = 'INSERT' then
            for r in select core_private.row_or_null("nexus.row".*) as j from new_rows "nexus.row" loop
                perform core_private.note_change(v_watch, v_op, null, r.j, v_now);
            end loop;
        elsif tg_op = 'DELETE' then
            for r in select core_private.row_or_null("nexus.row".*) as j from old_rows "nexus.row" loop
                perform core_private.note_change(v_watch, v_op, r.j, null, v_now);
            end loop;
        else
            for r in
                select o.j as old, n.j as new
                  from (select row_number() over () as i, core_private.row_or_null("nexus.row".*) as j
                          from new_rows "nexus.row") n
                  join (select row_number() over () as i, core_private.row_or_null("nexus.row".*) as j
                          from old_rows "nexus.row") o on o.i = n.i
                 order by n.i
            loop
                perform core_private.note_change(v_watch, v_op, r.old, r.new, v_now);
            end loop;
        end if;
        return null;
    end if;
    select * into v_columns from core_private.watch_columns(v_watch);
    execute core_private.mutation_statement(
        v_watch.namespace, v_watch.collection, v_op,
        core_private.changes_of(v_watch, v_columns.shown, v_columns.key, v_columns.as_json, v_op),
        v_queues, v_now, v_watch.emit, v_columns.doubtful)
       into v_queues, v_ids
      using v_now;
    perform core_private.wake_mutated(v_watch.namespace, v_queues, v_watch.emit, v_now);
    if v_ids is not null then
        perform core_private.run_sync_triggers(v_watch.namespace, v_ids, v_now, true, v_watch.emit);
    end if;
    return null;
end $$;
comment on function core_node.note_rows() is 'Makes mutations of what a statement did to a watched table. Its argument is the number of the watch. Raises 40001, NX110.';
