package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/bigdb"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// look is one way to look at a large database, and how many pages it may read for what it shows.
type look struct {
	ask   string
	pages int
}

// views are those of core, each whole or as far as somebody would look, and as the guides ask. What is not here fails the test.
var views = map[string][]look{
	"blockers":                 {{"", 130}},
	"broadcast_cursors":        {{"", 20}},
	"consumer_status":          {{"", 400}, {"where namespace = 'ns5'", 40}},
	"cron_drift":               {{"", 300}},
	"cron_job_runs":            {{"limit 100", 10}},
	"cron_jobs":                {{"limit 100", 10}},
	"dead_letter_claims":       {{"", 20}, {"where namespace = 'ns5' order by deadline limit 100", 20}},
	"dead_letter_groups":       {{"", 400}, {"where namespace = 'ns5'", 20}},
	"kv":                       {{"where namespace = 'ns5' and collection = 'c' order by key limit 100", 590}, {"where namespace = 'ns5' and collection = 'c' and starts_with(key, 'user/7') order by key limit 10", 60}},
	"lane_status":              {{"", 3600}, {"where namespace = 'ns5' and queue = 'jobs'", 300}},
	"lane_partitions":          {{"", 100}},
	"outbox_dead_letters":      {{"where namespace = 'ns5' order by dead_letter_id limit 100", 600}},
	"outbox_incoming":          {{"where namespace = 'ns5' and queue = 'jobs'", 600}},
	"outbox_partitions":        {{"", 900}},
	"outbox_processor":         {{"", 900}},
	"outbox_status":            {{"", 95}},
	"lost_queues":              {{"", 160}, {"where namespace = 'ns5'", 20}},
	"node_status":              {{"", 20}},
	"partitions":               {{"", 250}},
	"pending_scheduled_events": {{"order by due_at limit 100", 20}, {"where namespace = 'ns5' order by due_at limit 100", 140}},
	"queue_metrics":            {{"", 1600}, {"where queue_name = 'core_events_ns5'", 41}, {"where namespace = 'ns5'", 59}},
	"replays":                  {{"", 10}},
	"request_status":           {{"where namespace = 'ns5'", 130}},
	"scheduler_status":         {{"", 10}},
	"settings":                 {{"", 10}},
	"sql_handlers":             {{"", 20}},
	"sweep_status":             {{"", 10}},
	"task_status":              {{"where namespace = 'ns5' and name = 'task113'", 200}, {"order by namespace, name limit 20", 3500}},
	"unhandled_types":          {{"where namespace = 'ns5'", 1500}, {"where queue_name = 'core_events_ns5'", 1500}},
	"unresolved_counts":        {{"", 400}, {"where namespace = 'ns5'", 150}},
	"unresolved_dead_letters":  {{"order by dead_letter_id limit 100", 20}, {"where namespace = 'ns5' order by dead_letter_id desc limit 100", 840}},
	"webhook_status":           {{"", 20}},
	"workflow_definitions":     {{"", 900}, {"where namespace = 'ns5'", 100}},
	"workflow_runs":            {{"where namespace = 'ns5' order by created_at desc limit 100", 5300}, {"where namespace = 'ns5' and run_id = '01900000-0000-7000-8000-00000000f10e'", 40}},
	"workflow_steps":           {{"where run_id = (select run_id from core.workflow_runs where namespace = 'ns5' limit 1)", 200}},
	"workflow_waits":           {{"where namespace = 'ns5' limit 100", 4200}},
	"trigger_status":           {{"", 20}},
	"watch_status":             {{"", 60}},
	"upcoming":                 {{"order by due_at limit 100", 370}, {"where namespace = 'ns5' order by due_at limit 100", 270}},
}

// functions are those that who reads may call. Those that compute, or look at one row, are here as well, so that each has been thought of.
var functions = map[string][]look{
	"create_namespace":                     {{"'ns5'", 60}},
	"require_namespace":                    {{"'ns5'", 60}},
	"peek":                                 {{"'core_events_ns1', 1000", 42}},
	"event_status":                         {{"500", 75}},
	"find_event":                           {{"(select event_uid from core.event_log where event_id = 99990)", 370}},
	"kv_get":                               {{"'ns5', 'c', 'user/7/107'", 30}},
	"kv_list":                              {{"'ns1', 'c', 'user/7', p_limit => 10", 120}},
	"next_runs":                            {{"(select task_id from core.scheduled_tasks where namespace = 'ns5' limit 1)", 20}, {"'0 3 * * *'", 10}},
	"cron_drift":                           {{"", 310}},
	"now":                                  {{"", 10}},
	"workflow_tree":                        {{"(select run_id from core.workflow_runs where namespace = 'ns5' limit 1)", 700}},
	"schema_version":                       {{"", 10}},
	"visible_namespaces":                   {{"", 10}},
	"queue_name_for_namespace":             {{"'ns5'", 10}},
	"dead_letter_queue_name_for_namespace": {{"'ns5'", 10}},
}

