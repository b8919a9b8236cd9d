-- A retry policy is merged key by key, as that of a namespace. A value of null takes the default again.
create or replace function core.alter_consumer(
    p_namespace text, p_consumer text, p_patterns text[] = null, p_options jsonb = '{}')
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known    constant text[] := array[
        'retry', 'unhandled_after', 'max_in_flight', 'rate', 'levels', 'exhausted', 'drop_unmatched', 'backfill'];
    v_id       integer;
    v_old      record;
    v_patterns text[];
    v_options  jsonb := p_options;
    v_retry    jsonb := p_options -> 'retry';
    v_back     text[];
    v_new      bigint;
    v_from     timestamptz;
    v_removed  bigint := 0;
begin
    perform core_private.require_duty(p_namespace, 'operate');
    perform core_private.check_option_keys(p_options, v_known);
    if p_patterns is not null then
        if p_consumer = 'default' then
            raise exception using errcode = 'NX006', column = 'p_patterns',
                message = 'consumer ''default'' has no patterns: it gets every event',
                hint = 'Create a consumer of another name, or switch "default" off by the option of its namespace.';
        end if;
        v_patterns := core_private.check_patterns(p_patterns);
    end if;
    if p_options ? 'drop_unmatched' and jsonb_typeof(p_options -> 'drop_unmatched') <> 'boolean' then
        perform core_private.fail_option('drop_unmatched', p_options -> 'drop_unmatched', 'Give true or false.');
    end if;
    perform core_private.lock_namespace(p_namespace, false);
    perform from core.namespaces n where n.namespace = p_namespace for no key update;
    v_id := core_private.require_consumer(p_namespace, p_consumer, true);
    perform core_private.refuse_outbox(v_id);
    select c.patterns, c.retry, c.queue_name, c.created_generation, c.routed, c.kind = 'ordered' as ordered
      into v_old
      from core.consumers c where c.consumer_id = v_id;
    if v_old.routed and (p_patterns is not null or p_options ?| '{drop_unmatched,backfill}') then
        raise exception using errcode = 'NX006', column = 'p_patterns',
            message = format('consumer %s has no patterns: its deliveries name their handlers',
                             quote_literal(p_consumer)),
            hint = 'Give other options, or create a consumer of another name.';
    end if;
    if jsonb_typeof(v_retry) = 'object' then
        v_back := array(
            select r.key
              from jsonb_each(v_retry) r
             where r.value = 'null' and core_private.retry_defaults() ? r.key);
        v_retry := v_retry - v_back;
        perform core_private.check_consumer_options(jsonb_set(p_options, '{retry}', v_retry), v_known, true,
                                                    v_old.ordered);
        v_options := jsonb_set(p_options, '{retry}', (v_old.retry - v_back) || v_retry);
    end if;
    perform core_private.check_consumer_options(v_options, v_known, true, v_old.ordered);
    v_from := core_private.parse_from(nullif(p_options -> 'backfill', 'null'), 'backfill');
    if v_from is not null and p_consumer = 'default' then
        perform core_private.fail_option('backfill', p_options -> 'backfill',
            'Leave it out: consumer "default" has had every event.');
    end if;
    perform core_private.apply_consumer_options(v_id, v_options);
    if v_patterns <> array(select distinct p collate "C" from unnest(v_old.patterns) p order by 1) then
        v_new := core_private.raise_generation(p_namespace);
        insert into core_private.consumer_patterns (consumer_id, generation, patterns)
        values (v_id, v_old.created_generation, v_old.patterns)
        on conflict do nothing;
        insert into core_private.consumer_patterns (consumer_id, generation, patterns) values (v_id, v_new, v_patterns);
        update core.consumers c set patterns = v_patterns where c.consumer_id = v_id;
    end if;
    if (p_options ->> 'drop_unmatched')::boolean then
        v_removed := core_private.remove_unmatched(v_old.queue_name, coalesce(v_patterns, v_old.patterns));
        -- What a backfill still had to bring would come after it.
        update core_private.backfills b
           set narrowed = array(
                   select distinct p.x collate "C"
                     from unnest(coalesce(b.narrowed, b.patterns)) o (x)
                    cross join unnest(coalesce(v_patterns, v_old.patterns)) p (x)
                    where core_private.matches(o.x, p.x) or o.x = p.x
                    union
                   select o.x
                     from unnest(coalesce(b.narrowed, b.patterns)) o (x)
                    cross join unnest(coalesce(v_patterns, v_old.patterns)) p (x)
                    where core_private.matches(p.x, o.x))
         where b.consumer_id = v_id and b.state <> 'done';
    end if;
    if v_from is not null then
        perform core_private.begin_backfill(
            v_id, p_namespace, coalesce(v_new, core_private.raise_generation(p_namespace)),
            coalesce(v_patterns, v_old.patterns), v_from);
    end if;
    perform core_private.audit('alter_consumer', p_namespace, p_consumer, null,
        jsonb_strip_nulls(jsonb_build_object(
            'patterns', v_patterns, 'before', case when v_new is not null then v_old.patterns end,
            'removed', nullif(v_removed, 0)))
        || jsonb_build_object('options', p_options));
    return v_removed;
end $$;
comment on function core.alter_consumer(text, text, text[], jsonb) is 'Replaces the patterns of a consumer, if they are given, and the options that are given; in a retry policy the keys that are not given stay, and null takes the default again. Other patterns hold for what is emitted from then on; what is queued stays, unless drop_unmatched is true: then what waits, is delayed or parked and matches none of them is removed, but for what is in flight. With backfill ("beginning" or a time) it also gets what is in the log and matches, and what it had not got. Returns how many deliveries were removed. Other levels hold for what is delivered from then on; what is queued keeps its place. Options: retry, unhandled_after, max_in_flight, rate, levels, exhausted, drop_unmatched, backfill. Raises NX004, NX005, NX006, NX007, NX008, NX101, NX102, NX225, NX401, NX402.';
