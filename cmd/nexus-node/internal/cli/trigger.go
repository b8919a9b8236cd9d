package cli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/trigger"
)

func newTrigger(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "trigger",
		Short:   "Create, look at, test, disable, hand over and delete triggers, which have events delivered to handlers",
		Example: "  nexus-node trigger list -n shop",
	}, newTriggerCreate(s), newTriggerList(s), newTriggerShow(s), newTriggerTest(s),
		newTriggerEnable(s), newTriggerDisable(s), newTriggerMatchBack(s), newTriggerHandOver(s), newTriggerDelete(s))
}

func newTriggerCreate(s *session) *cobra.Command {
	var (
		t                trigger.Trigger
		source, contains string
	)
	cmd := &cobra.Command{
		Use:   "create NAME [PATTERN] TARGET",
		Short: "Have what matches delivered to a handler",
		Long: `Have each event of a pattern, whose payload contains what --contains says, delivered to a handler: go:NAME of nodes, sql:NAME or webhook:NAME as
"handler create" made it, workflow:NAME. In place of the pattern --source says what else it goes by: {"dead_letter": {"source": …, "trigger": …, "target": …}} is what was given up, {"cron": {"cron_expression": …, "timezone": …, "payload": …}} a schedule, {"cron": {"task": …}} a task,
{"kv": {"collection": …, "ops": […], "columns": […], "contains": {…}}} what changes in keys and watched tables, {"http": {"method": …, "path": "/orders/{id}"}} what is asked where NEXUS_TRIGGER_ADDRESS says;
unless it has a "token" of yours, or "public": true, one is made and printed, this once.
Created again alike nothing happens; other settings are a conflict, unless --replace is given. It prints the id.`,
		Example: `  nexus-node trigger create -n shop mail-germans "order.*" go:mail --contains '{"country": "DE"}' --max-attempts 5
  nexus-node trigger create -n shop crm "customer.*" webhook:crm --replace
  nexus-node trigger create -n shop mourn go:mourn --source '{"dead_letter": {}}'
  nexus-node trigger create -n shop orders go:order --source '{"http": {"method": "POST", "path": "/orders/{id}"}}' --sync
  nexus-node trigger create -n shop paid go:paid --source '{"kv": {"collection": "rows.orders", "columns": ["status"]}}'`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.Name, t.Target = args[0], args[len(args)-1]
			if (len(args) == 2) != (source != "") || source != "" && contains != "" {
				return usage(cmd, "give a PATTERN, with or without --contains, or --source")
			}
			if source != "" {
				if err := triggerSource(source, &t); err != nil {
					return usage(cmd, "--source is none: "+err.Error())
				}
			} else {
				filter := json.RawMessage(contains)
				if contains == "" {
					filter = nil
				} else if !json.Valid(filter) {
					return usage(cmd, "--contains is not valid JSON")
				}
				t.Event = &trigger.Event{Pattern: args[1], Contains: filter}
			}
			return s.inNamespace(cmd, func(c *client) error {
				t.Namespace = c.namespace()
				made := ""
				if h := t.HTTP; h != nil && h.Token == "" && !h.Public {
					h.Token = rand.Text() + rand.Text()
					made = h.Token
				}
				id, err := trigger.Create(c.ctx(), c.pool, t)
				if err != nil {
					return err
				}
				names, values := []string{"trigger", "trigger_id"}, []string{t.Name, id.String()}
				if made != "" {
					names, values = append(names, "token"), append(values, made)
				}
				if s.format == asJSON {
					all := map[string]string{}
					for i, name := range names {
						all[name] = values[i]
					}
					return s.printJSON(all)
				}
				return s.printFields(names, values)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&source, "source", "", "what it goes by in place of a pattern, an object of JSON")
	f.BoolVar(&t.Sync, "sync", false, "of http: a request whose reply is the answer; of events and kv: a function, sql:NAME, runs in the transaction that emits (administrators)")
	f.BoolVar(&t.Resolve, "resolve", false, "a dead letter is resolved when its handler succeeds")
	f.StringVar(&contains, "contains", "", "an object of JSON that the payload has to contain")
	f.StringVar(&t.Consumer, "consumer", "", `the routed consumer whose queue its deliveries take (default "triggers")`)
	f.BoolVar(&t.Disabled, "disabled", false, "create it, and have it make no deliveries yet")
	f.StringVar(&t.MatchBack, "match-back", "", `also deliver what is in the log since then and matches: "beginning", or a time with an offset`)
	f.StringVar(&t.Rate, "rate", "", `of that, such as "100/min" (default no limit)`)
	f.BoolVar(&t.Replace, "replace", false, "give a trigger of that name these settings")
	addRetry(f, &t.Retry, func(string) string { return "" })
	return cmd
}

// triggerSource reads what core.create_trigger takes as p_source.
func triggerSource(text string, t *trigger.Trigger) error {
	var source struct {
		Event      *trigger.Event      `json:"event"`
		KV         *trigger.KV         `json:"kv"`
		DeadLetter *trigger.DeadLetter `json:"dead_letter"`
		Cron       *trigger.Cron       `json:"cron"`
		HTTP       *struct {
			Method  string `json:"method"`
			Path    string `json:"path"`
			Token   string `json:"token"`
			Public  bool   `json:"public"`
			Timeout string `json:"timeout"`
		} `json:"http"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&source); err != nil {
		return err
	}
	t.Event, t.KV, t.DeadLetter, t.Cron = source.Event, source.KV, source.DeadLetter, source.Cron
	if h := source.HTTP; h != nil {
		t.HTTP = &trigger.HTTP{Method: h.Method, Path: h.Path, Token: h.Token, Public: h.Public}
		if h.Timeout != "" {
			var err error
			t.HTTP.Timeout, err = time.ParseDuration(h.Timeout)
			return err
		}
	}
	return nil
}

func newTriggerList(s *session) *cobra.Command {
	return s.newList(
		"List the triggers of the namespace, or of all, by name, and what is in their way", `  nexus-node trigger list -n shop
  nexus-node trigger list -n "" -o json`,
		readmodel.Triggers)
}

func newTriggerShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a trigger whole",
		Example: "  nexus-node trigger show -n shop mail-germans",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				missing := &notFound{fmt.Sprintf("no trigger %s in namespace %s that you may see", quote(args[0]), quote(c.cfg.Namespace)), "nexus-node trigger list"}
				return c.show("show trigger", missing, readmodel.Trigger, c.cfg.Namespace, args[0])
			})
		},
	}
}

func newTriggerTest(s *session) *cobra.Command {
	var file, since string
	cmd := &cobra.Command{
		Use:   "test EVENT_TYPE [PAYLOAD] | test --since TIME",
		Short: "Say what all triggers would do with an event, and why not",
		Long: `Say what all triggers of the namespace would do with an event of that type, and the first reason of those that would do nothing. It emits nothing. The
payload is given as to "emit". With --since it counts, over the log, the events for which each would do something, and names the commonest reason against the others.`,
		Example: `  nexus-node trigger test -n shop order.made '{"country": "DE"}'
  nexus-node trigger test -n shop --since 24h`,
		Args: cobra.RangeArgs(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) > 0) == cmd.Flags().Changed("since") || file != "" && len(args) == 0 {
				return usage(cmd, "give an EVENT_TYPE, with or without a payload, or --since")
			}
			if len(args) == 0 {
				begin, err := sinceFlag(cmd, since, time.Now())
				if err != nil {
					return err
				}
				return s.inNamespace(cmd, func(c *client) error { return c.printPage(readmodel.TriggersSince(c.cfg.Namespace, begin), page{}) })
			}
			payload, err := s.payload(cmd, args[1:], file)
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				verdicts, err := trigger.Test(c.ctx(), c.pool, c.namespace(), args[0], payload)
				if err != nil {
					return err
				}
				records := []readmodel.Record{}
				for _, v := range verdicts {
					r := readmodel.Record{Names: []string{"name", "target", "fires", "why"}}
					for _, value := range []any{v.Name, v.Target, v.Why == "", either(v.Why == "", "", v.Why)} {
						text, _ := json.Marshal(value) // of these each encodes
						r.Values = append(r.Values, text)
					}
					records = append(records, r)
				}
				return s.printRecords([]string{"name", "target", "fires", "why"}, records)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the payload from this file; "-" is stdin`)
	f.StringVar(&since, "since", "", "count over the log from this time on, RFC 3339, or this long ago: 24h")
	return cmd
}

func newTriggerEnable(s *session) *cobra.Command {
	var o trigger.EnableOptions
	cmd := &cobra.Command{
		Use:   "enable NAME",
		Short: "Have a trigger make deliveries again, for what is emitted from now on",
		Example: `  nexus-node trigger enable -n shop mail-germans
  nexus-node trigger enable -n shop mail-germans --match-back --rate 100/min`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				changed, err := trigger.Enable(c.ctx(), c.pool, c.namespace(), args[0], &o)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "trigger", name: args[0], state: either(changed, "enabled", "was enabled")})
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.MatchBack, "match-back", false, "also deliver what was emitted while it was disabled")
	f.StringVar(&o.Rate, "rate", "", `of that, such as "100/min" (default no limit)`)
	return cmd
}

