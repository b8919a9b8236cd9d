-- By bounds, not by names: a table of that name need not be a partition, nor have the bounds that its name says. What
-- overlaps a month is in its way and left for core.repair_partitions.
create or replace function core_private.create_months(p_ahead integer = 7)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
    v_month timestamptz := date_trunc('month', core_private.now());
    v_from  timestamptz;
    v_made  integer := 0;
begin
    for v_from in
        select m.begins
          from generate_series(v_month - interval '1 month', v_month + p_ahead * interval '1 month',
                               interval '1 month') m (begins)
         where not exists (
                   select from core_private.log_partitions() p
                    where p.from_time < m.begins + interval '1 month' and p.to_time > m.begins)
         order by m.begins
    loop
        perform core_private.create_month(v_from);
        v_made := v_made + 1;
    end loop;
    return v_made;
end $$;
comment on function core_private.create_months(integer) is 'Makes the months of the event log that are missing, from the last one on; returns how many.';