// lines are all lists of the command line, by their verb, as one would ask. Where more is left than is shown they count it, up to 10,000.
// Each is a session of its own, which reads catalogs for some hundred pages, and a hundred for each table of a queue; how many depends on the
// server's version and on what the session reads first, so each may read half as much again as was seen.
//
// The log's events of a namespace are found by type: some pages for each type and each month that has an index.
var lines = map[string][]look{
	"at list":              {{"", 850}, {"-n ns5", 540}, {"--status appended", 770}},
	"audit":                {{"", 660}, {"-n ns5", 860}},
	"consumer list":        {{"", 5100}, {"-n ns5", 1300}, {"--limit 2", 2700}},
	"cron diff":            {{"", 2400}},
	"dlq group":            {{"", 760}, {"-n ns5", 280}},
	"dlq list":             {{"", 540}, {"-n ns5", 1300}, {"--type type.7", 2600}},
	"events attempts":      {{"01900000-0000-7000-8000-00000000beef", 20}},
	"events list":          {{"", 810}, {"-n ns5 --type type.15", 730}, {"-n ns2", 5000}, {"-n ns1", 3000}, {"-n ns5", 5100}},
	"outbox list":          {{"-n ns5", 640}},
	"workflow list":        {{"-n ns5", 3500}, {"-n ns5 --status failed", 3300}},
	"workflow definitions": {{"-n ns5", 1600}},
	"kv list":              {{"-n ns5 c", 2600}, {"-n ns1 c --prefix user/7", 2600}},
	"namespace list":       {{"", 250}},
	"node list":            {{"", 380}},
	"node cursors":         {{"", 380}},
	"queue list":           {{"", 7500}, {"-n ns5", 1400}, {"--limit 2", 2700}},
	"queue peek":           {{"core_events_ns1", 1600}},
	"sweeps":               {{"", 120}},
	"ingress list":         {{"", 300}},
	"webhook list":         {{"", 300}},
	"handler list":         {{"", 300}},
	"trigger list":         {{"", 300}},
	"watched list":         {{"", 300}},
	"task history":         {{"task113 -n ns5", 630}},
	"task list":            {{"", 1500}, {"-n ns5", 480}},
}

// Looks at a large database read what they show, not what there is. What is judged is pages, as EXPLAIN counts them, in a database of a tenth
// of the size at which each look is to take no more than 100 ms: whatever reads in proportion to it is found here, however fast the machine.
//
// Who looks is a reader: what policies add to a statement changes how it is planned.
// holds: P3-looks (pages read by every view, every function of readers and every list of the command line, at a tenth of the size promised)
func TestLooksReadWhatTheyShow(t *testing.T) {
	db, s := onDatabase(t)
	bigdb.Fill(t, db, bigdb.Tenth)
	login, loginURL := db.As("nexus_reader")
	reader, err := pgx.Connect(t.Context(), loginURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close(context.Background()) })
	ask := func(sql string, most int) {
		t.Helper()
		if _, err := reader.Exec(t.Context(), sql); err != nil { // warm: catalogs are read, too
			t.Fatalf("%s: %v", sql, err)
		}
		var plan []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := reader.QueryRow(t.Context(), "explain (analyze, buffers, timing off, format json) "+sql).Scan(&plan); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		pages := plan[0].Plan.Hit + plan[0].Plan.Read
		t.Logf("%5d pages of %5d: %s", pages, most, sql)
		if pages > most {
			t.Errorf("%s reads %d pages, which is more than %d", sql, pages, most)
		}
	}

	there := dbtest.Get[[]string](db, "select array_agg(viewname::text order by viewname) from pg_views where schemaname = 'core'")
	if listed := slices.Sorted(maps.Keys(views)); !slices.Equal(listed, there) {
		t.Errorf("the views are %q, and this test knows %q: say what each may read", there, listed)
	}
	for _, name := range there {
		for _, l := range views[name] {
			ask("select * from core."+name+" "+l.ask, l.pages)
		}
	}

	there = dbtest.Get[[]string](db, `select array_agg(distinct p.proname::text order by p.proname::text) from pg_proc p
		where p.pronamespace = 'core'::regnamespace and has_function_privilege('nexus_reader', p.oid, 'execute')`)
	if listed := slices.Sorted(maps.Keys(functions)); !slices.Equal(listed, there) {
		t.Errorf("readers may call %q, and this test knows %q: say what each may read", there, listed)
	}
	for _, name := range there {
		for _, l := range functions[name] {
			ask("select * from core."+name+"("+l.ask+")", l.pages)
		}
	}

	explaining(db, login)
	s.cfg.DatabaseURL = loginURL
	known := maps.Clone(lines)
	lists(t, func(verb string, _ *cobra.Command) {
		if _, ok := lines[verb]; !ok {
			t.Errorf("%s is a list that this test does not know: say what it may read", verb)
		}
		delete(known, verb)
		for _, l := range lines[verb] {
			line := strings.Fields(verb + " " + l.ask)
			pages, statements := s.pages(line...)
			t.Logf("%5d pages of %5d in %d statements: %s", pages, l.pages, statements, strings.Join(line, " "))
			if pages > l.pages || statements == 0 {
				t.Errorf("%s reads %d pages in %d statements, which is more than %d", strings.Join(line, " "), pages, statements, l.pages)
			}
		}
	})
	for verb := range known {
		t.Errorf("%s is no list", verb)
	}
}

