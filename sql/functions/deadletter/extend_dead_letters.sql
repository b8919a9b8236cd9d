create or replace function core.extend_dead_letters(
    p_dead_letter_ids bigint[], p_claim_tokens uuid[], p_for interval = '5 min')
returns table (dead_letter_id bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_names     text[] := '{}';
    v_namespace text;
    v_now       timestamptz;
begin
    perform core_private.check_claim_time(p_for);
    if array_ndims(p_dead_letter_ids) > 1 or cardinality(p_dead_letter_ids) is null
       or cardinality(p_dead_letter_ids) > 10000 or array_position(p_dead_letter_ids, null) is not null then
        raise exception using errcode = 'NX006', column = 'p_dead_letter_ids',
            message = 'p_dead_letter_ids is not a list of up to 10000 ids',
            hint = 'Give an array of dead_letter_id, of one dimension and without NULL.';
    end if;
    if array_ndims(p_claim_tokens) > 1 or cardinality(p_claim_tokens) is distinct from cardinality(p_dead_letter_ids)
       or array_position(p_claim_tokens, null) is not null then
        raise exception using errcode = 'NX006', column = 'p_claim_tokens',
            message = 'p_claim_tokens has not one token for each id',
            hint = 'Give the tokens that core.claim_dead_letters returned, in the order of the ids.';
    end if;
    for v_namespace in
        select distinct l.namespace
          from core.dead_letters l
         where l.dead_letter_id = any (p_dead_letter_ids)
         order by l.namespace
    loop
        continue when core_private.is_hidden(v_namespace);
        perform core_private.require_duty(v_namespace, 'operate');
        perform core_private.lock_namespace(v_namespace, false);
        v_names := v_names || v_namespace;
    end loop;
    perform
       from core.dead_letters l
      where l.dead_letter_id = any (p_dead_letter_ids) and l.namespace = any (v_names) and l.status = 'reprocessing'
      order by l.dead_letter_id
        for update;
    v_now := core_private.now();
    return query
        with mine as materialized (
            select u.id, core_private.token_mark(u.token) as token
              from unnest(p_dead_letter_ids, p_claim_tokens) u(id, token)),
        kept as (
            update core.dead_letters l
               set deadline = v_now + p_for
              from mine m
             where l.dead_letter_id = m.id and l.claim_token = m.token and l.deadline > v_now
               and l.namespace = any (v_names)
            returning l.dead_letter_id)
        select m.id
          from mine m
         where not exists (select from kept k where k.dead_letter_id = m.id)
         order by m.id;
end $$;
comment on function core.extend_dead_letters(bigint[], uuid[], interval) is 'Lets claims end p_for from now, 1 second to 1 day; returns those that were lost: their time was over, another has them, or they are resolved. Raises NX006, NX401, NX402.';
