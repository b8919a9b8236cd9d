create or replace function core_private.sweep_express()
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old    timestamptz := core_private.now() - interval '5 minutes';
    v_closed text[] := core_private.closed_queues();
    v_n      bigint := 0;
    r        record;
begin
    for r in
        select distinct b.queue_name from core_private.express_batches b
         where b.died_at is null and b.queue_name <> all (v_closed) order by b.queue_name
    loop
        v_n := v_n + core_private.note_express_deaths(r.queue_name, 0);
    end loop;
    delete from core_private.express_batches b
     using (select x.queue_name, x.marker_id from core_private.express_batches x
             where x.died_at <= v_old and x.queue_name <> all (v_closed) limit 10000 for update skip locked) gone
     where b.queue_name = gone.queue_name and b.marker_id = gone.marker_id;
    return v_n;
end $$;
comment on function core_private.sweep_express() is 'Notes every express batch that died with its node, and forgets what is past its five minutes; returns how many it noted.';
