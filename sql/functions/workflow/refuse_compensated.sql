create or replace function core_private.refuse_compensated(p_run uuid, p_keys text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text;
begin
    select left(j.key, -5)
      into v_key
      from core_private.workflow_journal j
     where j.run_id = p_run and right(j.key, 5) = '~undo' and j.status = 'c'
       and (p_keys is null or left(j.key, -5) = any (p_keys))
     limit 1;
    if found then
        raise exception using errcode = 'NX227', column = 'p_run_id',
            message = format('run %s is compensated: %s was undone', p_run, v_key),
            hint = 'Start it anew: what was undone cannot be gone on with.';
    end if;
end $$;
comment on function core_private.refuse_compensated(uuid, text[]) is 'Raises NX227 where what has one of these keys, or anything, was undone.';
