package docgen_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/cli"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
	"github.com/nexuspg/nexus/internal/everycall"
)

// verb is how a command of nexus-node is called.
type verb struct {
	args    string // with the words of a place
	before  string // SQL, as the owner
	verdict bool   // its exit code says what it found
	offline string // why it is not tried: it asks no database that is there
	until   string // SQL: it runs until this is true
	asks    bool   // exit code 4 says that nobody answered
}

// unresolved makes the dead letters of the place as they were.
const unresolved = `update core.dead_letters set status = 'pending', claim_token = null, deadline = null, claimed_by = null, resolved_at = null, resolved_by = null, resolution = null where namespace = {namespace}`

// held makes them claimed.
const held = `update core.dead_letters set status = 'reprocessing', claim_token = core_private.token_mark('01900000-0000-7000-8000-00000000cafe'), deadline = 'infinity', claimed_by = 'everycall',
	resolved_at = null, resolved_by = null, resolution = null where namespace = {namespace}`

// pending does so with the one-shot event, and awake with the node.
const (
	pending = `update core.scheduled_events set status = 'pending', finished_at = null, finished_by = null where namespace = {namespace}`
	awake   = `update core.nodes set state = 'active', drain_requested_at = null where namespace = {namespace}`
)

// handled gives the spare consumer a handler in SQL, of all who may consume.
const handled = `insert into core_private.sql_handlers (consumer_id, function, owner, created_by, created_at)
	select c.consumer_id, 'app.on_event(jsonb)', 'nexus_consumer'::regrole, 'everycall', core.now() from core.consumers c
	 where c.namespace = {namespace} and c.name = 'spare' on conflict do nothing`

