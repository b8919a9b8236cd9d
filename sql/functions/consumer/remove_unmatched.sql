-- Messages that are no envelopes came by no pattern and stay, and so does what a handler has.
create or replace function core_private.remove_unmatched(p_queue text, p_patterns text[])
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_n     bigint;
    v_total bigint;
begin
    -- Whoever writes to core.parked holds this row.
    perform from core_private.parking k where k.queue_name = p_queue for update;
    delete from core.parked p
     where p.queue_name = p_queue and p.event_type <> 'unknown.raw'
       and not exists (select from unnest(p_patterns) x where core_private.matches(x, p.event_type));
    get diagnostics v_total = row_count;
    delete from core.delayed d
     where d.queue_name = p_queue and d.event_type <> 'unknown.raw'
       and not exists (select from unnest(p_patterns) x where core_private.matches(x, d.event_type));
    get diagnostics v_n = row_count;
    v_total := v_total + v_n;
    if to_regclass(core_private.queue_relation(p_queue)) is not null then
        execute format($q$
            with idle as materialized (
                select q.ctid as tid
                  from %1$s q
                 where (q.vt <= $1 or not core_private.is_leased(q.vt, q.read_ct, q.headers))
                   and core_private.event_type_of(q.message) is not null
                   and not exists (
                       select
                         from unnest($2) x
                        where core_private.matches(x, core_private.event_type_of(q.message)))
                   for update skip locked)
            delete from %1$s q
             using idle
             where q.ctid = idle.tid
            $q$, core_private.queue_relation(p_queue))
        using v_now, p_patterns;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
    end if;
    return v_total;
end $$;
comment on function core_private.remove_unmatched(text, text[]) is 'Removes what waits for a queue, is delayed or parked and matches none of the patterns; returns how many.';
