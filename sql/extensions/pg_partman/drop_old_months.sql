-- Dropping a month locks the whole log, and writers queue behind that lock for as long as a reader keeps it waiting.
-- So this waits some hundredths of a second, a few times, and lets everybody pass in between. Then it gives up and
-- names the session that holds the log.
create or replace function core_private.drop_old_months(p_tries integer = 5)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '30ms'
as $$
declare
    v_now     timestamptz := core_private.now();
    v_old     regclass[];
    v_month   regclass;
    v_holders text;
begin
    v_old := array(
        select p.relation
          from core_private.log_partitions() p
         where p.to_time < v_now - interval '6 months'
         order by p.from_time);
    if v_old = '{}' then
        return 0;
    end if;
    for i in 1..p_tries loop
        begin
            lock table core.event_log in access exclusive mode;
            foreach v_month in array v_old loop
                perform core_private.drop_partition(v_month);
            end loop;
            return cardinality(v_old);
        exception when lock_not_available then
            null;
        end;
        exit when i = p_tries;
        perform pg_sleep(0.1);
    end loop;
    select string_agg(format('pid %s (%s)', h.pid,
                             concat_ws(', ', a.usename, nullif(a.application_name, ''), a.state)), '; ')
      into v_holders
      from (select distinct l.pid
              from pg_locks l
              join pg_inherits i
                on i.inhparent = 'core.event_log'::regclass
               and l.relation in (i.inhparent, i.inhrelid)
             where l.granted and l.pid <> pg_backend_pid()
             order by l.pid
             limit 10) h
      left join pg_stat_activity a on a.pid = h.pid;
    raise exception using errcode = 'lock_not_available',
        message = format(
            'months of core.event_log that are past their time (%s) cannot be dropped while it is held by %s',
            cardinality(v_old), coalesce(v_holders, 'somebody')),
        hint = 'It is tried again. '
               || 'Whoever left a transaction open that reads the log is ended by: select pg_terminate_backend(pid);';
end $$;
comment on function core_private.drop_old_months(integer) is 'Drops the months of the log that ended six months ago; returns how many. Stops emits for 30 ms a try at most; after p_tries it raises 55P03, which names who holds the log.';
