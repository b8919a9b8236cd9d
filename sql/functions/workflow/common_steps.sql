-- The hashes are a chain, so the last that two have in common says how far they are the same.
create or replace function core_private.common_steps(p_hashes text[], p_other text[])
returns integer
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(max(h.i), 0)::integer - 1
      from unnest(p_hashes) with ordinality h(hash, i)
     where h.hash = p_other[h.i]
$$;
comment on function core_private.common_steps(text[], text[]) is 'How many outermost steps two definitions have in common; -1 if not even the name.';
