-- A batch's transaction has its number before the marker is there. So once that has ended, a marker which
-- is still there in a later snapshot (each statement has one of its own) says that it did not commit. A
-- number that is still to come (pg_xact_status raises for it) is that of another server, from which this
-- database was restored, or of an older node: then the time decides, since no batch lives longer.
--
-- A restart of the server, a cut and a handler's own rollback end transactions of nodes that live. Where the
-- node may be one, and its session is gone with the transaction, or the backend that the transaction ran in is
-- there, it has five seconds to take the mark back (core_node.close_express, core_node.recall_express). One that was
-- superseded, that ended or that counts as lost is dead at once, and so is one whose own session is there without
-- that backend: the server ended the transaction alone.
create or replace function core_private.note_express_deaths(p_queue text, p_floor bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now   timestamptz := core_private.now();
    v_ended bigint[];
    v_dead  bigint := 0;
begin
    v_ended := array(
        select b.marker_id from core_private.express_batches b
         where b.queue_name = p_queue and b.marker_id >= p_floor and b.died_at is null
           and case when b.xact_id between 3 and pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1
                    then coalesce(pg_xact_status(b.xact_id::text::xid8) <> 'in progress', true)
                    else b.opened_at < v_now - interval '15 minutes' end);
    if v_ended <> '{}' then
        with noted as (
            update core_private.express_batches b
               set doubted_at = coalesce(b.doubted_at, v_now),
                   died_at = case when b.doubted_at is not null or not exists (
                       select
                         from core.nodes n
                        where n.node_id = b.node_id and n.incarnation = b.incarnation
                          and n.state not in ('stopped', 'lost')
                          and n.last_heartbeat >= v_now - 3 * n.heartbeat_every
                          and (b.opened_at < pg_postmaster_start_time()
                               or exists (select from pg_stat_activity a where a.pid = b.backend_pid)
                               or not exists (select from pg_stat_activity a where a.pid = n.session_pid)))
                       then v_now end
             where b.queue_name = p_queue and b.marker_id = any (v_ended) and b.died_at is null
               and (b.doubted_at is null or b.doubted_at <= v_now - interval '5 seconds')
            returning b.died_at)
        select count(n.died_at) into v_dead from noted n;
    end if;
    return v_dead;
end $$;
comment on function core_private.note_express_deaths(text, bigint) is 'Notes which express batches, from marker p_floor on, died with their node; returns how many.';
