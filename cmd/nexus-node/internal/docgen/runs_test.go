package docgen_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/internal/pgdev"
)

// shopDeadLetters are thirty dead letters of shop: 18 to 21 of type cart.viewed, the others of type order.placed. What pages that were
// read before left on the queue would be among them.
const shopDeadLetters = `
	select core.create_namespace('shop');
	delete from pgmq.q_core_events_shop;
	select core.emit('shop', case when i between 18 and 21 then 'cart.viewed' else 'order.placed' end) from generate_series(1, 30) i;
	select core_node.claim('core_events_shop', '{order.placed,cart.viewed}', '{1,1}', 30, '30 s');
	select core_node.settle('core_events_shop', 'n', '{}', '{}', '{}', jsonb_agg(jsonb_build_object('id', msg_id, 'ct', read_ct, 'at', last_read_at,
		'action', 'retry', 'policy', '{"max_attempts": 1}'::jsonb, 'reason', 'error', 'error', 'boom'))) from pgmq.q_core_events_shop`

// runningPage is a page whose lines of SQL and for a shell run as they are written, one block after the other.
type runningPage struct {
	page   string
	schema string   // a file of SQL, whose tables are there before all else
	before string   // SQL
	yaml   bool     // the shell finds the block of YAML as tasks.yaml
	not    []string // what blocks begin with that no test can run, one each
	holds  string   // SQL that is true in the end, where the page ran alone
	role   string   // that the page creates
	apart  bool     // about a server of its own, so that it does not follow the others
}

var running = []runningPage{
	{page: "README.md", not: []string{"make demo"}, before: shopDeadLetters,
		holds: `(select count(*) = 30 from core.dead_letters where resolution = 'replayed')`},
	{page: "docs/tutorials/first-event.md", not: []string{"make dev", "export "},
		holds: `(select count(*) = 3 from core.event_log) and (select queue_length = 0 from core.queue_metrics where queue_name = 'core_events_example_shop')`},
	{page: workflowPage, apart: true, not: []string{"make dev", "export "},
		holds: `(select array_agg(name order by seat) = '{ann,NULL,NULL}' from public.example_seats)
			and (select array_agg(status order by created_at) = '{completed,failed}' from core.workflow_runs)`},
	{page: "docs/tutorials/ordered-outbox.md", apart: true, holds: `(select string_agg(account || ' ' || cents, ', ' order by account) = 'anna 300, bert 560' from public.example_balance)
		and (select count(*) = 1 from core.outbox_dead_letters where convert_from(body, 'UTF8') = '-100')`},
	{page: "docs/tutorials/demo.md", apart: true, not: []string{"make demo\n", "make demo KEEP=1"}, schema: "../demo/schema.sql",
		before: `select core.create_namespace('github'); select core.schedule_task('github', 'Kolkata', '0 * * * *', 'report.due', '{}', '{"timezone": "Asia/Kolkata"}')`},
	{page: "docs/explanation/schedules.md", before: `select core.create_namespace('shop')`, holds: `exists (select from core.scheduled_tasks)`},
	{page: "docs/guides/psql.md"},
	{page: "docs/guides/sql-handlers.md", apart: true, not: []string{"select cron.schedule_in_database("},
		holds: `(select count(*) = 1 from app.orders) and (select count(*) = 1 from core.dead_letters where reason = 'an order without an id') and (select string_agg(consumer, ' ') = 'ledger' from core.sql_handlers)`},
	{page: "docs/guides/schedules.md", yaml: true, holds: `exists (select from core.scheduled_tasks where name = 'reconcile')`},
	{page: "docs/guides/woken-at-night.md", before: `select core.create_namespace('shop'); select core.outbox_register_queue('shop', 'payouts', 4)`},
	{page: "docs/guides/one-shots.md"},
	{page: "docs/guides/broadcast.md", before: `select core.create_namespace('shop')`, holds: `(select count(*) >= 2 from core.broadcasts where event_type = 'config.changed')`},
	{page: "docs/guides/unhandled-types.md"},
	{page: "docs/guides/dead-letters.md", not: []string{"nexus-node events cancel"}, before: shopDeadLetters,
		holds: `(select string_agg(n, ' ' order by n) = 'cancelled 2 discarded 1 handled_by_handler 1 ignored 1 replayed 27' from (
			select resolution || ' ' || count(*) as n from core.dead_letters group by resolution) r)`},
	{page: "docs/guides/cloudevents-ingress.md", before: `select core.create_namespace('shop')`, holds: `(select count(*) = 2 from core.audit_log where action ~ 'ingress')`},
	{page: "docs/guides/fan-out.md", holds: `(select array_agg(name order by name) = '{default,invoices,mailer,reports,stock}' from core.consumers)
		and (select levels = 3 from core.consumer_status where consumer = 'reports')
		and (select array_agg(msg_id / 1000000000000000 order by msg_id) = '{0,1,1}' from pgmq.q_core_events_store__reports)
		and (select (patterns, max_in_flight, rate, backfill)::text = '("{order.*,refund.*}",8,,waiting)' from core.consumer_status where consumer = 'stock')
		and (select count(*) = 11 from core.audit_log where action ~ '_consumer$')`},
	{page: "docs/guides/kv.md", holds: `(select string_agg(collection || ' ' || n, ', ' order by collection) = 'locks 1, sessions 5, settings 1, visits 1' from (
		select collection, count(*) as n from core.kv group by collection) c) and (select value = '1' from core.kv where collection = 'visits')`},
	{page: "docs/guides/request-reply.md", apart: true, not: []string{"nexus-node request"}, holds: `(select count(*) = 1 from core.request_status where status = 503)`},
	{page: "docs/guides/triggers.md", not: []string{"nexus-node trigger hand-over"}, holds: `(select string_agg(name || ' ' || enabled, ', ' order by name) = 'count true, mail-all false, mail-germans true, mourn true, new-order true, price true, report true, statistics true' from core.trigger_status)
		and exists (select from pgmq.q_core_events_shop__triggers where message ->> 'trigger' = 'mail-germans') and (select total = 17 from books.totals)`},
	{page: "docs/guides/workflows.md", apart: true, before: `select core.create_namespace('shop'); create table public.stock (id bigint primary key, sku text, n int);
		create role shop_service login in role nexus_producer, nexus_consumer`,
		holds: `(select array_agg(target order by target) = '{workflow:order,workflow:report}' from core.triggers) and pg_has_role('shop_service', 'shop_undo', 'member')
		and core_node.register_workflow('shop', 'w', 1, '[{"name": "a", "kind": "tx", "undo": "sql", "function": "public.restock(jsonb)"}]') > 0`},
	{page: "docs/guides/watched-tables.md", apart: true, holds: `(select array_agg(message #>> '{payload,new,status}') = '{paid}' from pgmq.q_core_events_shop__triggers)`},
	{page: "docs/guides/outbox.md", holds: `(select sum(lag) = 2 and count(*) filter (where why = 'waits for the lanes of before') = 32 and count(*) filter (where why = 'waits for the log') = 16 from core.lane_status)`},
	{page: "docs/guides/replay.md", holds: `(select state = 'done' from core.replays)`},
	{page: "docs/guides/webhooks.md", before: `select core.create_namespace('shop')`,
		holds: `(select count(*) = 6 from core.audit_log where action ~ 'webhook|_consumer')`},
	{page: "docs/guides/running-nodes.md", role: "shop_node", before: `select core.create_namespace('shop'); select core_node.register_node('shop', 'shop-7', true, '{}')`,
		holds: `(select state = 'lost' and drain_requested_at is not null from core.nodes)`},
}

