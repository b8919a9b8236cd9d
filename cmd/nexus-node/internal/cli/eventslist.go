package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newEventsList(s *session) *cobra.Command {
	var (
		p                        page
		eventType, since, before string
	)
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List events of the log, the newest first",
		Long: `List events of the log, the newest first, without their payloads, which "events show" has. Of all namespaces they come in the order of
their ids. Events of transactions that are still open are not there yet: "events tail" follows them.`,
		Example: `  nexus-node events list -n shop --type 'order.*'
  nexus-node events list -n shop --since 2026-11-01T00:00:00Z --before 2026-11-02T00:00:00Z -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(p.check(cmd), typePattern(cmd, eventType)); err != nil {
				return err
			}
			begin, err := sinceFlag(cmd, since, time.Now())
			if err != nil {
				return err
			}
			end, err := timeFlag(cmd, "before", before)
			if err != nil {
				return err
			}
			cfg, pool, err := s.connectToList(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			l := listing{
				what:  "list events",
				sql:   `select event_id, namespace, event_type, emitted_at, producer_node_id, correlation_id, event_uid from core.event_log where true`,
				names: []string{"event_id", "namespace", "event_type", "emitted_at", "producer_node_id", "correlation_id", "event_uid"},
				keys:  []key{{"event_id", "bigint"}},
				desc:  true,
			}
			// Only what was asked for is in the statement, so that an index of just that can serve it.
			if !begin.IsZero() {
				l.where("emitted_at >= $%d::timestamptz", begin)
			}
			if !end.IsZero() {
				l.where("emitted_at < $%d::timestamptz", end)
			}
			if cfg.Namespace == "" {
				l.ofType("event_type", eventType)
				return s.printPage(cmd, pool, l, p)
			}
			l.keys = []key{{"emitted_at", "timestamptz"}, {"event_id", "bigint"}}
			l.where("event_type = e.event_type and emitted_at <= e.newest and namespace = $%d::text", cfg.Namespace)
			prefix, isPattern := strings.CutSuffix(eventType, "*")
			l.args = append(l.args, prefix)
			l.each = fmt.Sprintf(either(isPattern || eventType == "", typesOf, typeOf), len(l.args)-1, len(l.args))
			return s.printPage(cmd, pool, l, p)
		},
	}
	p.add(cmd)
	f := cmd.Flags()
	f.StringVar(&eventType, "type", "", `only of this event type or pattern, such as "order.*"`)
	f.StringVar(&since, "since", "", "only those emitted at or after this time, RFC 3339, or this long ago: 10m")
	f.StringVar(&before, "before", "", "only those emitted before this time, RFC 3339")
	return cmd
}

// typesOf selects the event types with a prefix of a namespace, and when the newest event of each was emitted, beyond which no month need be looked
// at. The only index that has a namespace's events has them by type: so types are found by skipping from one to the next. typeOf is one of them.
const (
	typesOf = `with recursive t as (
		(select event_type, emitted_at as newest from core.event_log where namespace = $%[1]d::text order by event_type, emitted_at desc limit 1)
		union all
		select n.* from t cross join lateral
		       (select x.event_type, x.emitted_at from core.event_log x where x.namespace = $%[1]d::text and x.event_type > t.event_type
		         order by x.event_type, x.emitted_at desc limit 1) n)
		select t.event_type, t.newest from t where pg_catalog.starts_with(t.event_type, $%[2]d::text)`
	typeOf = `select event_type, emitted_at as newest from core.event_log
		where namespace = $%[1]d::text and event_type = $%[2]d::text order by emitted_at desc limit 1`
)

func newEventsAttempts(s *session) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:   "attempts ID|UID",
		Short: "List the failed attempts of an event, the newest first, with what each failed of",
		Long: `List the failed attempts of an event's deliveries, the newest first: which consumer, which node, the error, and when the next was due.
They are kept for seven days. What the event has come to is said by "events status".`,
		Example: `  nexus-node events attempts 4711
  nexus-node events attempts 019a6f0e-8f0a-7cc2-9a51-3d1f0a4a7e55 -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			where, id, err := eventKey(cmd, args[0])
			if err != nil {
				return err
			}
			if err := p.check(cmd); err != nil {
				return err
			}
			_, pool, err := s.connect(cmd)
			if err != nil {
				return err
			}
			defer pool.Close()
			// The event names its namespace; only -n still counts.
			if err := visible(cmd.Context(), pool, s.namespace); err != nil {
				return err
			}
			uid := id
			if _, isID := id.(int64); isID { // errors are found by the UID
				events, err := selectRecords(cmd.Context(), pool, "look for the event",
					"select event_uid from core.event_log where "+where+" limit 1", id)
				if err != nil {
					return err
				}
				if len(events) == 0 {
					return noEvent(args[0])
				}
				uid = events[0].texts()[0]
			}
			l := listing{
				what: "list attempts",
				sql: `select error_id, namespace, consumer, attempt, action, reason, error, node_id, failed_at, due_at, msg_id
				   from core.delivery_errors where event_uid = $1::text::uuid`,
				args:  []any{uid},
				names: []string{"error_id", "namespace", "consumer", "attempt", "action", "reason", "error", "node_id", "failed_at", "due_at", "msg_id"},
				keys:  []key{{"error_id", "bigint"}},
				desc:  true,
			}
			if s.namespace != "" {
				l.where("namespace = $%d::text", s.namespace)
			}
			return s.printPage(cmd, pool, l, p)
		},
	}
	p.add(cmd)
	return cmd
}

func noEvent(arg string) error {
	return &notFound{
		"no event " + quote(arg) + " that you may see",
		"events are kept for six months; an id is that of core.event_log, not of a message on a queue",
	}
}
