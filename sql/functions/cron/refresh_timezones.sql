-- pg_timezone_names reads every file of the zone data, far too slow to ask for each task; so its names are kept. A
-- session keeps a zone as it was when it first used it, which is why this has a pg_cron job of its own: each run of
-- that is a new session.
create or replace function core_private.refresh_timezones()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now     timestamptz := core_private.now();
    v_from    timestamp := date_trunc('year', v_now at time zone 'UTC');
    v_found   text[];
    v_added   text[];
    v_removed text[];
    v_changed text[];
begin
    perform from core_private.locks l where l.name = 'timezones' for update;
    -- Names without a place that are, or look like, abbreviations or POSIX rules are fixed offsets in disguise.
    v_found := array(
        select n.name
          from pg_timezone_names n
         where n.name !~ '^(posix|right|SystemV)/'
           and n.name not in ('Factory', 'localtime', 'posixrules', 'Zulu', 'UCT', 'Universal', 'Greenwich')
           and (n.name in ('UTC', 'GMT')
                or n.name ~ '/'
                or (n.name !~ '[0-9]'
                    and n.name not in ('CET', 'EET', 'MET', 'WET', 'EST', 'MST', 'HST')
                    and not exists (select from pg_timezone_abbrevs b where b.abbrev = upper(n.name)))));
    with gone as (
        delete from core_private.timezones z
         where not exists (select from unnest(v_found) f (name) where f.name = z.name)
        returning z.name)
    select array_agg(g.name order by g.name) into v_removed from gone g;
    with differs as (
        update core_private.timezones z
           set changed_at = v_now
         where z.changes is distinct from core_private.zone_changes(
                   z.name, z.window_from, z.window_from + interval '2 years')
        returning z.name)
    select array_agg(d.name order by d.name) into v_changed from differs d;
    -- After the comparison, which has nothing to find in what is new.
    with made as (
        insert into core_private.timezones as z (name, window_from, changes)
        select f.name, v_from, core_private.zone_changes(f.name, v_from, v_from + interval '2 years')
          from unnest(v_found) f (name)
         where not exists (select from core_private.timezones z where z.name = f.name)
        returning z.name)
    select array_agg(m.name order by m.name) into v_added from made m;
    update core_private.timezones z
       set window_from = v_from,
           changes = core_private.zone_changes(z.name, v_from, v_from + interval '2 years')
     where z.window_from <> v_from or z.name = any (v_changed);
    return jsonb_build_object(
        'added', coalesce(cardinality(v_added), 0),
        'removed', coalesce(to_jsonb(v_removed), '[]'),
        'changed', coalesce(to_jsonb(v_changed), '[]'));
end $$;
comment on function core_private.refresh_timezones() is 'Brings core_private.timezones up to date with the server''s zone data; names the zones whose rules changed and stamps their changed_at.';
