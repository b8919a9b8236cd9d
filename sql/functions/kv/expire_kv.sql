-- Late in a tick and for a second at most: who sets a key that is being removed waits for the tick to commit. Keys of
-- namespaces whose triggers have lost a queue stay until it is there again. What runs a function that fails stays, and
-- holds up nobody else: one by one, and by lot, so that those that fail do not take all turns.
create or replace function core_private.expire_kv(p_limit integer = 10000)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now    timestamptz := core_private.now();
    v_stop   timestamptz := clock_timestamp() + interval '1 second';
    v_firing text[];
    v_closed text[];
    v_sync   text[];
    v_ids    tid[];
    v_id     tid;
    v_limit  integer := p_limit;
    v_total  integer := 0;
    v_n      integer;
    r        record;
begin
    select array_agg(distinct k.namespace),
           coalesce(array_agg(distinct k.namespace) filter (
               where k.queue_name <> '' and to_regclass(core_private.queue_relation(k.queue_name)) is null), '{}')
           || core_private.closed_namespaces(),
           array_agg(distinct k.namespace) filter (where k.queue_name = '')
      into v_firing, v_closed, v_sync
      from core_private.kv_routes k;
    if v_sync is not null then
        v_ids := array(
            select x.tid
              from (select k.ctid as tid, row_number() over (partition by k.namespace order by random()) as n
                      from core.kv_entries k
                     where k.expires_at <= v_now and k.namespace = any (v_sync)
                       and k.namespace <> all (v_closed)) x
             order by x.n
             limit 200);
        v_closed := v_closed || v_sync;
        foreach v_id in array v_ids loop
            exit when clock_timestamp() > v_stop;
            begin
                delete from core.kv_entries k
                 where k.ctid = (select x.ctid from core.kv_entries x
                                  where x.ctid = v_id and x.expires_at <= v_now for update skip locked)
                returning k.* into r;
                if found then
                    perform core_private.note_mutation(
                        r.namespace, r.collection, 'delete', to_jsonb(r.key), r.value, null, null, v_now,
                        p_more => '{"expired": true}');
                    v_total := v_total + 1;
                end if;
            exception when others or assert_failure then
                raise warning 'an expired key of namespace % stays: %', quote_literal(r.namespace), sqlerrm;
            end;
        end loop;
    end if;
    if v_firing is not null then
        v_limit := least(p_limit, 200); -- each is a statement of its own
    end if;
    loop
        v_n := 0;
        for r in
            delete from core.kv_entries d
             using (
                select x.ctid as tid
                  from core.kv_entries x
                 where x.expires_at <= v_now and x.namespace <> all (v_closed)
                 order by x.expires_at
                 limit v_limit
                   for update skip locked) old
             where d.ctid = old.tid
            returning d.*
        loop
            v_n := v_n + 1;
            if r.namespace = any (v_firing) then
                perform core_private.note_mutation(
                    r.namespace, r.collection, 'delete', to_jsonb(r.key), r.value, null, null, v_now,
                    p_more => '{"expired": true}');
            end if;
        end loop;
        v_total := v_total + v_n;
        exit when v_n < v_limit or clock_timestamp() > v_stop;
    end loop;
    return v_total;
end $$;
comment on function core_private.expire_kv(integer) is 'Removes keys that have expired, p_limit a statement, for a second at most, with the mutations of that; returns how many.';
