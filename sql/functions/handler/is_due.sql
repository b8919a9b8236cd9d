create or replace function core_private.is_due(p_queue text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    v_now timestamptz := core_private.now();
    v_due boolean;
begin
    if to_regclass(core_private.queue_relation(p_queue)) is null then
        return false;
    end if;
    execute format('select exists (select from %s q where q.vt <= $1)', core_private.queue_relation(p_queue))
       into v_due
      using v_now;
    return v_due;
end $$;
comment on function core_private.is_due(text) is 'Whether a message of the queue is due; false where it has lost its table.';
