package nexussql_test

import (
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Each function of core is called with all arguments NULL, and with each of them NULL beside values that fit its type. It works or
// raises a code of ours; what Postgres says of a NULL deep inside names neither the argument nor the mend.
const nullCalls = `
create function public.raw_errors() returns setof text language plpgsql as $f$
declare
	r      record;
	v_args text;
	v_code text;
	v_text text;
begin
	for r in
		select p.oid, p.pronamespace::regnamespace::text as schema, p.proname, p.pronargs, p.proargtypes, p.proargnames from pg_proc p
		 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace) and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
	loop
		for i in 0 .. r.pronargs loop
			select string_agg(case
			           when i in (0, n) then format('null::%s', format_type(t, null))
			           when r.proargnames[n] = 'p_namespace' then quote_literal('shop')
			           when r.proargnames[n] = 'p_queue' then quote_literal('core_events_shop')
			           when t = 'text'::regtype then quote_literal('default')
			           when t in ('integer'::regtype, 'bigint'::regtype) then '1'
			           when t = 'boolean'::regtype then 'true'
			           when t = 'interval'::regtype then quote_literal('1 s')
			           when t = 'timestamptz'::regtype then 'now()'
			           when t = 'uuid'::regtype then 'gen_random_uuid()'
			           when t = 'jsonb'::regtype then quote_literal('{}')
			           when t = 'text[]'::regtype then quote_literal('{default}')
			           when t in ('integer[]'::regtype, 'bigint[]'::regtype) then quote_literal('{1}')
			           when t = 'interval[]'::regtype then quote_literal('{1 s}')
			           when t = 'jsonb[]'::regtype then 'array[''{}'']::jsonb[]'
			           else format('null::%s', format_type(t, null)) end, ', ' order by n)
			  into v_args from unnest(r.proargtypes) with ordinality u(t, n);
			begin
				execute format('select %I.%I(%s)', r.schema, r.proname, coalesce(v_args, ''));
				raise exception using errcode = 'P9999';
			exception when others then
				get stacked diagnostics v_code = returned_sqlstate, v_text = message_text;
				if v_code !~ '^(NX|P9999)' then
					return next format('core.%s(%s): %s %s', r.proname, v_args, v_code, v_text);
				end if;
			end;
		end loop;
	end loop;
end $f$`

// holds: hostile-arguments, null-arguments
func TestNullArgumentsAreRefusedByName(t *testing.T) {
	db := dbtest.New(t)
	db.Namespace("shop")
	db.Exec(nullCalls)
	for _, e := range column(t, db, "select public.raw_errors()") {
		t.Error(e)
	}
}
