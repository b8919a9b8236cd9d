-- owner: nexus_scheduler
-- What the database or the role has for defaults is meant for others: jobs write, see what was committed, and have
-- limits of their own. A role may set its own defaults.
create or replace function core_private.set_job_defaults()
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_setting record;
    v_set     integer := 0;
begin
    for v_setting in
        select w.name, w.value
          from (values ('default_transaction_isolation', 'read committed'), ('default_transaction_read_only', 'off'),
                       ('default_transaction_deferrable', 'off'), ('statement_timeout', '0'), ('lock_timeout', '0'),
                       ('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0'),
                       ('standard_conforming_strings', 'on'), ('row_security', 'on')) w (name, value)
         where current_setting(w.name, true) is not null
           and not exists (
                   select from pg_db_role_setting s
                    cross join unnest(s.setconfig) c (line)
                    where s.setrole = current_user::regrole
                      and c.line = w.name || '=' || w.value
                      and s.setdatabase = (select d.oid from pg_database d where d.datname = current_database()))
    loop
        execute format('alter role %I in database %I set %I = %L',
                       current_user, current_database(), v_setting.name, v_setting.value);
        v_set := v_set + 1;
    end loop;
    return v_set;
end $$;
comment on function core_private.set_job_defaults() is 'Gives nexus_scheduler, as which pg_cron runs the jobs of this database, the defaults that these need; returns how many were others.';
