-- Stands where an id would be drawn, and returns none.
create or replace function core_private.refuse_outbox_messages(
    p_bodies bytea[], p_body_types text[], p_keys text[], p_dedupe_keys text[], p_max_bytes integer, p_batch boolean)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_n integer := cardinality(p_bodies);
    v   record;
begin
    select x.n, x.field, x.code, x.message, x.hint
      into v
      from (select u.n, f.*
              from unnest(p_bodies, p_body_types, coalesce(p_keys, array_fill(null::text, array[v_n])),
                          coalesce(p_dedupe_keys, array_fill(null::text, array[v_n])))
                   with ordinality u(body, body_type, key, dedupe_key, n)
             cross join lateral (
                 values
                     ('p_bod', u.body is null, 'NX018', 'a body cannot be NULL', 'Give bytes; they may be none.'),
                     ('p_bod', octet_length(u.body) > p_max_bytes, 'NX601',
                      format('the body has %s bytes, the queue takes %s', octet_length(u.body), p_max_bytes),
                      'Make it smaller, or register the queue with a larger max_body_bytes.'),
                     ('p_body_type', (octet_length(u.body_type) between 1 and 1024) is not true, 'NX018',
                      'a body type has 1 to 1024 bytes', 'Say what the body is, such as application/json.'),
                     ('p_key', octet_length(u.key) > 1024, 'NX018', 'a key has up to 1024 bytes',
                      'Give a shorter one, such as an id.'),
                     ('p_dedupe_key', octet_length(u.dedupe_key) not between 1 and 200, 'NX018',
                      'a dedupe key has 1 to 200 bytes', 'Give a shorter one, such as an id.'))
                  f(field, bad, code, message, hint)
             where f.bad) x
     order by x.n
     limit 1;
    raise exception using errcode = v.code,
        column = case when not p_batch then case v.field when 'p_bod' then 'p_body' else v.field end
                      else case v.field when 'p_bod' then 'p_bodies' else v.field || 's' end
                           || format('[%s]', v.n) end,
        message = v.message, hint = v.hint;
end $$;
comment on function core_private.refuse_outbox_messages(bytea[], text[], text[], text[], integer, boolean) is 'Raises NX018 or NX601 for the first message that an outbox queue does not take; the field names the element.';
