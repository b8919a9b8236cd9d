-- A name that is one slip away is likely meant; then, and where nobody would have made a new one here, creating it is
-- no mend. Restricted namespaces are not named to anybody.
create or replace function core_private.fail_unknown_namespace(
    p_namespace text, p_field text = 'p_namespace', p_may_be_new boolean = true)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_meant text;
begin
    perform core_private.check_namespace_name(p_namespace, 'NX001', p_field);
    select n.namespace
      into v_meant
      from core.namespaces n
     where not n.restricted and abs(length(n.namespace) - length(p_namespace)) <= 1
       and exists (
           select
             from generate_series(0, length(p_namespace)) i
            where left(n.namespace, i) = left(p_namespace, i)
              and (substr(n.namespace, i + 2) = substr(p_namespace, i + 2)
                   or substr(n.namespace, i + 1) = substr(p_namespace, i + 2)
                   or substr(n.namespace, i + 2) = substr(p_namespace, i + 1)
                   or substr(n.namespace, i + 3) = substr(p_namespace, i + 3)
                      and substr(n.namespace, i + 1, 2) = reverse(substr(p_namespace, i + 1, 2))))
     order by n.namespace
     limit 1;
    raise exception using errcode = 'NX101', column = p_field,
        message = format('there is no namespace %s', quote_literal(p_namespace)),
        hint = concat_ws(' ', 'There is ' || quote_literal(v_meant) || ': is that meant?',
            case when p_may_be_new
                 then case when v_meant is not null then 'Else: ' else '' end
                      || format('select core.create_namespace(%L);', p_namespace)
                 when v_meant is null then 'Namespaces are listed in core.namespaces.' end);
end $$;
comment on function core_private.fail_unknown_namespace(text, text, boolean) is 'Raises NX001 for a name that cannot be, else NX101, with the name that may be meant.';
