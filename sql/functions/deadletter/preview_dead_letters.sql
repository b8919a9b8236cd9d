create or replace function core.preview_dead_letters(p_filter jsonb, p_rows integer = 3)
returns table (
    namespace text, consumer text, source_kind text, event_type text, reason text,
    count bigint, oldest timestamptz, newest timestamptz, not_replayable text, first_rows jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform core_private.check_number(p_rows, 'p_rows', 0, 100);
    return query
        with picked as (
            select l.*,
                   row_number() over (
                       partition by l.namespace, l.consumer, l.source_kind, l.event_type, l.reason
                           order by l.dead_letter_id) as n
              from core_private.filter_dead_letters(p_filter, false) l),
        groups as (
            select p.namespace, p.consumer, p.source_kind, p.event_type, p.reason,
                   count(*) as count, min(p.failed_at) as oldest, max(p.failed_at) as newest,
                   coalesce(
                       jsonb_agg(
                           jsonb_build_object(
                               'dead_letter_id', p.dead_letter_id, 'event_id', p.event_id, 'attempts', p.attempts,
                               'failed_at', core_private.iso(p.failed_at), 'last_error', left(p.last_error, 200))
                           order by p.dead_letter_id) filter (where p.n <= p_rows),
                       '[]') as first_rows,
                   array_agg(p.dead_letter_id) as ids
              from picked p
             group by p.namespace, p.consumer, p.source_kind, p.event_type, p.reason)
        select g.namespace, g.consumer, g.source_kind, g.event_type, g.reason, g.count, g.oldest, g.newest,
               core_private.why_not_replayed(g.source_kind, g.namespace, g.consumer, g.ids), g.first_rows
          from groups g
         order by g.count desc, g.namespace, g.consumer, g.event_type, g.reason;
end $$;
comment on function core.preview_dead_letters(jsonb, integer) is 'What a filter picks, counted by where it was and why, with the first p_rows of each; takes no lock and changes nothing. not_replayable says why a replay would skip them. Filter as for core.replay_dead_letters, limit counted in. Raises NX004, NX005, NX006, NX008, NX009, NX101, NX401, NX402.';
