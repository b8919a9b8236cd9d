create or replace function core_private.is_due(p_queue text, p_keys text[] = '{*}')
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
    -- A claim looks at as many.
    execute format(
        case when p_keys = '{*}' then 'select exists (select from %s q where q.vt <= $1)'
             else 'select exists (
                       select
                         from (select q.message from %s q where q.vt <= $1 order by q.vt limit 20000) x
                        where x.message ->> ''eventType'' = any ($2))' end, core_private.queue_relation(p_queue))
       into v_due
      using v_now, p_keys;
    return v_due;
end $$;
comment on function core_private.is_due(text, text[]) is 'Whether a message of the queue is due, for one of these handlers if it names one; false where it has lost its table.';