var (
	anyBlock  = regexp.MustCompile("(?sm)^ *```(sql|sh)\n(.*?)^ *```")
	yamlBlock = regexp.MustCompile("(?sm)^```yaml\n(.*?)^```")
)

// holds: reasons (README.md), docs (SQL and shell)
func TestPagesRun(t *testing.T) {
	path := commandLine(t)
	for _, p := range running {
		t.Run(p.page, func(t *testing.T) {
			db := dbtest.New(t)
			if p.schema != "" {
				sql, err := os.ReadFile(filepath.FromSlash(p.schema))
				if err != nil {
					t.Fatal(err)
				}
				tables, _, _ := strings.Cut(string(sql), "\ngrant ") // to a role that the demo's own server has
				run(t, db.Owner, tables)
			}
			if p.before != "" {
				run(t, db.Owner, p.before)
			}
			p.run(t, path, func(string) (*pgxpool.Pool, string) { return db.Owner, db.OwnerURL })
			if p.holds != "" && !dbtest.Get[bool](db, "select coalesce(("+p.holds+"), false)") {
				t.Errorf("in the end it is not true that %s", p.holds)
			}
		})
	}
}

// Who reads on has one database, in which all that was read before has run; and logins that may do what the page says they need: "as
// `nexus_reader`", "as a superuser", or else an administrator's.
// holds: docs (in one database, as logins in the roles that the pages name)
func TestPagesRunInReadingOrder(t *testing.T) {
	path := commandLine(t)
	db := dbtest.New(t)
	type login struct {
		pool *pgxpool.Pool
		url  string
	}
	logins := map[string]login{"superuser": {db.Owner, db.OwnerURL}}
	as := func(text string) (*pgxpool.Pool, string) {
		roles := "nexus_admin"
		if all := namedRoles.FindAllStringSubmatch(text, -1); all != nil {
			last := all[len(all)-1]
			roles = strings.NewReplacer("`", "", ",", "", " and", "").Replace(last[1] + last[2])
		}
		if _, there := logins[roles]; !there {
			_, url := db.As(strings.Fields(roles)...)
			pool, err := pgxpool.New(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			logins[roles] = login{pool, url}
		}
		return logins[roles].pool, logins[roles].url
	}
	for _, p := range running {
		if p.apart {
			continue
		}
		t.Run(p.page, func(t *testing.T) {
			if p.before != "" && p.page != "README.md" { // where there are no dead letters yet
				run(t, db.Owner, p.before)
			}
			p.run(t, path, as)
		})
	}
}

var namedRoles = regexp.MustCompile("(?i)\\bas\\s(?:((?:(?:,| and)?\\s?`nexus_[a-z]+`)+)|a (superuser))")

// commandLine is a PATH that has nexus-node and the server's programs.
func commandLine(t *testing.T) string {
	t.Helper()
	platform, err := pgdev.Find()
	if err != nil {
		t.Skip("no programs of a server here, such as psql: ", err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+"/", "../../../../cmd/nexus-node").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if platform.Root == "" {
		return bin + ":" + platform.BinDir + ":" + os.Getenv("PATH")
	}
	return bin + ":" + os.Getenv("PATH")
}

// run runs the blocks one after the other, each as the login for the text that stands before it.
func (p runningPage) run(t *testing.T, path string, as func(textBefore string) (*pgxpool.Pool, string)) {
	t.Helper()
	if p.role != "" {
		t.Cleanup(func() { dropRole(t, p.role) })
	}
	text := read(t, p.page)
	dir := t.TempDir()
	if p.yaml {
		writeFile(t, filepath.Join(dir, "tasks.yaml"), yamlBlock.FindStringSubmatch(text)[1])
	}
	if strings.Contains(text, "go run ./examples") {
		dir = filepath.Join("..", "..", "..", "..") // it is read in a checkout
	}
	ran, left := 0, 0
	for _, at := range anyBlock.FindAllStringSubmatchIndex(text, -1) {
		pool, url := as(text[:at[0]])
		language, block := text[at[2]:at[3]], text[at[4]:at[5]]
		switch {
		case beginsWith(block, p.not):
			left++
			continue
		case language == "sql":
			run(t, pool, block)
		default:
			shell(t, dir, path, url, block)
		}
		ran++
	}
	if ran == 0 || left != len(p.not) {
		t.Errorf("%d blocks ran and %d were left out", ran, left)
	}
}

// elsewhere are the pages with lines that TestPagesRun does not run, and why.
var elsewhere = map[string]string{
	"docs/guides/backup-and-upgrade.md": "TestBackupGuideRuns does, on a server of its own",
	"docs/guides/install.md":            "TestInstallGuideRuns does, on a server of its own",
	"docs/guides/observing.md":          "it starts a node that goes on, at a fixed port; cmd/nexus-node/internal/app tests both addresses",
	"docs/guides/testing.md":            "it builds an image of Docker",
	servicePage:                         "TestServiceTutorialRuns does, in one shell and a folder of its own",
}

func TestNoPageIsLeftOut(t *testing.T) {
	for _, page := range pages(t) {
		_, excused := elsewhere[page]
		listed := slices.ContainsFunc(running, func(p runningPage) bool { return p.page == page })
		if has := anyBlock.MatchString(read(t, page)); has != (excused || listed) || excused && listed {
			t.Errorf("%s has lines to run: %v, runs: %v, is excused: %v", page, has, listed, excused)
		}
	}
}

func beginsWith(text string, beginnings []string) bool {
	for _, b := range beginnings {
		if strings.HasPrefix(text, b) {
			return true
		}
	}
	return false
}

// run runs what may be several statements.
func run(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Conn().PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Errorf("%v in\n%s", err, sql)
	}
}

func shell(t *testing.T, dir, path, url, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+path, "NEXUS_DATABASE_URL="+url)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v in\n%s\n%s", err, script, out)
	}
}

// dropRole is for what belongs to the server and not to the test's database, which is gone by then.
func dropRole(t *testing.T, role string) {
	t.Helper()
	ctx := context.Background() // that of t has ended
	conn, err := pgx.Connect(ctx, dbtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "drop role if exists "+role); err != nil {
		t.Error(err)
	}
}
