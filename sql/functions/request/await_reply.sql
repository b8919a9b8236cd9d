-- Looks at a quarter of the time that has passed, so that a quick reply is seen soon and a slow one costs little. The
-- caller's transaction stays open meanwhile, and would see nothing new at a higher level of isolation.
create or replace function core.await_reply(
    p_inbox_id uuid, p_timeout interval = '30 s',
    out state text, out status integer, out reply jsonb, out error text)
returns record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_begin timestamptz := clock_timestamp();
    v_past  double precision;
    v_for   double precision;
begin
    perform core_private.require_read_committed('core.await_reply');
    if p_timeout is null or p_timeout < interval '0' or p_timeout > interval '5 min' then
        raise exception using errcode = 'NX006', column = 'p_timeout',
            message = format('p_timeout cannot be %s', coalesce(p_timeout::text, 'NULL')),
            hint = 'Give up to 5 minutes.';
    end if;
    v_for := extract(epoch from p_timeout);
    loop
        select t.state, t.status, t.reply, t.error
          into state, status, reply, error
          from core.take_reply(p_inbox_id) t;
        v_past := extract(epoch from clock_timestamp() - v_begin);
        exit when status is not null or v_past >= v_for;
        perform pg_sleep(least(greatest(v_past / 4, 0.001), 0.05, v_for - v_past));
    end loop;
end $$;
comment on function core.await_reply(uuid, interval) is 'core.take_reply, waiting for up to p_timeout (5 min at most) until there is a reply or the request has expired; after that state is waiting or running, and it may be asked again. The caller''s transaction stays open meanwhile. Raises 55000 unless that is read committed, NX006, NX113, NX219, NX401, NX402.';
