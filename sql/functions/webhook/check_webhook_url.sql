-- A name and password in a URL would be shown wherever the URL is.
create or replace function core_private.check_webhook_url(p_url text, p_insecure boolean, p_field text = 'p_url')
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(p_url, '') !~* '^https?://[^/?#@[:space:][:cntrl:]]+([/?][^[:space:][:cntrl:]]*)?$'
       or octet_length(p_url) > 2048 then
        raise exception using errcode = 'NX006', column = p_field,
            message = p_field || ' is not the URL of a webhook',
            hint = 'Give one of https, of at most 2048 bytes, without a name and password in it.';
    elsif p_url ~* '^http:' and not p_insecure then
        raise exception using errcode = 'NX006', column = p_field,
            message = p_field || ' is one of http, which anyone on the way can read',
            hint = 'Give one of https, or set the option insecure.';
    end if;
end $$;
comment on function core_private.check_webhook_url(text, boolean, text) is 'Raises NX006 for what is no URL of a webhook.';
