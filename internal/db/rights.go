package db

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// callers says which duty's role may call a function, as sql/roles/grants.sql does; a test compares the two. It is here and not asked of the
// catalog, since the refusal has aborted the transaction in which one would ask.
var callers = []struct {
	roles     []string
	functions string
}{
	{[]string{"nexus_reader"}, `peek count_queue missing_parts unregistered_queues wanted_sweeps log_partitions blockers event_status
		find_event unhandled_types cron_jobs cron_job_runs own_cron_drift others_cron_jobs cron_drift`},
	{[]string{"nexus_reader", "nexus_producer", "nexus_consumer"}, `now namespaces_read_by schema_version create_namespace require_namespace
		visible_namespaces next_runs`},
	{[]string{"nexus_producer", "nexus_operator"}, `schedule_task pause_task resume_task delete_task run_task_now apply_tasks backfill_task run_scheduled_task
		append_event_log schedule_event reschedule_event cancel_scheduled_event`},
	{[]string{"nexus_producer"}, `emit emit_batch`},
	{[]string{"nexus_producer", "nexus_consumer", "nexus_reader"}, `queue_name_for_namespace dead_letter_queue_name_for_namespace`},
	{[]string{"nexus_consumer"}, `ack consumer_settings metrics_sample claim claim_batch claim_these open_express settle_batch close_express
		recall_express node_process refuse_commit settle settle_and_claim extend promote_delayed next_delayed_due look fire_due_events unpark
		wait_for_wake retry_delay register_node heartbeat touch_node_heartbeat must_drain reap_nodes`},
	{[]string{"nexus_consumer", "nexus_operator"}, `fire_due tick`},
	{[]string{"nexus_operator"}, `may_operate is_operated_by replay_dead_letter replay_dead_letters discard_dead_letter discard_dead_letters
		preview_dead_letters resolve_dead_letter resolve_dead_letters purge_queue cancel_deliveries run_deliveries_now drain_node forget_node`},
	{[]string{"nexus_admin"}, `register_namespace alter_namespace alter_scheduler sync_cron_jobs repair_cron drop_namespace grant_namespace
		revoke_namespace repair_partitions run_sweep maintain_partitions`},
}

// rolesFor returns the roles that may call a function of Nexus, without its schema; none if it is no such function, or none may.
func rolesFor(function string) []string {
	for _, c := range callers {
		if slices.Contains(strings.Fields(c.functions), function) {
			return c.roles
		}
	}
	return nil
}

// grantHint says which role it takes to do what Postgres refused, and how it is given. The message has the name of what was refused as its
// last word, in each of Postgres's languages but a few; op is the function that was called.
func grantHint(op string, pg *pgconn.PgError, login string) string {
	var roles []string
	name := lastName.FindString(pg.Message)
	for _, function := range []string{name, op} {
		if roles = rolesFor(function); roles != nil {
			break
		}
	}
	if roles == nil {
		if pg.Where != "" {
			return "" // a function of somebody else met something of his own
		}
		// Tables and views are open to the reader.
		roles = []string{"nexus_reader"}
	}
	to := "the login of this connection"
	if login != "" {
		to = identifier(login) + ";"
	}
	return "it takes the role " + strings.Join(roles, " or ") + ": grant " + roles[0] + " to " + to
}

var (
	lastName  = regexp.MustCompile(`[a-z_0-9]+$`)
	plainName = regexp.MustCompile(`^[a-z_][a-z_0-9]*$`)
)

func identifier(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

// loginOf returns the user that q is connected as, "" where that cannot be known without asking: behind database/sql, and in what a user
// wrapped.
func loginOf(q any) string {
	v := reflect.ValueOf(q)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	switch q := q.(type) {
	case *pgx.Conn:
		return q.Config().User
	case interface{ Conn() *pgx.Conn }: // transactions and connections of a pool
		if c := q.Conn(); c != nil {
			return c.Config().User
		}
	}
	// A pool, whose package is not linked for the sake of a hint.
	if config := v.MethodByName("Config"); config.IsValid() && config.Type().NumIn() == 0 && config.Type().NumOut() == 1 {
		if c := reflect.Indirect(config.Call(nil)[0]); c.Kind() == reflect.Struct {
			if f := c.FieldByName("ConnConfig"); f.IsValid() {
				if conn, ok := f.Interface().(*pgx.ConnConfig); ok && conn != nil {
					return conn.User
				}
			}
		}
	}
	return ""
}
