-- It takes one argument now; beside the old one its calls would be ambiguous.
drop function if exists core_private.fire_tasks(integer, timestamptz);