// At the promised size each look takes 100 ms at most, the command's own work and its connection counted in. Pages don't tell what a look computes.
// A machine that runs tests does other things, too: the best of some counts, and twice the time is let pass, with a note.
func TestLooksAreQuick(t *testing.T) {
	if os.Getenv("NEXUS_TEST_LONG") == "" {
		t.Skip("fills a database for a minute, and wants the machine for itself: make test-long sets NEXUS_TEST_LONG")
	}
	db, s := onDatabase(t)
	bigdb.Fill(t, db, bigdb.Promised)
	connect := func(role string) (*pgx.Conn, string) {
		_, u := db.As(role)
		conn, err := pgx.Connect(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn, u
	}
	quick := func(what string, look func() error) {
		t.Helper()
		best := time.Hour
		for range 9 {
			begun := time.Now()
			if err := look(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			best = min(best, time.Since(begun))
		}
		const most = 100 * time.Millisecond
		t.Logf("%6.1f ms: %s%s", best.Seconds()*1000, what, either(best > most, ", more than the promised 100", ""))
		if best > 2*most {
			t.Errorf("%s takes %s", what, best)
		}
	}
	ask := func(conn *pgx.Conn, sql string) {
		t.Helper()
		quick(sql, func() error {
			_, err := conn.Exec(t.Context(), sql)
			return err
		})
	}
	reader, readerURL := connect("nexus_reader")
	for _, name := range slices.Sorted(maps.Keys(views)) {
		for _, l := range views[name] {
			ask(reader, "select * from core."+name+" "+l.ask)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, l := range functions[name] {
			ask(reader, "select * from core."+name+"("+l.ask+")")
		}
	}
	operator, _ := connect("nexus_operator")
	for _, filter := range []string{`{"type": "none"}`, `{"type": "none.*"}`, `{"reason": "none"}`, `{"namespace": "ns5"}`, `{"namespace": "ns1"}`, `{"type": "type.7"}`} {
		ask(operator, "select * from core.preview_dead_letters('"+filter+"')")
	}
	s.cfg.DatabaseURL = readerURL
	task := dbtest.Get[string](db, "select name from core.scheduled_tasks where namespace = 'ns5' limit 1") // of a tenth it is another
	for _, verb := range slices.Sorted(maps.Keys(lines)) {
		for _, l := range lines[verb] {
			line := strings.Fields(strings.ReplaceAll(verb+" "+l.ask, "task113", task))
			quick(strings.Join(line, " "), func() error {
				if r := s.run(line...); r.code != exitOK && verb != "cron diff" {
					return errors.New(r.errors)
				}
				return nil
			})
		}
	}
}

// explaining has the sessions of the login tell how each statement went.
func explaining(db *dbtest.DB, login string) {
	for _, o := range []string{
		"session_preload_libraries = auto_explain", "auto_explain.log_min_duration = 0", "auto_explain.log_analyze = on", "auto_explain.log_buffers = on",
		"auto_explain.log_timing = off", "auto_explain.log_format = json", "auto_explain.log_level = warning",
	} {
		db.Exec("alter role " + login + " set " + o)
	}
}

var (
	planOf = regexp.MustCompile(`duration: [0-9.]+ ms\s+plan:`)
	blocks = regexp.MustCompile(`"Shared (?:Hit|Read) Blocks": ([0-9]+)`)
)

// pages are those that the statements of a command line read, with those of the functions they call.
func (s *shell) pages(line ...string) (pages, statements int) {
	s.t.Helper()
	r := s.run(line...)
	if r.code != exitOK && !slices.Contains(line, "diff") { // which says so when something differs
		s.t.Errorf("nexus-node %s: exit code %d\n%s", strings.Join(line, " "), r.code, r.errors)
	}
	for _, plan := range planOf.Split(r.errors, -1)[1:] {
		statements++
		found := blocks.FindAllStringSubmatch(plan, 2) // of the top of the plan, which has all of it
		if len(found) < 2 {
			s.t.Fatal(fmt.Errorf("this plan has no pages: %s", plan))
		}
		for _, f := range found {
			n, _ := strconv.Atoi(f[1])
			pages += n
		}
	}
	return pages, statements
}
