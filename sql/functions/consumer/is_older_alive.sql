-- Those with an id of their own, then sessions whose snapshot is older though they have none, then prepared ones. An id
-- of the future comes from a dump of another server, and nobody of then is left.
create or replace function core_private.is_older_alive(p_xact xid8)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_xid xid := (p_xact::text::bigint % 4294967296)::text::xid;
begin
    begin
        perform pg_xact_status(p_xact);
    exception when invalid_parameter_value then
        return false;
    end;
    return pg_snapshot_xmin(pg_current_snapshot()) <= p_xact
        or exists (
            select
              from pg_stat_activity a
             where a.pid <> pg_backend_pid() and a.datname = current_database()
               and a.backend_xmin is not null and age(a.backend_xmin) >= age(v_xid))
        or exists (
            select
              from pg_prepared_xacts p
             where p.database = current_database() and age(p.transaction) >= age(v_xid));
end $$;
comment on function core_private.is_older_alive(xid8) is 'Whether a transaction may be alive that does not see what this one did.';
