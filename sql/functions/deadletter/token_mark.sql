-- Whoever reads the ledger may see this, and cannot get back to the token.
create or replace function core_private.token_mark(p_token uuid)
returns uuid
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select encode(substr(sha256(uuid_send(p_token)), 1, 16), 'hex')::uuid
$$;
comment on function core_private.token_mark(uuid) is 'What is kept of the token of a claim: proof of it for whoever brings it, and no help to others.';
