-- It is the program that compares, in a time that tells nothing.
create or replace function core_node.ingress_token(p_token_id uuid, out namespace text, out sum text)
returns record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    select t.namespace, encode(t.sum, 'hex')
      into namespace, sum
      from core.ingress_tokens t
     where t.token_id = p_token_id and not core_private.is_hidden(t.namespace);
end $$;
comment on function core_node.ingress_token(uuid) is 'For programs that take events: the namespace of a token and its SHA-256; NULL if there is none, or none in a namespace of the caller''s.';
