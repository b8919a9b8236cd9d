-- A batch holds its lock from before its marker is visible until its transaction is over. So whoever gets the lock knows that the
-- transaction has ended, and a marker that is still there in a later snapshot (each statement has one of its own) says that it did not commit.
create or replace function core_private.note_express_deaths(p_queue text, p_floor bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now  timestamptz := core_private.now();
    v_free bigint[];
    v_dead bigint := 0;
begin
    v_free := array(select b.marker_id from core_private.express_batches b
                     where b.queue_name = p_queue and b.marker_id >= p_floor and b.died_at is null and pg_try_advisory_xact_lock(b.lock_key));
    if v_free <> '{}' then
        update core_private.express_batches b set died_at = v_now
         where b.queue_name = p_queue and b.marker_id = any (v_free) and b.died_at is null;
        get diagnostics v_dead = row_count;
    end if;
    return v_dead;
end $$;
comment on function core_private.note_express_deaths(text, bigint) is 'Notes which express batches, from marker p_floor on, died with their node; returns how many.';
