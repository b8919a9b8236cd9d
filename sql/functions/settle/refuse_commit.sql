create or replace function core_node.refuse_commit()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'NX211',
        message = 'this transaction belongs to the node: a handler may not commit it',
        hint = 'Return from the handler: the node settles the events and commits. '
               || 'What must be committed on its own needs a connection of its own.';
end $$;
comment on function core_node.refuse_commit() is 'For nodes: the query of a cursor WITH HOLD, which they close when they have settled an express batch. Whoever commits before that makes Postgres run it, and so rolls back. Raises NX211, always.';
