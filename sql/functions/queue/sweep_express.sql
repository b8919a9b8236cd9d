create or replace function core_private.sweep_express()
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_old timestamptz := core_private.now() - interval '5 minutes';
    v_n   bigint := 0;
    r     record;
begin
    for r in select distinct b.queue_name from core_private.express_batches b order by b.queue_name loop
        v_n := v_n + core_private.note_express_deaths(r.queue_name, 0);
    end loop;
    delete from core_private.express_batches b where b.died_at <= v_old;
    return v_n;
end $$;
comment on function core_private.sweep_express() is 'Notes every express batch that died with its node, and forgets what is past its five minutes; returns how many it noted.';
