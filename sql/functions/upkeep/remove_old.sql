-- Retention is this statement, again and again: the oldest rows first, a batch a statement, so that none is long. Rows
-- that somebody holds are left for the next run.
--
-- p_condition is a piece of SQL about x, written by the caller and by nobody else.
create or replace function core_private.remove_old(
    p_table regclass, p_column text, p_until timestamptz, p_limit integer,
    p_stop timestamptz = '-infinity', p_condition text = 'true')
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_closed text[] := core_private.closed_namespaces();
    v_total  integer := 0;
    v_n      integer;
begin
    loop
        execute format($q$
            delete from %1$s d
             using (
                select x.ctid as tid
                  from %1$s x
                 where x.%2$I <= $1 and (x.namespace <> all ($2) or x.namespace is null) and %3$s
                 order by x.%2$I
                 limit $3
                   for update skip locked) old
             where d.ctid = old.tid
            $q$, p_table, p_column, p_condition)
        using p_until, v_closed, p_limit;
        get diagnostics v_n = row_count;
        v_total := v_total + v_n;
        exit when v_n < p_limit or clock_timestamp() > p_stop;
    end loop;
    return v_total;
end $$;
comment on function core_private.remove_old(regclass, text, timestamptz, integer, timestamptz, text) is 'Removes rows of a table whose p_column is p_until or earlier, p_limit a statement, until none is left or p_stop has passed; returns how many. Restricted namespaces that are closed to the caller are left out.';
