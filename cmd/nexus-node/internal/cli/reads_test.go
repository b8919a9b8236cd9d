package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	"blockers":                 {{"", 200}},
	"cron_drift":               {{"", 300}},
	"cron_job_runs":            {{"limit 100", 100}},
	"cron_jobs":                {{"limit 100", 100}},
	"dead_letter_groups":       {{"", 900}, {"where namespace = 'ns5'", 850}},
	"lost_queues":              {{"", 200}, {"where namespace = 'ns5'", 20}},
	"node_status":              {{"", 20}},
	"partitions":               {{"", 400}},
	"pending_scheduled_events": {{"order by due_at limit 100", 30}, {"where namespace = 'ns5' order by due_at limit 100", 200}},
	"queue_metrics":            {{"", 1500}, {"where queue_name = 'core_events_ns5'", 60}, {"where namespace = 'ns5'", 100}},
	"scheduler_status":         {{"", 20}},
	"sweep_status":             {{"", 20}},
	"task_status":              {{"where namespace = 'ns5' and name = 'task113'", 400}, {"order by namespace, name limit 20", 4000}},
	"unhandled_types":          {{"where namespace = 'ns5'", 600}, {"where queue_name = 'core_events_ns5'", 600}},
	"unresolved_dead_letters":  {{"order by dead_letter_id limit 100", 30}, {"where namespace = 'ns5' order by dead_letter_id desc limit 100", 250}},
	"upcoming":                 {{"order by due_at limit 100", 60}, {"where namespace = 'ns5' order by due_at limit 100", 100}},
}

// functions are those that who reads may call. Those that compute, or look at one row, are here as well, so that each has been thought of.
var functions = map[string][]look{
	"peek":                                 {{"'core_events_ns1', 1000", 200}},
	"event_status":                         {{"500", 300}},
	"find_event":                           {{"(select event_uid from core.event_log where event_id = 99990)", 600}},
	"next_runs":                            {{"(select task_id from core.scheduled_tasks where namespace = 'ns5' limit 1)", 50}, {"'0 3 * * *'", 20}},
	"create_namespace":                     {{"'ns5', '{\"retry\": {}}'", 50}},
	"cron_drift":                           {{"", 400}},
	"require_namespace":                    {{"'ns5'", 50}},
	"now":                                  {{"", 5}},
	"schema_version":                       {{"", 10}},
	"visible_namespaces":                   {{"", 50}},
	"queue_name_for_namespace":             {{"'ns5'", 10}},
	"dead_letter_queue_name_for_namespace": {{"'ns5'", 10}},
}

// lines are all lists of the command line, by their verb, as one would ask. Where more is left than is shown they count it, up to 10,000.
// Each is a session of its own, which reads catalogs for some hundred pages, and a hundred for each table of a queue; how many depends on the
// server's version and on what the session reads first, so each may read half as much again as was seen.
//
// Those at the end of their line still read what there is of a namespace in the log, of a type in the ledger of dead letters, or of a status
// among scheduled events: no index has that order.
var lines = map[string][]look{
	"at list":         {{"", 450}, {"-n ns5", 450}, {"--status appended", 950}},
	"audit":           {{"", 400}, {"-n ns5", 400}},
	"consumer list":   {{"", 5500}, {"-n ns5", 2100}, {"--limit 2", 2800}},
	"cron diff":       {{"", 3200}},
	"dlq group":       {{"", 2100}, {"-n ns5", 1000}},
	"dlq list":        {{"", 750}, {"-n ns5", 1100}, {"--type type.7", 1400}},
	"events attempts": {{"01900000-0000-7000-8000-00000000beef", 100}},
	"events list":     {{"", 550}, {"-n ns5 --type type.15", 450}, {"-n ns2", 850}, {"-n ns1", 3600}, {"-n ns5", 5600}},
	"namespace list":  {{"", 150}},
	"node list":       {{"", 200}},
	"queue list":      {{"", 7700}, {"-n ns5", 2200}, {"--limit 2", 2800}},
	"queue peek":      {{"core_events_ns1", 2100}},
	"sweeps":          {{"", 150}},
	"task history":    {{"task113 -n ns5", 400}},
	"task list":       {{"", 950}, {"-n ns5", 400}},
}

// Looks at a large database read what they show, not what there is. What is judged is pages, as EXPLAIN counts them, in a database of a tenth
// of the size at which each look is to take no more than 100 ms: whatever reads in proportion to it is found here, however fast the machine.
func TestLooksReadWhatTheyShow(t *testing.T) {
	db, s := onDatabase(t)
	bigdb.Fill(t, db, bigdb.Tenth)
	ask := func(sql string, most int) {
		t.Helper()
		db.Exec(sql) // warm: catalogs are read, too
		var plan []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal([]byte(dbtest.Get[string](db, "explain (analyze, buffers, timing off, format json) "+sql)), &plan); err != nil {
			t.Fatal(err)
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

	s.cfg.DatabaseURL = explaining(t, db.OwnerURL)
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

// explaining is a URL whose sessions tell how each statement went.
func explaining(t *testing.T, rawURL string) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	var options []string
	for _, o := range []string{
		"session_preload_libraries=auto_explain", "auto_explain.log_min_duration=0", "auto_explain.log_analyze=on", "auto_explain.log_buffers=on",
		"auto_explain.log_timing=off", "auto_explain.log_format=json", "auto_explain.log_level=warning",
	} {
		options = append(options, "-c "+o)
	}
	q := u.Query()
	q.Set("options", strings.Join(options, " "))
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
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
