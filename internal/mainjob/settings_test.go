package mainjob_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/mainjob"
)

// settings are what a role or a database may have been given for reasons of its own. The first few are tried in short runs.
var settings = []string{
	"default_transaction_isolation = 'repeatable read'",
	"default_transaction_read_only = on",
	"row_security = off",
	"DateStyle = 'SQL, DMY'",
	"IntervalStyle = 'sql_standard'",
	"default_transaction_isolation = 'serializable'",
	"default_transaction_deferrable = on",
	"statement_timeout = '1s'",
	"lock_timeout = '200ms'",
	"idle_in_transaction_session_timeout = '500ms'",
	"search_path = ''",
	"search_path = 'pg_temp, public, nowhere'",
	"DateStyle = 'German'",
	"DateStyle = 'Postgres, MDY'",
	"IntervalStyle = 'iso_8601'",
	"IntervalStyle = 'postgres_verbose'",
	"TimeZone = 'America/St_Johns'",
	"TimeZone = 'Asia/Kolkata'",
	"extra_float_digits = -15",
	"bytea_output = 'escape'",
	"standard_conforming_strings = off",
	"backslash_quote = off",
	"quote_all_identifiers = on",
	"plpgsql.variable_conflict = 'use_variable'",
	"plpgsql.variable_conflict = 'use_column'",
	"client_encoding = 'LATIN1'",
	"work_mem = '64kB'",
	compiled,
	"array_nulls = off",
	"transform_null_equals = on",
	"xmloption = 'document'",
	"default_toast_compression = 'pglz'",
	"synchronous_commit = off",
	"enable_hashjoin = off",
	"enable_nestloop = off",
	"enable_indexscan = off",
	"enable_seqscan = off",
	"plan_cache_mode = 'force_generic_plan'",
	"plan_cache_mode = 'force_custom_plan'",
	"constraint_exclusion = 'off'",
	"enable_partition_pruning = off",
	"client_min_messages = 'debug1'",
	"check_function_bodies = off",
}

// compiled has every plan compiled; the servers of tests have jit off.
const compiled = "jit_above_cost = 0"

// A8: the main job under each setting, of the database, which all have it from, and of the roles that take part: by turns, a third of them
// each day, and with NEXUS_TEST_LONG all and each both ways. What -run names is tried.
// holds: settings (the main job under each)
func TestSettings(t *testing.T) {
	t.Parallel()
	all := os.Getenv("NEXUS_TEST_LONG") != "" || strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	for i, setting := range settings {
		if testing.Short() && i >= 5 {
			break
		}
		if !testing.Short() && !all && i%3 != time.Now().YearDay()%3 {
			continue
		}
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			if setting == compiled && os.Getenv("NEXUS_TEST_LONG") == "" {
				t.Skip("a minute of compiling: make test-long sets NEXUS_TEST_LONG")
			}
			for n, whose := range []string{"database", "roles"} {
				if n != i%2 && os.Getenv("NEXUS_TEST_LONG") == "" {
					continue
				}
				t.Run(whose, func(t *testing.T) {
					t.Parallel()
					db := dbtest.New(t)
					name := db.Owner.Config().ConnConfig.Database
					set := func(setting string) {
						if whose == "database" {
							db.Exec("alter database " + name + " set " + setting)
							return
						}
						for _, role := range []string{dbtest.Login, "postgres", "nexus_scheduler"} {
							db.Exec("alter role " + role + " in database " + name + " set " + setting)
						}
					}
					set(setting)
					if setting == compiled {
						set("jit = on")
					}
					if err := mainjob.Run(t.Context(), as(db)); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}
