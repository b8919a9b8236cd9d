-- What writes deliveries, as text that the writer makes part of its one statement: a set of events cannot be
-- handed to a function without a copy. A further kind of consumer is a branch here, with columns and CTEs of
-- its own.
--
-- The writer's CTE src has a row for each event that is no duplicate, with event_type, message, headers,
-- due_at (NULL: at once) and held_id (the message id drawn with a dedupe key). Its select list ends with the
-- columns given here. They read from e and draw the message ids, which so rise with the order of the events.
-- In all of it $1 is the time.
--
-- A plan made for the very types looks cheaper than one for any, so it would be made at each call; making it takes
-- longer than the look.
--
-- An event that would go to a queue without a table fails when its id is drawn. What is delayed can wait for
-- the table.
create or replace function core_private.delivery_plan(
    p_namespace text, p_event_types text[], p_at_once boolean, p_delayed boolean, p_default boolean = null,
    p_prioritised boolean = null,
    out columns text, out ctes text, out default_id text, out ids text, out queues text[], out generation bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    v_consumer record;
    v_relation text;
    v_matches  text;
    v_next     text;
    v_held     boolean;
begin
    columns := '';
    ctes := '';
    default_id := 'null::bigint';
    ids := '(null::text, null::bigint)';
    queues := '{}';
    for v_consumer in
        select nullif(n.consumer_generation, 0) as generation,
               c.consumer_id, c.name, c.kind, c.queue_name, c.patterns, c.levels
          from core.namespaces n
          left join lateral core_private.consumers_of(p_namespace, p_event_types, p_default) c on true
         where n.namespace = p_namespace
         order by c.consumer_id
    loop
        generation := v_consumer.generation;
        continue when v_consumer.consumer_id is null;
        v_matches := case
            when v_consumer.name = 'default' or cardinality(p_event_types) = 1
                 or '*' = any (v_consumer.patterns) then ''
            else format(' and exists (select from unnest(%L::text[]) p where core_private.matches(p, e.event_type))',
                        v_consumer.patterns) end;
        v_held := v_consumer.name = 'default';
        case v_consumer.kind
        when 'unordered' then
            v_relation := core_private.queue_relation(v_consumer.queue_name);
            if p_at_once then
                if to_regclass(v_relation) is null then
                    v_next := format('core_private.fail_lost_queue(%L)::text::bigint', v_consumer.queue_name);
                else
                    v_next := format('nextval(%L::regclass)', core_private.queue_sequence(v_consumer.queue_name));
                    if p_prioritised and v_consumer.levels > 1 then
                        v_next := v_next || format(
                            ' + core_private.level_offset(%s, e.priority)', v_consumer.levels);
                    end if;
                    ctes := ctes || format($q$,
                        q%1$s as (
                            insert into %2$s (msg_id, read_ct, enqueued_at, vt, message, headers)
                            overriding system value
                            select e.m%1$s, 0, $1, $1, e.message, e.headers
                              from src e
                             where e.m%1$s is not null)$q$,
                        v_consumer.consumer_id, v_relation);
                end if;
                if v_held then
                    v_next := format('coalesce(e.held_id, %s)', v_next);
                    default_id := 'e.m' || v_consumer.consumer_id;
                end if;
                columns := columns || format(', case when e.due_at is null%s then %s end as m%s',
                                             v_matches, v_next, v_consumer.consumer_id);
                ids := ids || format(', (%L, e.m%s)', v_consumer.queue_name, v_consumer.consumer_id);
                queues := queues || v_consumer.queue_name;
            end if;
            if p_delayed and v_held then
                ctes := ctes || format($q$,
                    d%1$s as (
                        insert into core.delayed (
                            due_at, queue_name, event_type, message, headers, msg_id, read_ct, enqueued_at)
                        select e.due_at, %2$L, e.event_type, e.message,
                               case when e.held_id is null then e.headers
                                    else core_private.headers_object(e.headers)
                                         || jsonb_build_object('nexus-due', core_private.iso(e.due_at)) end,
                               e.held_id, case when e.held_id is not null then 0 end,
                               case when e.held_id is not null then e.due_at end
                          from src e
                         where e.due_at is not null)$q$,
                    v_consumer.consumer_id, v_consumer.queue_name);
            elsif p_delayed then
                ctes := ctes || format($q$,
                    d%1$s as (
                        insert into core.delayed (due_at, queue_name, event_type, message, headers)
                        select e.due_at, %2$L, e.event_type, e.message, e.headers
                          from src e
                         where e.due_at is not null%3$s)$q$,
                    v_consumer.consumer_id, v_consumer.queue_name, v_matches);
            end if;
        when 'ordered' then
            perform pg_current_xact_id(); -- before an id is drawn
            columns := columns || format(
                ', case when e.due_at is null%s then nextval(''core_private.lane_message_id_seq'') %s end as m%s',
                v_matches,
                case when p_delayed
                     then format('when true%s then core_private.fail_delayed(%L)::integer', v_matches, v_consumer.name)
                     end,
                v_consumer.consumer_id);
            ctes := ctes || core_private.lanes_plan(v_consumer.consumer_id, 'm' || v_consumer.consumer_id);
            queues := queues || core_private.outbox_key(p_namespace, v_consumer.name);
        else
            null;
        end case;
    end loop;
end $$;
comment on function core_private.delivery_plan(text, text[], boolean, boolean, boolean, boolean) is 'The part of a statement that delivers the events of its CTE src: columns to be appended to the select list of src, CTEs to follow it, the message id of the consumer default in terms of src e, a VALUES list of (queue, message id) in the same terms, the queues to wake, and the generation of the consumers, for the log. p_at_once and p_delayed say which there may be; with p_prioritised src e has a column priority; the statement raises NX110, NX225.';
