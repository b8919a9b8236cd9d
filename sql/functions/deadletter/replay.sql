-- Rows must be locked by the caller, who has judged their claims.
create or replace function core_private.replay(
    p_ids bigint[], p_payload jsonb, p_first_at timestamptz = null, p_gap interval = null)
returns table (dead_letter_id bigint, msg_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_function text;
begin
    for v_function in
        select distinct k.replay
          from core_private.source_kinds() k
         where k.replay is not null
           and exists (
               select
                 from core.dead_letters l
                where l.dead_letter_id = any (p_ids) and l.source_kind = k.kind)
    loop
        return query execute format(
            'select r.dead_letter_id, r.msg_id from core_private.%I($1, $2, $3, $4) r', v_function)
        using p_ids, p_payload, p_first_at, p_gap;
    end loop;
end $$;
comment on function core_private.replay(bigint[], jsonb, timestamptz, interval) is 'Replays unresolved dead letters, each as its kind wants; returns those that could be, with the new message id where there is one.';
