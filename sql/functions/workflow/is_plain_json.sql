-- By the text, since jsonb would have to be written out for it: no number with an exponent of three digits, none of
-- thirty digits and more, no \u0000. What is not plain may still be fine, and is looked at closely; so is what has more
-- than 2,000 bytes, and could be nested too deeply. Not pinned, so that it is inlined. Spelt out, since a bounded
-- repetition makes the match twenty times slower. A string holds no numbers, and is looked through for a tenth of that.
create or replace function core_private.is_plain_json(p_text text, p_bytes integer)
returns boolean
language sql immutable parallel safe
as $$
    select pg_catalog.octet_length(p_text) operator(pg_catalog.<=) p_bytes
       and (pg_catalog.octet_length(p_text) operator(pg_catalog.<=) 4
            or p_text operator(pg_catalog.^@) '"' and pg_catalog.strpos(p_text, 'u0000') operator(pg_catalog.=) 0
            or p_text operator(pg_catalog.!~)
           ('[0-9][eE][+]?[0-9][0-9][0-9]|u0000|'
            '[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]'
            '[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]'))
$$;
comment on function core_private.is_plain_json(text, integer) is 'Whether JSON of up to p_bytes can be stored as it is, at a glance; false: look closely.';
