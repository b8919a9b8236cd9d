package invoke

import "testing"

// holds: session
func TestPlainStatements(t *testing.T) {
	for sql, want := range map[string]bool{
		`insert into public.effect values ($1, $2, $3)`:                                            true,
		`INSERT INTO effect (a, b) VALUES ($1, now()) ON CONFLICT (a) DO NOTHING;`:                 true,
		"-- name: GetOrder :one\nselect id, total from orders where id = $1 and a in (1, 2)":       true,
		`update customers set orders = orders + 1 where name = 'set role (x)'`:                     true,
		`with a as (select 1) delete from t using a where exists (select from b where b.id = t.x)`: true,
		`select count(*) from core.emit($1, $2)`:                                                   true,
		`select "weird name" from t where (a = b) and $1::numeric(10, 2) > 0`:                      true,
		`select set_config('app.tenant', $1, true)`:                                                false,
		`select x.set_tenant($1)`:                                                                  false,
		`select count(*), SET_CONFIG('role', 'x', false) from t`:                                   false,
		`select * into temp t from u`:                                                              false,
		`set local role app`:                                                                       false,
		`  SET statement_timeout = 1`:                                                              false,
		`select 1; set role app`:                                                                   false,
		`do $$ begin perform 1; end $$`:                                                            false,
		`select $q$ x $q$`:                                                                         false,
		`select /* ' */ f() /* ' */`:                                                               false,
		`select E'\'', set_config('role', 'x', false), '\''`:                                       false,
		`select "f"('x')`:                                                                          false,
		`create temp table x ()`:                                                                   false,
		`call p()`:                                                                                 false,
		``:                                                                                         false,
		`--`:                                                                                       false,
	} {
		if got := plain(sql); got != want {
			t.Errorf("plain(%s) = %v", sql, got)
		}
	}
	for sql, want := range map[string]bool{"listen x": true, " PREPARE a as select 1": true, "set role x": false, "select 1": false} {
		if got := lasts(sql); got != want {
			t.Errorf("lasts(%s) = %v", sql, got)
		}
	}
}