var verbs = map[string]verb{
	"run": {until: "select exists (select from core.nodes where namespace = {namespace} and node_id = 'everycall' and state = 'active')"},
	"dev": {offline: "a server of its own"}, "demo": {offline: "a server of its own"}, "config": {offline: "the environment"},
	"version": {offline: "the program"}, "completion": {offline: "the program"}, "help": {offline: "the program"},
	"migrate up": {}, "migrate status": {}, "migrate plan": {}, "migrate dump": {offline: "the program"},
	"doctor":           {verdict: true},
	"namespace create": {args: "everycall"},
	"namespace list":   {},
	"namespace show":   {args: "{namespace}"},
	"namespace alter":  {args: "{namespace} --dedupe-for 168h"},
	"namespace grant":  {args: "{namespace} nexus_reader read"},
	"namespace revoke": {args: "{namespace} nexus_sql read"},
	"namespace drop":   {args: "{namespace} --confirm {namespace} --force --dry-run"},
	"emit":             {args: "a.made"},
	"at schedule":      {args: "a.made --at 2099-01-01T00:00:00Z"},
	"at list":          {}, "at show": {args: "{schedule}", before: pending},
	"at reschedule": {args: "{schedule} --at 2099-01-02T00:00:00Z", before: pending}, "at cancel": {args: "{schedule}", before: pending},
	"task schedule": {args: "everycall @daily a.made"},
	"task list":     {}, "task show": {args: "nightly"}, "task history": {args: "nightly"}, "task next-runs": {args: "nightly"}, "task pause": {args: "nightly", before: "select core.resume_task({task})"},
	"task resume": {args: "nightly", before: "select core.pause_task({task})"}, "task run-now": {args: "nightly", before: "select core.resume_task({task})"},
	"task backfill": {args: "nightly --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z --dry-run", before: "select core.resume_task({task})"},
	"task delete":   {args: "everycall", before: "select core.schedule_task({namespace}, 'everycall', '@daily', 'a.made')"},
	"task apply":    {args: "{file} --dry-run"},
	"cron diff":     {verdict: true}, "cron apply": {verdict: true},
	"events list": {}, "events attempts": {args: "{event}"},
	"events tail": {args: "--since 1h --limit 1"}, "events show": {args: "{event}"}, "events status": {args: "{event}"},
	"events cancel": {args: "{event} --note everycall --dry-run", verdict: true}, "events run-now": {args: "{event} --dry-run", verdict: true},
	"events replay": {args: "--consumer default --type * --id everycall --dry-run"},
	"queue list":    {}, "queue peek": {}, "queue purge": {args: "--confirm {queue} --dry-run"},
	"consumer list": {}, "consumer show": {args: "spare"}, "consumer create": {args: "everyconsumer --pattern never"}, "consumer alter": {args: "spare --max-in-flight 9"},
	"consumer pause": {args: "spare"}, "consumer resume": {args: "spare"}, "consumer drop": {args: "spare --confirm spare --force --dry-run"},
	"node list": {}, "node cursors": {}, "sweeps": {}, "audit": {},
	"node drain": {args: "{node}", before: awake}, "node forget": {args: "{node}", before: awake},
	"ingress create": {args: "everytoken"}, "ingress list": {}, "ingress revoke": {args: "sparetoken --dry-run"},
	"outbox list": {}, "outbox lanes": {args: "spareoutbox"}, "outbox partitions": {}, "outbox register": {args: "everyoutbox --lanes 1"}, "outbox enqueue": {args: "spareoutbox x"},
	"outbox pause": {args: "spareoutbox 0"}, "outbox resume": {args: "spareoutbox 0"}, "outbox release": {args: "spareoutbox 0 --dry-run"}, "outbox skip": {args: "spareoutbox 0 --reason x --dry-run"},
	"outbox drop": {args: "spareoutbox2 --confirm spareoutbox2 --force --dry-run"}, "outbox rebase": {},
	"outbox repartition": {args: "spareordered --lanes 3 --dry-run"}, "outbox replay": {args: "spareoutbox --from beginning --dry-run"},
	"workflow list": {}, "workflow definitions": {}, "workflow show": {args: "{run}"}, "workflow start": {args: "spareflow"},
	"workflow signal": {args: "{run} go", verdict: true}, "workflow cancel": {args: "{run} --dry-run", verdict: true}, "workflow retry": {args: "{run}"},
	"workflow accept": {args: "{run} --reason everycall"}, "workflow fork": {args: "{run} a"},
	"kv get": {args: "sparekeys sparekey"}, "kv list": {args: "sparekeys"}, "kv set": {args: "sparekeys everykey 1"}, "kv cas": {args: "sparekeys newkey 0 1", before: "select core.kv_delete({namespace}, 'sparekeys', 'newkey')"},
	"kv delete": {args: "sparekeys sparekey --dry-run"},
	"watch":     {offline: "who owns the table"}, "unwatch": {offline: "who owns the table"}, "watched list": {}, "watched on": {args: "{watch}"}, "watched off": {args: "{watch}"},
	"trigger create": {args: "everytrigger a.* go:every"}, "trigger list": {}, "trigger show": {args: "sparetrigger"}, "trigger test": {args: "a.made"},
	"trigger enable": {args: "sparetrigger"}, "trigger disable": {args: "sparetrigger"}, "trigger hand-over": {args: "nexus_reader nexus_operator"}, "trigger match-back": {args: "sparetrigger"}, "trigger delete": {args: "sparetrigger --dry-run"},
	"handler create": {args: "go:every"}, "handler drop": {args: "go:none"},
	"request":      {args: "everyhandler", asks: true},
	"webhook list": {}, "webhook show": {args: "sparehook"}, "webhook alter": {args: "sparehook --timeout 9s"}, "webhook rotate": {args: "sparehook"},
	"webhook create": {args: "everyhook https://shop.example/in --pattern a.*"}, "webhook drop": {args: "sparehook --force --dry-run"},
	"webhook test":      {args: "sparehook", verdict: true}, // of a name that no resolver knows
	"handler subscribe": {offline: "it takes a function of the caller's"},
	"handler list":      {}, "handler show": {args: "spare", before: handled}, "handler unsubscribe": {args: "spare", before: handled}, "work": {},
	"dlq list": {}, "dlq show": {args: "{dead}"}, "dlq group": {},
	"dlq replay": {args: "{dead}", before: unresolved}, "dlq resolve": {args: "{dead} --as ignored --note everycall", before: unresolved},
	"dlq discard": {args: "{dead} --note everycall", before: unresolved}, "dlq expire": {args: "{dead} --note everycall", before: unresolved},
	"dlq claim": {args: "{dead}", before: unresolved}, "dlq extend": {args: "{dead} --claim 01900000-0000-7000-8000-00000000cafe", before: held},
	"dlq reject": {args: "{dead} --claim 01900000-0000-7000-8000-00000000cafe --error everycall", before: held},
}

