create or replace function core_private.check_commits(
    p_runs uuid[], p_paths text[], p_epochs integer[], p_tokens uuid[], p_pos integer[], p_entered integer[],
    p_keys text[], p_ords text[], p_results text[], p_undos text[], p_ops text[], p_outputs text[])
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_bad integer;
begin
    if cardinality(p_runs) > 1000 or array_ndims(p_runs) > 1 or array_lower(p_runs, 1) <> 1 or array[
           cardinality(p_paths), cardinality(p_epochs), cardinality(p_tokens), cardinality(p_pos),
           cardinality(p_entered), cardinality(p_keys), cardinality(p_ords), cardinality(p_results),
           cardinality(p_undos), cardinality(p_ops), cardinality(p_outputs)]
       is distinct from array_fill(cardinality(p_runs), array[11]) then
        raise exception using errcode = 'NX006', column = 'p_runs',
            message = format('%s steps cannot be committed by these arrays', cardinality(p_runs)),
            hint = 'Give up to 1,000 steps, and arrays that are all as long.';
    end if;
    select i
      into v_bad
      from generate_subscripts(p_runs, 1) i
     where p_ops[i] is null or p_ops[i] not in ('next', 'yield', 'end', 'again')
        or p_ops[i] in ('end', 'again') and p_paths[i] <> ''
        or p_ops[i] = 'again' and p_outputs[i] is null
        or p_ops[i] in ('next', 'yield') and p_keys[i] is null
        or p_keys[i] is not null and (p_ords[i] is null or octet_length(p_keys[i]) not between 1 and 1000)
     limit 1;
    if found then
        raise exception using errcode = 'NX006', column = 'p_ops',
            message = format('step %s, %s of path %s, cannot be committed by %s', v_bad,
                quote_nullable(left(p_keys[v_bad], 100)), quote_nullable(left(p_paths[v_bad], 100)),
                quote_nullable(left(p_ops[v_bad], 100))),
            hint = 'next and yield have a key and its place, end and again are for runs; again has an input.';
    end if;
end $$;
comment on function core_private.check_commits(uuid[], text[], integer[], uuid[], integer[], integer[], text[], text[], text[], text[], text[], text[]) is 'Raises NX006 unless steps can be committed so.';
