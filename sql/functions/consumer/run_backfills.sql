-- In turns, so that a long one keeps no other waiting, for a second at most.
create or replace function core_private.run_backfills()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_end    timestamptz := clock_timestamp() + interval '1 second';
    v_closed text[];
    v_ids    bigint[];
    v_next   bigint[];
    v_id     bigint;
    v_steps  integer := 0;
    v_state  text;
begin
    if not exists (select from core_private.backfills b where b.state <> 'done') then
        return '{}';
    end if;
    v_closed := core_private.closed_namespaces();
    v_ids := array(
        select b.backfill_id
          from core_private.backfills b
         where b.state <> 'done' and b.namespace <> all (v_closed)
         order by b.backfill_id);
    while v_ids <> '{}' and clock_timestamp() < v_end loop
        v_next := '{}';
        foreach v_id in array v_ids loop
            v_state := core_private.run_backfill(v_id, 2000);
            v_steps := v_steps + 1;
            if v_state = 'running' then
                v_next := v_next || v_id;
            end if;
            exit when clock_timestamp() > v_end;
        end loop;
        v_ids := v_next;
    end loop;
    return jsonb_build_object('steps', v_steps);
end $$;
comment on function core_private.run_backfills() is 'Lets consumers take what is in the log from before them, as far as a second goes; returns the number of steps.';