// commands are all that nexus-node has, as it completes them.
func (x *trial) commands(prefix ...string) []string {
	x.Helper()
	var all []string
	out, _, _ := x.command("", slices.Concat([]string{"__complete"}, prefix, []string{""}))
	for line := range strings.Lines(out) {
		name, _, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !found || strings.HasPrefix(name, "-") || len(prefix) == 1 && (prefix[0] == "help" || prefix[0] == "completion") {
			continue
		}
		words := slices.Concat(prefix, []string{name})
		if below := x.commands(words...); len(prefix) == 0 && len(below) > 0 {
			all = append(all, below...)
			continue
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

func (x *trial) command(url string, args []string) (out, errors string, code int) {
	x.Helper()
	return x.commandUntil(x.Context(), url, "", args)
}

func (x *trial) commandUntil(ctx context.Context, url, namespace string, args []string) (out, errors string, code int) {
	x.Helper()
	var o, e bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &o, Stderr: &e, Version: "test", Config: func() (*config.Config, []string, error) {
		return &config.Config{
			DatabaseURL: url, Namespace: namespace, NodeID: "everycall", ConnectTimeout: 10 * time.Second, LogLevel: "error",
			IdlePollInterval: 50 * time.Millisecond, Lease: 30 * time.Second, Grace: time.Second, HandlerTimeout: time.Minute,
		}, nil, nil
	}}
	code = cli.Main(ctx, env, args)
	return o.String(), e.String(), code
}

var (
	codeLine = regexp.MustCompile(`(?m)^code: (\w+)$`)
	refusal  = regexp.MustCompile(`(?m)^error: permission denied for (function|table|view|schema core(_node)?$)`)
)

// try runs a verb and returns the cell of the table.
func (x *trial) try(c caller, name string, v verb, p everycall.Place) (cell, said string) {
	x.Helper()
	if v.before != "" {
		x.db.Exec(p.Fill(v.before))
	}
	file := filepath.Join(x.TempDir(), "tasks.json")
	if err := os.WriteFile(file, []byte(`{"owner": "everycall", "tasks": [{"namespace": "`+p.Name+`", "name": "x", "cron": "@daily", "type": "a.made"}]}`), 0o600); err != nil {
		x.Fatal(err)
	}
	args := strings.Fields(name)
	for _, a := range strings.Fields(v.args) {
		args = append(args, strings.Trim(strings.ReplaceAll(p.Fill(a), "{file}", file), "'"))
	}
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	if v.until != "" {
		go func() {
			for ctx.Err() == nil {
				var done bool
				if x.db.Owner.QueryRow(ctx, p.Fill(v.until)).Scan(&done) == nil && done {
					cancel()
				}
			}
		}()
	}
	out, errs, code := x.commandUntil(ctx, x.urls[c], p.Name, args)
	said = out + errs
	switch found := codeLine.FindStringSubmatch(errs); {
	case code == 0 || v.verdict && out != "" && found == nil || v.asks && code == 4 && found == nil:
		return "yes", said
	case found != nil && ofNexus.MatchString(found[1]) && code < 4:
		return found[1], said
	case found != nil && found[1] == "42501" && refusal.MatchString(errs) && code == 1:
		return "", said
	case found == nil && code == 3 && strings.HasPrefix(errs, "error: "): // it is not there for the caller
		return "nothing", said
	}
	x.Errorf("%s -n %s as %s ends with %d:\n%s", name, p.Name, c.title, code, errs)
	return "?", said
}

var hiddenText = regexp.MustCompile(closedName + `[. ](made|odd|reason|error)|"secret"`)

// people are those who have logins.
var people = slices.Concat(columns[:5], columns[8:])

func (x *trial) verbRights() [][]string {
	x.Helper()
	var table [][]string
	tried := map[string]bool{}
	for _, name := range x.commands() {
		v, listed := verbs[name]
		if tried[name] = true; !listed {
			x.Errorf("the verb %q is in no list: say how it is called", name)
		}
		if !listed || v.offline != "" {
			continue
		}
		row := []string{"`" + name + "`"}
		for _, c := range people {
			cell, _ := x.try(c, name, v, x.open)
			row = append(row, cell)
			if cell == "" || c.role == "nexus_admin" {
				continue
			}
			if _, said := x.try(c, name, v, x.closed); hiddenText.MatchString(said) {
				x.Errorf("%s shows %s what is in %s:\n%s", name, c.title, closedName, said)
			}
		}
		table = append(table, row)
	}
	for name := range verbs {
		if !tried[name] {
			x.Errorf("there is no verb %q", name)
		}
	}
	slices.SortFunc(table, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return table
}
