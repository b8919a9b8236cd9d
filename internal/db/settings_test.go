// holds: E3

package db_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// hostile are defaults that Nexus's own connections must not have, and what they are put back to.
var hostile = map[string][2]string{
	"default_transaction_isolation":       {"serializable", "read committed"},
	"default_transaction_read_only":       {"on", "off"},
	"default_transaction_deferrable":      {"on", "off"},
	"statement_timeout":                   {"2s", "0"},
	"lock_timeout":                        {"2s", "0"},
	"idle_in_transaction_session_timeout": {"2s", "0"},
	"search_path":                         {"public", "pg_catalog, pg_temp"},
	"\"DateStyle\"":                       {"German", "ISO, MDY"},
	"\"IntervalStyle\"":                   {"iso_8601", "postgres"},
	"extra_float_digits":                  {"-15", "1"},
	"bytea_output":                        {"escape", "hex"},
	"row_security":                        {"off", "on"},
	"standard_conforming_strings":         {"off", "on"},
	"quote_all_identifiers":               {"on", "off"},
	"client_encoding":                     {"LATIN1", "UTF8"},
	"enable_indexscan":                    {"off", "on"},
	"plan_cache_mode":                     {"force_generic_plan", "auto"},
}

// holds: settings
func TestOwnSettings(t *testing.T) {
	d := dbtest.New(t)
	name := d.Owner.Config().ConnConfig.Database
	for setting, v := range hostile {
		d.Exec("alter database " + name + " set " + setting + " = '" + v[0] + "'")
	}
	get := func(conn *pgx.Conn, setting string) string {
		r, err := conn.PgConn().Exec(t.Context(), "show "+setting).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return string(r[0].Rows[0][0])
	}
	connect := func(rawURL string) *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), rawURL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}

	conn := connect(d.URL)
	if found, err := db.Unsettled(t.Context(), conn); err != nil || len(found) != 6 {
		t.Errorf("in the way are %q, %v", found, err)
	}
	if err := db.OwnSettings(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	for setting, v := range hostile {
		if got := get(conn, setting); got != v[1] {
			t.Errorf("%s is %s, want %s", setting, got, v[1])
		}
	}
	if found, err := db.Unsettled(t.Context(), conn); err != nil || len(found) > 0 {
		t.Errorf("still in the way are %q, %v", found, err)
	}

	// What a person asks for in the connection string stays, and so do limits.
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("default_transaction_read_only", "on")
	u.RawQuery = q.Encode()
	conn = connect(u.String())
	if err := db.PersonSettings(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{
		"default_transaction_read_only": "on", "default_transaction_isolation": "read committed", "statement_timeout": "2s", "client_encoding": "UTF8",
		"jit": "off",
	} {
		if got := get(conn, setting); got != want {
			t.Errorf("of a person's connection, %s is %s, want %s", setting, got, want)
		}
	}
}
