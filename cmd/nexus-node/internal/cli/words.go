package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// What functions of the core refuse they tell in words of SQL. A person who typed a command knows its flags and arguments, so those are named
// in their place, and where the remedy is a call that is a command too, the command.

// wordsOf are the names on the command line of what SQL calls otherwise; the first that the command has is meant. What is not here is a
// flag of the same name.
var wordsOf = map[string][]string{
	"p_namespace": {"namespace NAME", "--namespace"}, "p_name": {"NAME"}, "p_event_type": {"TYPE", "--type"}, "p_event_types": {"TYPE"},
	"p_payload": {"PAYLOAD", "--payload"}, "p_payloads": {"PAYLOAD"}, "p_queue": {"QUEUE"}, "p_node_id": {"ID"}, "p_dead_letter_id": {"ID"},
	"p_schedule_id": {"ID", "--id"}, "schedule_id": {"ID", "--id"}, "p_ids": {"ID"}, "ids": {"ID"}, "p_event_id": {"ID"}, "p_task_id": {"NAME"},
	"p_reason": {"--note", "--reason"}, "p_resolution": {"--as"}, "p_cron_expression": {"CRON", "--cron"}, "cron_expression": {"CRON", "--cron"},
	"p_cron": {"CRON", "--cron"}, "p_fire_at": {"--at"}, "p_role": {"ROLE"}, "p_from_role": {"FROM"}, "p_to_role": {"TO"}, "p_consumer": {"consumer NAME", "webhook NAME", "handler NAME", "--consumer"},
	"p_patterns": {"--pattern", "PATTERN"}, "p_pattern": {"PATTERN"}, "p_function": {"FUNCTION"}, "p_collection": {"COLLECTION"}, "p_lane": {"LANE"}, "p_seq": {"--message"}, "p_body": {"BODY"}, "p_body_type": {"--type"}, "p_target": {"TARGET"}, "p_key": {"KEY"}, "p_value": {"VALUE"}, "p_dead_letter_ids": {"ID"}, "p_claim_token": {"--claim"}, "p_claim_tokens": {"--claim"}, "match_back": {"--match-back", "--from"}, "p_version": {"VERSION", "--if-version"}, "p_duty": {"DUTY"}, "p_producer_node_id": {"--producer"},
	"producer_node_id": {"--producer"}, "headers": {"--header"}, "tags": {"--tag"}, "retry.max_attempts": {"--max-attempts"},
}

// inWords is the flag or argument of the command that the name of SQL stands for, or the name itself.
func inWords(cmd *cobra.Command, name string) string {
	if cmd == nil {
		return name
	}
	known, listed := wordsOf[name]
	if !listed {
		known = []string{"--" + strings.NewReplacer("_", "-", ".", "-").Replace(strings.TrimPrefix(name, "p_"))}
	}
	for _, word := range known {
		if flag, is := strings.CutPrefix(word, "--"); is {
			if cmd.Flags().Lookup(flag) != nil {
				return word
			}
			continue
		}
		if of, argument, narrow := strings.Cut(word, " "); narrow { // only there: NAME is a task's elsewhere
			if !cmd.HasParent() || cmd.Parent().Name() != of {
				continue
			}
			word = argument
		}
		if slices.ContainsFunc(strings.Fields(cmd.Use)[1:], func(w string) bool { return strings.Trim(w, "[].") == word }) {
			return word
		}
	}
	return name
}

// parameter is a name of an argument in a sentence; what is quoted is somebody's text.
var parameter = regexp.MustCompile(`'?\bp_[a-z_]+\b`)

