create or replace function core.switch_watch(p_watch_id bigint, p_on boolean, p_reason text = null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_watch core.watched_tables;
begin
    select * into v_watch from core.watched_tables w where w.watch_id = p_watch_id;
    if not found or core_private.is_hidden(v_watch.namespace) then
        raise exception using errcode = 'NX112', column = 'p_watch_id',
            message = format('there is no watch %s', coalesce(p_watch_id::text, 'NULL')),
            hint = 'core.watch_status has them.';
    end if;
    perform core_private.require_duty(v_watch.namespace, 'operate');
    perform core_private.refuse_borrowed_session();
    if p_on is null then
        raise exception using errcode = 'NX006', column = 'p_on', message = 'p_on is NULL',
            hint = 'Give true or false.';
    end if;
    update core.watched_tables w
       set enabled = p_on, off_reason = case when not p_on then coalesce(p_reason, 'switched off') end
     where w.watch_id = p_watch_id and w.enabled <> p_on;
    if not found then
        return false;
    end if;
    perform core_private.audit(
        'switch_watch', v_watch.namespace, v_watch.relation::text, p_reason, jsonb_build_object('on', p_on));
    return true;
end $$;
comment on function core.switch_watch(bigint, boolean, text) is 'Has the changes of a watched table be no mutations, or be some again; false if that was so. Raises NX006, NX101, NX112, NX401, NX402.';
