create or replace function core_private.without_own(p_shot pg_snapshot, p_own xid8)
returns pg_snapshot
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_own >= pg_snapshot_xmax(p_shot) then
        return p_shot;
    end if;
    return (
        select format('%s:%s:%s', pg_snapshot_xmin(p_shot), pg_snapshot_xmax(p_shot),
                      string_agg(u.x::text, ',' order by u.x))::pg_snapshot
          from (select pg_snapshot_xip(p_shot) as x union select p_own) u);
end $$;
comment on function core_private.without_own(pg_snapshot, xid8) is 'A snapshot with the transaction that took it as one that still runs: it would else be seen, since snapshots do not list their own.';
