package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// offered is what a shell is offered after this line.
func offered(s *shell, line string) string {
	s.t.Helper()
	out := s.ok(append([]string{"__complete"}, strings.Split(line, " ")...)...)
	words := strings.Fields(out)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, ":") }), " ")
}

// holds: completion (as a reader, and without a database)
func TestCompletion(t *testing.T) {
	db, s := onDatabase(t)
	for _, ns := range []string{"shop", "sale", "mall"} {
		db.Namespace(ns)
	}
	db.Exec("select core.schedule_task('shop', 'close-day', '@daily', 'a'), core.schedule_task('shop', 'ping', '@hourly', 'a'), core.schedule_task('mall', 'other', '@daily', 'a')")
	db.Exec("select core_node.register_node('shop', 'shop-1', true, '{}'), core_node.register_node('mall', 'mall-1', true, '{}')")
	db.Exec("select core.create_consumer('shop', 'mailer', '{a}'), core.create_consumer('mall', 'stock', '{a}')")
	s.as(db, "nexus_reader")
	for line, want := range map[string]string{
		"events list -n s":                        "sale shop",
		"namespace show ":                         "mall sale shop",
		"namespace grant shop nexus_reader ":      "produce consume operate read",
		"task pause -n shop ":                     "close-day ping",
		"task history -n shop c":                  "close-day",
		"task pause ":                             "",
		"task pause -n shop ping ":                "",
		"node drain -n shop ":                     "shop-1",
		"consumer pause -n shop ":                 "default mailer",
		"consumer alter -n shop x --reset ":       "retry unhandled-after max-in-flight rate levels",
		"queue purge core_events_m":               "core_events_mall core_events_mall__stock core_events_mall_dlq",
		"task schedule x @daily a --overlap ":     "allow skip queue_one",
		"dlq resolve --as ":                       "handled_by_handler ignored",
		"version -o ":                             "table json",
		"queue purge core_events_mall --confirm ": "",
	} {
		if got := offered(s, line); got != want {
			t.Errorf("%s offers %q, want %q", line, got, want)
		}
	}
	// Who may see nothing, and a database that is away, leave the shell with nothing, and with no error.
	s.cfg.DatabaseURL = db.URL
	if got := offered(s, "namespace show "); got != "" {
		t.Errorf("a login without a role is offered %q", got)
	}
	s.cfg.DatabaseURL = "postgres://me@127.0.0.1:1/app"
	if got := offered(s, "namespace show "); got != "" {
		t.Errorf("without a database it offers %q", got)
	}
}

// A flag that says which words it takes is completed with them.
// holds: completion
func TestEnumsAreCompleted(t *testing.T) {
	each(t, func(cmd *cobra.Command) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			for name, values := range valuesOf {
				if f.Name != name {
					continue
				}
				complete, known := cmd.GetFlagCompletionFunc(name)
				if !known {
					t.Errorf("%s --%s is not completed", cmd.CommandPath(), name)
					continue
				}
				if got, _ := complete(cmd, nil, ""); !slices.Equal(got, values) {
					t.Errorf("%s --%s offers %v", cmd.CommandPath(), name, got)
				}
			}
		})
	})
}
