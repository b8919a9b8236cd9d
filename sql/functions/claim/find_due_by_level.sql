-- Level after level, in the order of the floors given, until there are enough: an idle one costs a look into an index.
-- Ids of a level lie in a range of its own; the last of the ranges given has no end, so that nothing is left behind
-- where a consumer had more levels before.
--
-- Windows of later levels are kept to what may still be taken. One that was full is said to have been p_window: there
-- may be more behind it.
create or replace function core_private.find_due_by_level(
    p_queue text, p_for text, p_types text[], p_max_attempts integer[], p_default integer,
    p_limit integer, p_floors bigint[], p_window integer, p_now timestamptz,
    out tids tid[], out alone_tids tid[], out alone_ids bigint[],
    out dead_ids bigint[], out dead_cts integer[], out dead_reasons text[],
    out due integer, out looked integer, out scanned_to bigint,
    out level_looked integer[], out level_scanned bigint[])
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_span   constant bigint := 1000000000000000;
    v_last   bigint := (select max(f) / v_span from unnest(p_floors) f);
    v_floor  bigint;
    v_room   integer;
    v_window integer;
    r        record;
begin
    if cardinality(p_floors) not between 1 and 4 or array_ndims(p_floors) <> 1
       or (select count(distinct f / v_span) from unnest(p_floors) f where f >= 0) <> cardinality(p_floors) then
        raise exception using errcode = 'NX006', column = 'p_floors',
            message = 'p_floors is not one floor for each of up to four levels',
            hint = 'This function is for nodes; see its comment.';
    end if;
    due := 0;
    looked := 0;
    foreach v_floor in array p_floors loop
        v_room := p_limit - due;
        exit when v_room <= 0;
        v_window := greatest(coalesce(p_window, p_limit), p_limit);
        if v_room < p_limit then
            v_window := least(v_window, 2 * v_room);
        end if;
        select *
          into r
          from core_private.find_due(
                   p_queue, p_for, p_types, p_max_attempts, p_default, v_room, v_floor, v_window, false, p_now,
                   case when v_floor / v_span < v_last then (v_floor / v_span + 1) * v_span end);
        tids := tids || r.tids;
        alone_tids := alone_tids || r.alone_tids;
        alone_ids := alone_ids || r.alone_ids;
        dead_ids := dead_ids || r.dead_ids;
        dead_cts := dead_cts || r.dead_cts;
        dead_reasons := dead_reasons || r.dead_reasons;
        due := due + r.due;
        looked := looked + r.looked;
        level_looked := level_looked
                        || case when r.looked >= v_window then greatest(r.looked, p_window) else r.looked end;
        level_scanned := level_scanned || r.scanned_to;
        exit when coalesce(cardinality(r.tids), 0) + coalesce(cardinality(r.alone_tids), 0) < r.due; -- memory is full
    end loop;
end $$;
comment on function core_private.find_due_by_level(text, text, text[], integer[], integer, integer, bigint[], integer, timestamptz) is 'core_private.find_due for a queue with levels: p_floors says where to look, and in which order. level_looked and level_scanned have an element for each level that was looked at, looked is the sum, and scanned_to NULL. Raises NX006.';
