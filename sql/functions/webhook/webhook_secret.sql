-- gen_random_uuid draws from the server's source for secrets, 122 bits a call; pgcrypto need not be there. No error
-- shows what was given.
create or replace function core_private.webhook_secret(p_options jsonb)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_given text := p_options ->> 'secret';
    v_bytes integer;
begin
    if not p_options ? 'secret' then
        return 'whsec_' || encode(
            sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
            'base64');
    end if;
    if v_given ~ '^whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$'
       and octet_length(v_given) <= 100 then
        v_bytes := octet_length(decode(substr(v_given, 7), 'base64'));
    end if;
    if v_bytes between 24 and 64 then
        return v_given;
    end if;
    raise exception using errcode = 'NX005', column = 'secret',
        message = 'secret is not one of Standard Webhooks',
        hint = 'Give whsec_ and 24 to 64 bytes in base64, or leave it out: then one is made.';
end $$;
comment on function core_private.webhook_secret(jsonb) is 'The secret that options give, or a new one. Raises NX005, without it.';