// calls are those that a hint names and a command does.
var calls = []struct {
	sql     *regexp.Regexp
	command string
}{
	{regexp.MustCompile(`select core\.create_namespace\('([a-z0-9_-]+)'\);?`), "nexus-node namespace create $1"},
	{regexp.MustCompile(`select core\.create_namespace\('([a-z0-9_-]+)', '[^;]*'\);?`), "nexus-node namespace create $1, with the same flags,"},
	{regexp.MustCompile(`select core\.alter_namespace\('([a-z0-9_-]+)', '\{"default_consumer": "off"\}'\);?`), "nexus-node namespace alter $1 --default-consumer off"},
	{regexp.MustCompile(`select core\.drop_consumer\('([a-z0-9_-]+)', '([a-z0-9_-]+)', true\);?`), "nexus-node consumer drop -n $1 $2 --confirm $2 --force"},
	{regexp.MustCompile(`select core\.alter_namespace\('([a-z0-9_-]+)', [^;]*\);?`), "nexus-node namespace alter $1, with the same flags"},
	{regexp.MustCompile(`select core\.drop_namespace\('([a-z0-9_-]+)', '[a-z0-9_-]+', true\);?`), "nexus-node namespace drop $1 --confirm $1 --force"},
	{regexp.MustCompile(`select core\.drop_namespace\('([a-z0-9_-]+)', '[a-z0-9_-]+'\);?`), "nexus-node namespace drop $1 --confirm $1"},
	{regexp.MustCompile(`(?:select )?core\.grant_namespace\('([a-z0-9_-]+)', '([A-Za-z0-9_.-]+)', '([a-z]+)'\);?`), "nexus-node namespace grant $1 $2 $3"},
	{regexp.MustCompile(`select \* from core\.purge_queue\('([a-z0-9_]+)', '[a-z0-9_]+'\);?`), "nexus-node queue purge $1 --confirm $1"},
	{regexp.MustCompile(`select core\.forget_node\([^;]*\); or: nexus-node`), "nexus-node"},
	{regexp.MustCompile(`select core\.outbox_drop_queue\('([a-z0-9_-]+)', '([a-z0-9_-]+)', true\);?`), "nexus-node outbox drop -n $1 $2 --confirm $2 --force"},
	{regexp.MustCompile(`select core\.lane_skip\('([a-z0-9_-]+)', '([a-z0-9_-]+)', (\d+), '([^']*)', (\d+)\);?`), "nexus-node outbox skip -n $1 $2 $3 --message $5 --reason '$4'"},
	{regexp.MustCompile(`select core\.discard_dead_letter\((\d+), '([^']*)'\);?`), "nexus-node dlq discard $1 --note '$2'"},
}

// resumeTask names a task by its id, which the command knows by its name.
var resumeTask = regexp.MustCompile(`select core\.resume_task\('[0-9a-f-]+'\);`)

// listedBy are the commands that show what a hint says is listed somewhere.
var listedBy = strings.NewReplacer(
	"core.namespaces.", "nexus-node namespace list.", "core.task_status", "nexus-node task list", "core.consumers", "nexus-node consumer list", "core.queues", "nexus-node queue list",
	"core.queue_metrics", "nexus-node queue list", "core.node_status", "nexus-node node list", "core.broadcast_cursors", "nexus-node node cursors", "core.unresolved_dead_letters", "nexus-node dlq list",
	"core.scheduled_events", "nexus-node at list", "core.pending_scheduled_events", "nexus-node at list", "core.sweep_status", "nexus-node sweeps",
	"core.namespace_grants", "nexus-node namespace show", "core.replay_dead_letters", "nexus-node dlq replay",
	"core.discard_dead_letters", "nexus-node dlq discard", "core.claim_dead_letters", "nexus-node dlq claim", "core.reschedule_event", "nexus-node at reschedule",
	"core.cancel_scheduled_event", "nexus-node at cancel", "core.alter_namespace", "nexus-node namespace alter", "core.alter_consumer", "nexus-node consumer alter",
	"core.outbox_repartition", "nexus-node outbox repartition",
)

// sentence is a message or a hint in the words of the command.
func sentence(cmd *cobra.Command, text string) string {
	if cmd == nil {
		return text
	}
	text = parameter.ReplaceAllStringFunc(text, func(name string) string {
		if strings.HasPrefix(name, "'") {
			return name
		}
		return inWords(cmd, name)
	})
	for _, c := range calls {
		text = c.sql.ReplaceAllString(text, c.command)
	}
	if cmd.HasParent() && cmd.Parent().Name() == "task" {
		text = resumeTask.ReplaceAllLiteralString(text, "nexus-node task resume "+cmd.Flags().Arg(0))
	}
	if strings.Contains(text, "select ") { // a statement stays one
		return text
	}
	return listedBy.Replace(text)
}
