create or replace function core_private.tokens_at(p_now timestamptz, p_full_at timestamptz, p_every double precision)
returns integer
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return floor((extract(epoch from p_now - p_full_at) + p_every + 1) / p_every + 1e-6);
end $$;
comment on function core_private.tokens_at(timestamptz, timestamptz, double precision) is 'How many deliveries the bucket of a rate holds, of one delivery and a second''s worth, by when it is full again.';
