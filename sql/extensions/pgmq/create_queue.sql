-- Adopts a queue that is already there. Autovacuum must keep up with two dead rows a message.
create or replace function core_private.create_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_relation text := core_private.queue_relation(p_queue);
begin
    -- pgmq's own "if not exists" says so for each of its relations.
    perform set_config('client_min_messages', 'warning', true);
    perform pgmq."create"(p_queue);
    execute format('alter table %s set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05)', v_relation);
    execute format('grant select, insert, update, delete on %s, %s to nexus_operator', v_relation, format('pgmq.%I', 'a_' || p_queue));
    execute format('grant select on %s to nexus_reader', v_relation);
    perform core_private.secure_queue(p_queue);
    if pg_get_serial_sequence(v_relation, 'msg_id')::regclass is distinct from core_private.queue_sequence(p_queue)::regclass then
        raise exception using errcode = 'NX202', column = 'p_namespace',
            message = format('queue %s draws its message ids from %s', p_queue, pg_get_serial_sequence(v_relation, 'msg_id')),
            hint = format('Rename that sequence to %s.', core_private.queue_sequence(p_queue));
    end if;
end $$;
comment on function core_private.create_queue(text) is 'Creates or adopts the pgmq queue of a registered name, with storage settings, grants and row-level security.';