func newTriggerDisable(s *session) *cobra.Command {
	var hold bool
	cmd := &cobra.Command{
		Use:     "disable NAME",
		Short:   "Have a trigger make no deliveries; what is queued is handled, or set aside",
		Example: "  nexus-node trigger disable -n shop mail-germans --hold",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				changed, err := trigger.Disable(c.ctx(), c.pool, c.namespace(), args[0], hold)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "trigger", name: args[0], state: either(changed, "disabled", "was disabled")})
			})
		},
	}
	cmd.Flags().BoolVar(&hold, "hold", false, "set aside what is queued until the trigger is enabled")
	return cmd
}

func newTriggerMatchBack(s *session) *cobra.Command {
	var from, rate string
	cmd := &cobra.Command{
		Use:   "match-back NAME",
		Short: "Have a trigger deliver what is in the log and it had not delivered",
		Long: `Have a trigger deliver what is in the log since a time, matches, and it had not delivered: nothing comes twice. Nodes and ticks do it, in the order of the
log, once no transaction is left that may emit without knowing of the trigger; "trigger show" says how far. One that was replaced is refused.`,
		Example: `  nexus-node trigger match-back -n shop mail-germans --from beginning
  nexus-node trigger match-back -n shop mail-germans --from 2027-01-31T08:00:00Z --rate 100/min`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				begun, err := trigger.MatchBack(c.ctx(), c.pool, c.namespace(), args[0], from, rate)
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "trigger", name: args[0], state: either(begun, "looks back", "looked back before")})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "beginning", `since when: "beginning", or a time of the past with an offset`)
	f.StringVar(&rate, "rate", "", `such as "100/min" (default no limit)`)
	return cmd
}

