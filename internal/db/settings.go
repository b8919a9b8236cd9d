package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// setting is one that a role or a database may have a default of, and what calls of Nexus need it to be.
type setting struct{ name, value string }

var (
	// spoken are about what statements mean and how answers are written.
	spoken = []setting{
		{"client_encoding", "UTF8"},
		{"search_path", "pg_catalog, pg_temp"},
		{"DateStyle", "ISO, MDY"},
		{"IntervalStyle", "postgres"},
		{"extra_float_digits", "1"},
		{"bytea_output", "hex"},
		{"array_nulls", "on"},
		{"standard_conforming_strings", "on"},
		{"quote_all_identifiers", "off"},
		{"transform_null_equals", "off"},
		{"row_security", "on"},
		{"plpgsql.variable_conflict", "error"},
	}

	// transactions are what each one begins with. A claim that sees an old state loses races that it would have won.
	transactions = []setting{
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
	}

	// limits are left to contexts, which end each call in time.
	limits = []setting{
		{"statement_timeout", "0"},
		{"lock_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"idle_session_timeout", "0"},
		{"transaction_timeout", "0"},
	}

	// plans are the planner's choice.
	plans = []setting{
		{"plan_cache_mode", "auto"},
		{"enable_seqscan", "on"},
		{"enable_indexscan", "on"},
		{"enable_indexonlyscan", "on"},
		{"enable_bitmapscan", "on"},
		{"enable_tidscan", "on"},
		{"enable_nestloop", "on"},
		{"enable_hashjoin", "on"},
		{"enable_mergejoin", "on"},
		{"enable_hashagg", "on"},
		{"enable_sort", "on"},
		{"enable_material", "on"},
		{"enable_partition_pruning", "on"},
	}

	// asked are of what is asked once: to compile a plan over the months of the log takes a hundred times as long as to run it.
	asked = []setting{{"jit", "off"}}
)

// OwnSettings puts a new connection that only Nexus uses into the state that its calls need, whatever the login and the database
// have for defaults. Through a pooler, whose connections others use too, it changes nothing.
func OwnSettings(ctx context.Context, conn *pgx.Conn) error {
	return set(ctx, conn, "", spoken, transactions, limits, plans)
}

// PersonSettings is OwnSettings for a connection of a person's. How long a statement may take is theirs to say, and so is whatever the
// connection string asks for: read-only transactions, for one.
func PersonSettings(ctx context.Context, conn *pgx.Conn) error {
	return set(ctx, conn, ` and not exists (select from pg_catalog.pg_settings s where s.name = w.name and s.source = 'client')`, spoken, transactions, asked)
}

func set(ctx context.Context, conn *pgx.Conn, but string, lists ...[]setting) error {
	// The simple protocol works in every mode, and with every setting of how strings are written.
	sql := fmt.Sprintf(`select pg_catalog.set_config(w.name, w.value, false) from (values %s) w (name, value)
		where pg_catalog.pg_backend_pid() = %d and pg_catalog.current_setting(w.name, true) <> w.value%s`, values(lists), conn.PgConn().PID(), but)
	_, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	return Error(ctx, "settings", err)
}

func values(lists [][]setting) string {
	var rows []string
	for _, list := range lists {
		for _, s := range list {
			rows = append(rows, fmt.Sprintf("('%s', '%s')", s.name, s.value))
		}
	}
	return strings.Join(rows, ", ")
}

// Unsettled lists what stands in the way of nodes on a connection that OwnSettings could not change: "name = value".
func Unsettled(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	sql := fmt.Sprintf(`select pg_catalog.format('%%s = %%s', w.name, pg_catalog.current_setting(w.name))
		from (values %s, ('session_replication_role', 'origin')) w (name, value)
		where pg_catalog.current_setting(w.name, true) <> w.value`, values([][]setting{transactions, limits}))
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, Error(ctx, "settings", err)
	}
	var found []string
	for _, r := range results {
		for _, row := range r.Rows {
			found = append(found, string(row[0]))
		}
	}
	return found, nil
}
