package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/queue"
)

// valuesOf are the words that flags take, for the shell. A confirmation is not among them: it is there to be typed.
var valuesOf = map[string][]string{
	"output": {asTable, asJSON}, "retry-shape": {"exponential", "linear", "constant"}, "misfire": {"skip", "fire_once", "backfill"},
	"overlap": {"allow", "skip", "queue_one"}, "source": readmodel.SourceKinds, "status": {"pending", "appended", "cancelled", "failed"},
	"as": {"handled_by_handler", "ignored"}, "default-consumer": {"on", "off"}, "dedupe-while": {string(queue.WhileQueued), string(queue.WhilePending)},
	"reset": resettable,
}

// namesOf are the selects of what arguments and flags name, by the command that holds the verb and the argument: those that begin with $1, of
// the namespace $2.
var namesOf = map[string]string{
	"namespace NAME": `select namespace as name from core.namespaces where pg_catalog.starts_with(namespace, $1::text) and $2::text is not null`,
	"task NAME":      `select name from core.scheduled_tasks where pg_catalog.starts_with(name, $1::text) and namespace = $2::text`,
	"consumer NAME":  `select name from core.consumers where pg_catalog.starts_with(name, $1::text) and namespace = $2::text`,
	"handler NAME":   `select consumer as name from core.sql_handlers where pg_catalog.starts_with(consumer, $1::text) and namespace = $2::text`,
	"queue QUEUE":    `select queue_name as name from core.queues where pg_catalog.starts_with(queue_name, $1::text) and $2::text in ('', namespace)`,
	"node ID":        `select node_id as name from core.nodes where pg_catalog.starts_with(node_id, $1::text) and $2::text in ('', namespace)`,
}

const (
	mostCompleted  = 200
	completeWithin = 2 * time.Second // a person who pressed Tab waits for it
)

// complete teaches the shell the words of every command: those that flags take, and what there is in the database.
func complete(s *session, cmd *cobra.Command) {
	for name, values := range valuesOf {
		if cmd.LocalNonPersistentFlags().Lookup(name) != nil || !cmd.HasParent() && cmd.PersistentFlags().Lookup(name) != nil {
			must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
		}
	}
	if !cmd.HasParent() {
		must(cmd.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return s.names(cmd, namesOf["namespace NAME"], begun)
		}))
	} else if !cmd.HasSubCommands() && !strings.Contains(cmd.Use, "FILE") {
		cmd.ValidArgsFunction = s.completeArgument
	}
	for _, child := range cmd.Commands() {
		complete(s, child)
	}
}

// completeArgument offers what the argument at this place may be.
func (s *session) completeArgument(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	places := strings.Fields(cmd.Use)[1:]
	if len(args) >= len(places) || !cmd.HasParent() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	switch place := strings.Trim(places[len(args)], "[]"); {
	case place == "DUTY":
		return duties, cobra.ShellCompDirectiveNoFileComp
	case namesOf[cmd.Parent().Name()+" "+place] != "":
		return s.names(cmd, namesOf[cmd.Parent().Name()+" "+place], begun)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// names asks the database. Where it is away, or shows this login nothing, there is nothing to offer.
func (s *session) names(cmd *cobra.Command, sql, begun string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	s.quick = true
	var names []string
	err := s.connected(cmd, func(c *client) error {
		records, err := c.read("complete", sql+" order by 1 limit $3::bigint", begun, c.cfg.Namespace, mostCompleted)
		for _, r := range records {
			names = append(names, printable(r.Texts()[0]))
		}
		return err
	})
	if err != nil {
		return nil, none
	}
	return names, none
}

// must is for what only a mistake in this package makes fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
