-- It returns one option more.
drop function if exists core_private.parse_emit_options(jsonb, timestamptz, text);
