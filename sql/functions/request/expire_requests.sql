-- What was answered stays for a second beyond its time, for callers that are about to look. Of what never ran nothing
-- is left. Late in a tick and for a second at most, as whoever takes a reply waits for this.
create or replace function core_private.expire_requests(p_limit integer = 1000)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now       timestamptz := core_private.now();
    v_stop      timestamptz := clock_timestamp() + interval '1 second';
    v_closed    text[] := core_private.closed_namespaces();
    v_expired   integer := 0;
    v_abandoned integer := 0;
    v_n         integer;
    v_kept      integer;
begin
    loop
        with gone as (
            delete from core.inbox i
             using (
                select x.ctid as tid
                  from core.inbox x
                 where x.expires_at <= v_now - interval '1 second' and x.namespace <> all (v_closed)
                 order by x.expires_at
                 limit p_limit
                   for update skip locked) old
             where i.ctid = old.tid
            returning i.*),
        kept as (
            select core_private.abandon_request(
                       g.inbox_id, g.namespace, g.target, g.event_uid, g.status, 'not taken', g.reply, g.error, v_now)
              from gone g
              join core.namespaces n on n.namespace = g.namespace
             where g.state = 'answered' and g.started_at is not null)
        select (select count(*) from gone), (select count(*) from kept) into v_n, v_kept;
        v_expired := v_expired + v_n;
        v_abandoned := v_abandoned + v_kept;
        exit when v_n < p_limit or clock_timestamp() > v_stop;
    end loop;
    return jsonb_build_object('expired', v_expired, 'abandoned', v_abandoned);
end $$;
comment on function core_private.expire_requests(integer) is 'Forgets requests that expired more than a second ago, p_limit a statement, for a second at most. Of those that were answered the execution is kept as abandoned.';
