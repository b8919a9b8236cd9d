package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/readmodel"
	"github.com/nexuspg/nexus/kv"
)

func newKV(s *session) *cobra.Command {
	return group(&cobra.Command{
		Use:     "kv",
		Short:   "Read, set, compare, delete and list the keys of the key-value store",
		Example: "  nexus-node kv list -n shop settings",
	}, newKVGet(s), newKVSet(s), newKVCAS(s), newKVDelete(s), newKVList(s))
}

// collection is the one that a command names, with values as they are.
func (c *client) collection(name string) kv.Collection[json.RawMessage] {
	return kv.Collection[json.RawMessage]{Namespace: c.namespace(), Name: name}
}

// noKey is what a key that is not there ends with.
func noKey(collection, key string) error {
	return &notFound{"there is no key " + quote(key) + " in " + quote(collection), "nexus-node kv list " + collection}
}

func newKVGet(s *session) *cobra.Command {
	var bare bool
	cmd := &cobra.Command{
		Use:   "get COLLECTION KEY",
		Short: "Show a key with its value, version and times",
		Example: `  nexus-node kv get -n shop settings theme
  nexus-node kv get -n shop settings theme --value | jq -r .color`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.inNamespace(cmd, func(c *client) error {
				e, found, err := c.collection(args[0]).Get(c.ctx(), c.pool, args[1])
				if err != nil {
					return err
				}
				if !found {
					return noKey(args[0], args[1])
				}
				if bare {
					return s.printJSON(e.Value)
				}
				return s.printRecord(recordOf(e))
			})
		},
	}
	cmd.Flags().BoolVar(&bare, "value", false, "the value alone, as JSON")
	return cmd
}

// recordOf shows an entry as one of a view would be.
func recordOf(e kv.Entry[json.RawMessage]) readmodel.Record {
	text := func(s string) json.RawMessage {
		b, _ := json.Marshal(s) // a string always encodes
		return b
	}
	at := func(t time.Time) json.RawMessage {
		if t.IsZero() {
			return json.RawMessage("null")
		}
		return text(t.Format("2006-01-02T15:04:05.999999-07:00")) // as Postgres has it
	}
	return readmodel.Record{
		Names: []string{"key", "value", "version", "created_at", "updated_at", "expires_at", "updated_by"},
		Values: []json.RawMessage{
			text(e.Key), e.Value, json.RawMessage(strconv.FormatInt(e.Version, 10)), at(e.CreatedAt), at(e.UpdatedAt), at(e.ExpiresAt), text(e.UpdatedBy),
		},
	}
}

func newKVSet(s *session) *cobra.Command {
	var (
		opts kv.SetOptions
		file string
	)
	cmd := &cobra.Command{
		Use:   "set COLLECTION KEY [VALUE]",
		Short: "Give a key a value",
		Long: `Give a key a value, which is JSON: the third argument, or a file, or, where either is "-", what comes on stdin. It exits with 1
where --if-absent or --if-present kept it from being set.`,
		Example: `  nexus-node kv set -n shop settings theme '{"color": "blue"}'
  nexus-node kv set -n shop locks nightly '"host-7"' --if-absent --ttl 30s
  jq -c .theme site.json | nexus-node kv set -n shop settings theme -`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := s.value(cmd, args[2:], file)
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				r, err := c.collection(args[0]).Set(c.ctx(), c.pool, args[1], value, &opts)
				if err != nil {
					return err
				}
				return s.printWritten(args[1], "set", r, false)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the value from this file; "-" is stdin`)
	f.DurationVar(&opts.TTL, "ttl", 0, "after this much there is no such key: 90s, 2h; 0: it stays")
	f.BoolVar(&opts.IfAbsent, "if-absent", false, "only if there is no such key")
	f.BoolVar(&opts.IfPresent, "if-present", false, "only if there is one")
	return cmd
}

func newKVCAS(s *session) *cobra.Command {
	var (
		opts kv.CASOptions
		file string
	)
	cmd := &cobra.Command{
		Use:   "cas COLLECTION KEY VERSION [VALUE]",
		Short: "Give a key a value if it still has a version",
		Long: `Give a key a value if it still has the version that "kv get" showed; 0 is that of a key that is not there. The value is given as to
"kv set". It exits with 1 where the key has another version, which it prints.`,
		Example: `  nexus-node kv cas -n shop settings theme 90115 '{"color": "red"}'
  nexus-node kv cas -n shop settings theme 0 -f theme.json`,
		Args: cobra.RangeArgs(3, 4),
		RunE: func(cmd *cobra.Command, args []string) error {
			version, err := strconv.ParseInt(args[2], 10, 64)
			if err != nil {
				return usage(cmd, quote(args[2])+" is no version, which is a number")
			}
			value, err := s.value(cmd, args[3:], file)
			if err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				r, err := c.collection(args[0]).CAS(c.ctx(), c.pool, args[1], value, version, &opts)
				if err != nil {
					return err
				}
				return s.printWritten(args[1], "set", r, false)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the value from this file; "-" is stdin`)
	f.DurationVar(&opts.TTL, "ttl", 0, "after this much there is no such key: 90s, 2h; 0: it stays")
	return cmd
}

