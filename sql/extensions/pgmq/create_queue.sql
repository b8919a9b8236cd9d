-- pgmq takes an advisory lock on the queue's name, which anyone could hold: it is not waited for for long.
--
-- The functions of pgmq and pg_partman take a backslash for what it is. Adopts a queue that is already
-- there. Autovacuum must keep up with two dead rows a message.
create or replace function core_private.create_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '10s'
set standard_conforming_strings = on
as $$
declare
    v_relation text := core_private.queue_relation(p_queue);
    v_taken    record;
begin
    -- Only who owns a table may store settings and policies with it.
    select c.oid::regclass as name, c.relowner::regrole as owner
      into v_taken
      from pg_class c
     where c.oid in (to_regclass(v_relation), to_regclass(format('pgmq.%I', 'a_' || p_queue)))
       and not pg_has_role(current_user, c.relowner, 'usage')
     limit 1;
    if found then
        raise exception using errcode = 'NX202', column = 'p_namespace',
            message = format('queue %s is there already and its table %s belongs to role %s',
                             p_queue, v_taken.name, v_taken.owner),
            hint = format('To adopt it: alter table %s owner to %I; or choose another name.',
                          v_taken.name, current_user);
    end if;
    -- pgmq's own "if not exists" says so for each of its relations.
    perform set_config('client_min_messages', 'warning', true);
    perform pgmq."create"(p_queue);
    execute format($q$ alter table %s set (
            autovacuum_vacuum_scale_factor = 0.01,
            autovacuum_vacuum_threshold = 500,
            autovacuum_vacuum_cost_delay = 0,
            autovacuum_analyze_scale_factor = 0.05)
        $q$, v_relation);
    perform core_private.secure_queue(p_queue);
    perform core_private.grant_queue(p_queue);
    if pg_get_serial_sequence(v_relation, 'msg_id')::regclass
       is distinct from core_private.queue_sequence(p_queue)::regclass then
        raise exception using errcode = 'NX202', column = 'p_namespace',
            message = format('queue %s draws its message ids from %s',
                             p_queue, pg_get_serial_sequence(v_relation, 'msg_id')),
            hint = format('Rename that sequence to %s.', core_private.queue_sequence(p_queue));
    end if;
end $$;
comment on function core_private.create_queue(text) is 'Creates or adopts the pgmq queue of a registered name, with storage settings, grants and row-level security.';
