-- A character has up to four bytes.
create or replace function core_private.abandon_request(
    p_inbox_id uuid, p_namespace text, p_target text, p_event_uid uuid, p_status integer, p_why text,
    p_reply jsonb, p_error text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_summary text := coalesce(p_error, p_reply::text);
begin
    insert into core.abandoned_executions (
        inbox_id, namespace, target, event_uid, status, why, summary, created_at)
    values (
        p_inbox_id, p_namespace, p_target, p_event_uid, p_status, p_why,
        case when octet_length(v_summary) <= 4096 then v_summary else left(v_summary, 1023) || '…' end, p_now);
end $$;
comment on function core_private.abandon_request(uuid, text, text, uuid, integer, text, jsonb, text, timestamptz) is 'Writes an abandoned execution.';