// value reads it as an event's payload is read; here one has to be given.
func (s *session) value(cmd *cobra.Command, arg []string, file string) (json.RawMessage, error) {
	if len(arg) == 0 && file == "" {
		return nil, usage(cmd, "VALUE is missing")
	}
	if len(arg) == 1 && file != "" {
		return nil, usage(cmd, "the value is given twice, as an argument and by --file")
	}
	given, err := s.payload(cmd, arg, file)
	value, _ := given.(json.RawMessage)
	return value, err
}

func newKVDelete(s *session) *cobra.Command {
	var (
		opts   kv.DeleteOptions
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:     "delete COLLECTION KEY",
		Aliases: []string{"rm"},
		Short:   "Take a key away",
		Long:    `Take a key away. It exits with 3 if there is none, and with 1 where it has another version than --if-version says.`,
		Example: `  nexus-node kv delete -n shop settings theme
  nexus-node kv delete -n shop settings theme --if-version 90115 --dry-run`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("if-version") && opts.Version <= 0 {
				return usage(cmd, "--if-version takes a version, which is greater than 0")
			}
			return s.inNamespace(cmd, func(c *client) error {
				var r kv.Result
				err := c.change(dryRun, func(q nexus.DBTX) (err error) {
					r, err = c.collection(args[0]).Delete(c.ctx(), q, args[1], &opts)
					return err
				})
				switch {
				case err != nil:
					return err
				case !r.Done && r.Version == 0:
					return noKey(args[0], args[1])
				}
				return s.printWritten(args[1], "deleted", r, dryRun)
			})
		},
	}
	cmd.Flags().Int64Var(&opts.Version, "if-version", 0, "only if it has this one")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "do it, say what happened, and undo it")
	return cmd
}

// printWritten says what became of a key, and fails where that is not what was wanted.
func (s *session) printWritten(key, state string, r kv.Result, dry bool) error {
	if r.Done {
		state = would(dry, state)
	} else {
		state = "not " + state
	}
	out := struct {
		Key     string `json:"key"`
		State   string `json:"state"`
		Version *int64 `json:"version"` // null: it is not there
		DryRun  bool   `json:"dry_run,omitempty"`
	}{Key: key, State: state, DryRun: dry}
	version := ""
	if r.Version != 0 {
		out.Version, version = &r.Version, strconv.FormatInt(r.Version, 10)
	}
	var err error
	if s.format == asJSON {
		err = s.printJSON(out)
	} else {
		err = s.printFields([]string{"key", "state", "version"}, []string{key, state, version})
	}
	switch {
	case err != nil || r.Done:
		return err
	case r.Version == 0:
		return fmt.Errorf("there is no key %s", quote(key))
	}
	return fmt.Errorf("key %s has version %d", quote(key), r.Version)
}

func newKVList(s *session) *cobra.Command {
	var (
		prefix string
		keys   bool
		p      page
	)
	cmd := &cobra.Command{
		Use:     "list COLLECTION",
		Aliases: []string{"ls"},
		Short:   "List the keys of a collection, by their bytes",
		Example: `  nexus-node kv list -n shop settings
  nexus-node kv list -n shop sessions --prefix user/7/ --keys -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.list(cmd, p, func(namespace string) readmodel.List { return readmodel.Keys(namespace, args[0], prefix, !keys) })
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "only keys that begin with this")
	cmd.Flags().BoolVar(&keys, "keys", false, "without their values")
	p.add(cmd)
	return cmd
}