func newTriggerHandOver(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "hand-over FROM TO",
		Short: "Give the triggers and handlers that one role registered to another",
		Long: `Give the triggers and handlers that one role registered to another, by whose duties their deliveries are judged from then on: those of the namespace, of all that you
operate with -n "". It takes an administrator, or an operator who is a member of the new role. A role that was dropped is given by the number that core.triggers shows.`,
		Example: "  nexus-node trigger hand-over -n shop old_team new_team",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.amongVisible(cmd, func(c *client) error {
				moved, err := trigger.HandOver(c.ctx(), c.pool, c.namespace(), args[0], args[1])
				if err != nil {
					return err
				}
				return s.printDone(deed{kind: "role", name: args[0], state: fmt.Sprintf("handed over %d triggers and handlers", moved)})
			})
		},
	}
}

func newTriggerDelete(s *session) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "delete NAME",
		Aliases: []string{"rm"},
		Short:   "Delete a trigger, and its deliveries that are not acknowledged",
		Example: "  nexus-node trigger delete -n shop mail-germans --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				var removed int64
				err := c.change(dryRun, func(q nexus.DBTX) (err error) {
					removed, err = trigger.Delete(c.ctx(), q, c.namespace(), args[0])
					return err
				})
				if err != nil {
					return err
				}
				state := strings.TrimSpace(fmt.Sprintf("%s with %d deliveries", would(dryRun, "deleted"), removed))
				return s.printDone(deed{"trigger", args[0], state, dryRun})
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and undo it")
	return cmd
}
