-- All that is known of an event, in order of time.
select to_char(h.at at time zone 'UTC', 'HH24:MI:SS.US') || '  ' || h.what from (
    select e.at, format('emitted (%s): %s, %s × %s, wanted: %s%s', e.how, e.type, e.do_what, e.times, e.want, case when e.duplicate then ', duplicate' else '' end) as what
      from chaos.emitted e where e.uid = $1
    union all
    select l.emitted_at, format('in the log as event %s of %s, %s', l.event_id, l.namespace, l.event_type) from core.event_log l where l.event_uid = $1
    union all
    select o.fire_at, format('scheduled for this time; cancel: %s', coalesce(o.outcome, 'none')) from chaos.oneshots o where o.id = $1
    union all
    select j.at, format('%s %s: message %s, attempt %s, deferrals %s, in process %s (%s)', j.kind, j.verdict, j.msg_id, j.attempt, j.deferrals, j.pid, j.mode)
      from chaos.journal j where j.uid = $1
    union all
    select f.at, format('effect: attempt %s, in process %s (%s)', f.attempt, f.pid, f.mode) from chaos.effects f where f.uid = $1
    union all
    select h.failed_at, format('failure of attempt %s: %s, %s: %s', h.attempt, h.action, h.reason, h.error) from core.delivery_errors h where h.event_uid = $1
    union all
    select d.failed_at, format('dead letter %s, round %s: %s after %s attempts; %s', d.dead_letter_id, d.round, d.reason, d.attempts, coalesce(d.resolution, 'unresolved'))
      from core.dead_letters d where d.event_uid = $1
    union all
    select k.at, format('process %s ended: %s', k.pid, k.why) from chaos.deaths k where k.pid in (select j.pid from chaos.journal j where j.uid = $1)
    union all
    select t.from_time, format('%s until %s%s', t.what, to_char(t.to_time at time zone 'UTC', 'HH24:MI:SS.US'), ' in process ' || t.pid)
      from chaos.troubles t, (select min(j.at) as low, max(j.at) as high from chaos.journal j where j.uid = $1) j
     where t.to_time >= j.low - interval '3 seconds' and t.from_time <= j.high + interval '3 seconds'
) h order by h.at
