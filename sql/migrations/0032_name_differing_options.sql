-- It returns the names as well.
drop function if exists core_private.differing_namespace_options(text, jsonb);
