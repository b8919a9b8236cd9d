create or replace function core_private.refuse_outbox_arrays(
    p_bodies bytea[], p_body_types text[], p_keys text[], p_dedupe_keys text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_n integer := cardinality(p_bodies);
begin
    if v_n is null or cardinality(p_body_types) is distinct from v_n
       or p_keys is not null and cardinality(p_keys) <> v_n
       or p_dedupe_keys is not null and cardinality(p_dedupe_keys) <> v_n then
        raise exception using errcode = 'NX006', column = 'p_bodies',
            message = format('the arrays differ in length: %s bodies, %s body types, %s keys, %s dedupe keys',
                coalesce(v_n::text, 'no'), coalesce(cardinality(p_body_types)::text, 'no'),
                coalesce(cardinality(p_keys)::text, 'no'), coalesce(cardinality(p_dedupe_keys)::text, 'no')),
            hint = 'Give one body type for each body; p_keys and p_dedupe_keys are NULL or as long.';
    end if;
    raise exception using errcode = 'NX602', column = 'p_bodies',
        message = format('the batch has %s messages, at most 10000 are allowed', v_n),
        hint = 'Split it; calls in one transaction still commit together.';
end $$;
comment on function core_private.refuse_outbox_arrays(bytea[], text[], text[], text[]) is 'Raises NX006 for arrays that differ in length, NX602 for too many messages.';
