package everycall

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// How a function finds what it is about.
const (
	ByName = "name" // of a namespace or queue: the caller says which one it means
	ByID   = "id"   // of something in the database, whatever namespace it is in
	Whole  = ""     // nothing: the function is about the whole database, or computes
)

// arguments are what each gets that a function does not list itself. One that is not here has a default, or the test fails.
var arguments = map[string]string{ //nolint:gosec // the token of a claim is no secret
	"p_namespace": "{namespace}", "p_queue": "{queue}", "p_consumer": "'default'", "p_name": "'nightly'",
	"p_event_id": "{event}", "p_event_uid": "{uid}", "p_dead_letter_id": "{dead}", "p_dead_letter_ids": "array[{dead}]::bigint[]", "p_claim_token": "null", "p_claim_tokens": "array[{uid}]::uuid[]", "p_tokens": "array[{uid}]::uuid[]", "p_error": "'everycall'", "p_node_id": "{node}", "p_incarnation": "{incarnation}",
	"p_task_id": "{task}", "p_schedule_id": "{schedule}", "p_msg_id": "{msg}", "p_read_ct": "{ct}", "p_node": "{node}",
	"p_event_type": "'a.made'", "p_payload": `'{"n": 1}'`, "p_types": "array['a.made']", "p_max_attempts": "'{0}'", "p_limit": "10",
	"p_trigger_id": "{trigger}", "p_lease": "'30 s'", "p_ids": "array[{msg}]::bigint[]", "p_cts": "array[{ct}]::integer[]",
	"p_ack_ids": "array[{msg}]::bigint[]", "p_ack_cts": "array[{ct}]::integer[]", "p_marker": "1",
	"p_last_read_at": "{read_at}", "p_ats": "array[{read_at}]::timestamptz[]", "p_ack_ats": "array[{read_at}]::timestamptz[]",
	"p_cron_expression": "'0 4 * * *'", "p_expression": "'0 4 * * *'", "p_from": "now() - interval '1 day'", "p_to": "now()",
	"p_at": "now() + interval '2 days'", "p_reason": "'everycall'", "p_resolution": "'ignored'", "p_role": "'nexus_reader'",
	"p_duty": "'read'", "p_confirm": "{queue}", "p_filter": "jsonb_build_object('ids', jsonb_build_array({dead}))", "p_state": "'active'",
	"p_given": "true", "p_key": "7", "p_keys": "array[{queue}]", "p_for": "'1 s'", "p_policy": "'{}'", "p_attempt": "1",
	"p_producer_node_id": "null", "p_collection": "'sparekeys'", "p_inbox_id": "{inbox}", "p_target": "'everyhandler'", "p_value": `'{"n": 1}'`, "p_holder": "'01900000-0000-7000-8000-00000000cafe'", "p_turn": "1", "p_event_ids": "array[{event}]::bigint[]",
	"p_run": "{run}", "p_run_id": "{run}", "p_runs": "array[{run}]::uuid[]", "p_path": "''", "p_paths": "array['']", "p_epoch": "1", "p_epochs": "'{1}'", "p_token": "{uid}", "p_pos": "0", "p_entered": "0", "p_ord": "'{1}'",
	"p_workflow": "'spareflow'", "p_defs": "array[{def}]::bigint[]", "p_step": "'a'", "p_action": "'retry'",
}

// Nothing fails in calls of settle and its like: what they acknowledge is enough.
var nothingFailed = map[string]string{"p_failed": "'[]'"}

// Function says how one is called.
type Function struct {
	By        string
	Arguments map[string]string // beside those that all have
	Refuses   string            // the code that it always answers with, if it does
}

// All are the functions of core, by name; an overload that differs also with the types of its arguments.
var All = map[string]Function{
	"ack":              {By: ByName},
	"alter_namespace":  {By: ByName, Arguments: map[string]string{"p_options": `'{"metadata": {"a": 1}}'`}},
	"alter_scheduler":  {Arguments: map[string]string{"p_options": `'{"keep_slots": "10 days"}'`}},
	"alter_settings":   {Arguments: map[string]string{"p_options": `'{"max_trigger_depth": 9}'`}},
	"append_event_log": {By: ByName},
	"apply_tasks": {By: ByName, Arguments: map[string]string{"p_owner": "'everycall'", "p_tasks": `jsonb_build_array(jsonb_build_object(
		'namespace', {namespace}, 'name', 'x', 'cron_expression', '0 4 * * *', 'event_type', 'a.made'))`}},
	"backfill_task(text,text,timestamp with time zone,timestamp with time zone)": {By: ByName},
	"backfill_task(uuid,timestamp with time zone,timestamp with time zone)":      {By: ByID},
	"ack_broadcast":          {By: ByID, Refuses: "NX301"},
	"claim_broadcast":        {By: ByID},
	"holds_broadcast":        {By: ByID},
	"settle_broadcast":       {By: ByID, Arguments: map[string]string{"p_result": `'{}'`}},
	"cancel_deliveries":      {By: ByName},
	"cancel_scheduled_event": {By: ByID},
	"claim":                  {By: ByName},
	"claim_batch":            {By: ByName, Arguments: map[string]string{"p_lease": "null", "p_key": "7", "p_within": "'5 s'"}},
	"claim_these":            {By: ByName},
	"close_express":          {By: ByName},
	"consumer_settings":      {By: ByName},
	"create_consumer":        {By: ByName, Arguments: map[string]string{"p_consumer": "'everycall'", "p_patterns": "array['a.*']"}},
	"alter_consumer":         {By: ByName, Arguments: map[string]string{"p_patterns": "null", "p_options": `'{"max_in_flight": 5}'`}},
	"watch_table":            {By: ByName, Refuses: "NX017", Arguments: map[string]string{"p_table": "'pg_class'"}},
	"register_watch":         {By: ByName, Refuses: "NX017", Arguments: map[string]string{"p_table": "'pg_class'", "p_options": "'{}'", "p_locked": "false"}},
	"unwatch_table":          {Refuses: "NX112", Arguments: map[string]string{"p_table": "0::oid::regclass"}},
	"forget_watch":           {Refuses: "NX112", Arguments: map[string]string{"p_table": "0::oid::regclass"}},
	"lock_watched":           {Arguments: map[string]string{"p_table": "'pg_class'", "p_timeout": "'1 s'", "p_mode": "'none'"}},
	"table_blockers":         {Arguments: map[string]string{"p_table": "'pg_class'"}},
	"switch_watch":           {By: ByID, Arguments: map[string]string{"p_watch_id": "{watch}", "p_on": "true"}}, "pause_consumer": {By: ByName},
	"resume_consumer":                      {By: ByName},
	"create_ingress_token":                 {By: ByName, Arguments: map[string]string{"p_name": "'everytoken'"}},
	"revoke_ingress_token":                 {By: ByName, Arguments: map[string]string{"p_name": "'sparetoken'"}},
	"ingress_token":                        {Arguments: map[string]string{"p_token_id": "'01900000-0000-7000-8000-00000000cafe'"}},
	"create_webhook":                       {By: ByName, Arguments: map[string]string{"p_consumer": "'everyhook'", "p_url": "'https://shop.example/in'", "p_patterns": "array['a.*']"}},
	"alter_webhook":                        {By: ByName, Arguments: map[string]string{"p_consumer": "'sparehook'", "p_url": "'https://shop.example/in'", "p_options": `'{"timeout": "9 s"}'`}},
	"rotate_webhook_secret":                {By: ByName, Arguments: map[string]string{"p_consumer": "'sparehook'"}},
	"drop_webhook":                         {By: ByName, Arguments: map[string]string{"p_consumer": "'sparehook'"}},
	"webhooks":                             {By: ByName},
	"note_webhook":                         {By: ByName, Arguments: map[string]string{"p_consumer": "'sparehook'"}},
	"drop_consumer":                        {By: ByName, Arguments: map[string]string{"p_consumer": "'spare'"}},
	"create_namespace":                     {By: ByName, Arguments: map[string]string{"p_options": `'{}'`}},
	"register_namespace":                   {By: ByName, Arguments: map[string]string{"p_options": `'{}'`}},
	"require_namespace":                    {By: ByName, Arguments: map[string]string{"p_options": `'{}'`}},
	"cron_drift":                           {},
	"dead_letter_queue_name_for_namespace": {By: ByName},
	"delete_task(text,text)":               {By: ByName},
	"delete_task(uuid)":                    {By: ByID},
	"discard_dead_letter":                  {By: ByID},
	"discard_dead_letters":                 {By: ByID},
	"drain_node":                           {By: ByID},
	"drop_namespace":                       {By: ByName, Arguments: map[string]string{"p_confirm": "{namespace}", "p_force": "true"}},
	"emit":                                 {By: ByName},
	"emit_batch":                           {By: ByName, Arguments: map[string]string{"p_event_types": "array['a.made']", "p_payloads": "array['1']::jsonb[]"}},
	"event_status":                         {By: ByID},
	"extend":                               {By: ByName},
	"find_event":                           {By: ByID},
	"fire_due":                             {},
	"fire_due_events":                      {},
	"forget_node":                          {By: ByID},
	"grant_namespace":                      {By: ByName},
	"heartbeat":                            {By: ByID},
	"register_workflow":                    {By: ByName, Arguments: map[string]string{"p_name": "'everyflow'", "p_version": "1", "p_steps": `'[{"name": "a", "kind": "step"}]'`}},
	"unfit_runs":                           {By: ByName, Arguments: map[string]string{"p_workflow": "'everyflow'", "p_steps": `'[{"name": "a", "kind": "step"}]'`}},
	"start_workflow":                       {By: ByName},
	"workflow_pace":                        {By: ByName},
	"start_runs":                           {By: ByName},
	"claim_runs":                           {By: ByName},
	"claim_unread_runs":                    {By: ByName},
	"read_run":                             {By: ByID},
	"signal_workflow":                      {By: ByID, Arguments: map[string]string{"p_name": "'go'"}},
	"cancel_workflow":                      {By: ByID},
	"retry_workflow":                       {By: ByID},
	"accept_workflow":                      {By: ByID},
	"fork_workflow":                        {By: ByID},
	"workflow_outcome":                     {By: ByID},
	"workflow_tree":                        {By: ByID},
	"commit_steps": {By: ByID, Arguments: map[string]string{"p_pos": "'{0}'", "p_entered": "'{1}'", "p_keys": "'{a}'", "p_ords": "array['{1}']", "p_results": "'{1}'",
		"p_undos": "array[null]::text[]", "p_ops": "'{next}'", "p_outputs": "array[null]::text[]"}},
	"commit_tx_step":        {By: ByID, Refuses: "NX301", Arguments: map[string]string{"p_key": "'a'", "p_op": "'next'"}},
	"undo_tx_step":          {By: ByID, Refuses: "NX301", Arguments: map[string]string{"p_key": "'a'"}},
	"commit_step":           {By: ByID, Arguments: map[string]string{"p_key": "'a'", "p_result": "'1'"}},
	"end_branch":            {By: ByID, Arguments: map[string]string{"p_path": "'p/a'"}},
	"fail_step":             {By: ByID, Arguments: map[string]string{"p_key": "'a'"}},
	"wait_step":             {By: ByID, Arguments: map[string]string{"p_key": "'a'", "p_kind": "'sleep'", "p_for": "'1 s'"}},
	"fan_out":               {By: ByID, Arguments: map[string]string{"p_key": "'a'", "p_branches": "'{b}'"}},
	"start_child":           {By: ByID, Arguments: map[string]string{"p_key": "'a'"}},
	"undo_step":             {By: ByID, Arguments: map[string]string{"p_key": "'a'"}},
	"extend_runs":           {By: ByID},
	"release_runs":          {By: ByID},
	"set_progress":          {By: ByID, Arguments: map[string]string{"p_progress": "'1'"}},
	"claim_undo":            {},
	"run_undo":              {},
	"fail_undo":             {},
	"outbox_register_queue": {By: ByName, Arguments: map[string]string{"p_queue": "'everycall'", "p_lanes": "2"}},
	"outbox_drop_queue":     {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox2'"}},
	"outbox_enqueue":        {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'", "p_body": "'x'", "p_body_type": "'t'"}},
	"outbox_enqueue_batch":  {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'", "p_bodies": "'{x}'", "p_body_types": "'{t}'", "p_keys": "'{k}'"}},
	"outbox_pace":           {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'"}},
	"lanes_due":             {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'"}},
	"lane_pause":            {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'", "p_lane": "0"}},
	"lane_release":          {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'", "p_lane": "0"}},
	"lane_resume":           {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'", "p_lane": "0"}},
	"lane_skip":             {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'", "p_lane": "0"}},
	"outbox_repartition":    {By: ByName, Arguments: map[string]string{"p_queue": "'spareordered'", "p_lanes": "3"}},
	"outbox_replay":         {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'"}},
	"claim_ordered":         {By: ByName, Arguments: map[string]string{"p_consumer": "'spareordered'"}},
	"look_ordered":          {By: ByName, Arguments: map[string]string{"p_consumer": "'spareordered'", "p_wait": "'1 s'"}},
	"settle_ordered": {By: ByID, Arguments: map[string]string{
		"p_results": `jsonb_build_array(jsonb_build_object('lane', {lane}, 'token', {uid}, 'seq', 0, 'id', 1, 'action', 'ack'))`,
	}},
	"lanes_rebase":        {},
	"fetch_lane":          {By: ByID, Arguments: map[string]string{"p_lane_id": "{lane}"}},
	"settle_lane":         {By: ByID, Refuses: "NX301", Arguments: map[string]string{"p_lane_id": "{lane}", "p_token": "{uid}", "p_from": "0"}},
	"give_back_lanes":     {By: ByName, Arguments: map[string]string{"p_queue": "'spareoutbox'"}},
	"extend_lanes":        {By: ByID, Arguments: map[string]string{"p_lane_ids": "array[{lane}]::integer[]"}},
	"kv_cas":              {By: ByName, Arguments: map[string]string{"p_key": "'everycall'", "p_version": "0"}},
	"kv_delete":           {By: ByName, Arguments: map[string]string{"p_key": "'sparekey'"}},
	"kv_get":              {By: ByName, Arguments: map[string]string{"p_key": "'sparekey'"}},
	"kv_list":             {By: ByName},
	"kv_set":              {By: ByName, Arguments: map[string]string{"p_key": "'everycall'"}},
	"look":                {By: ByName, Arguments: map[string]string{"p_wait": "'1 s'"}},
	"maintain_partitions": {},
	"may_operate":         {By: ByName},
	"metrics_sample":      {By: ByName},
	"must_drain":          {By: ByID},
	"next_runs(text,text,timestamp with time zone,integer)": {},
	"next_runs(uuid,timestamp with time zone,integer)":      {By: ByID},
	"next_delayed_due":                   {},
	"node_process":                       {By: ByName},
	"now":                                {},
	"open_express":                       {By: ByName},
	"pause_task(text,text)":              {By: ByName},
	"pause_task(uuid)":                   {By: ByID},
	"peek":                               {By: ByName},
	"preview_dead_letters":               {By: ByID},
	"claim_dead_letters":                 {By: ByID},
	"extend_dead_letters":                {By: ByID},
	"reject_dead_letter":                 {By: ByID, Arguments: map[string]string{"p_claim_token": "{uid}"}, Refuses: "NX303"},
	"expire_dead_letters":                {By: ByID},
	"count_dead_letters":                 {By: ByID},
	"promote_delayed":                    {},
	"purge_queue":                        {By: ByName},
	"queue_name_for_namespace":           {By: ByName},
	"reap_nodes":                         {},
	"recall_express":                     {By: ByName, Arguments: map[string]string{"p_keys": "array[7]::bigint[]"}},
	"refuse_commit":                      {Refuses: "NX211"},
	"register_node":                      {By: ByName, Arguments: map[string]string{"p_node_id": "'everycall'"}},
	"repair_cron":                        {},
	"repair_partitions":                  {},
	"replace_capabilities":               {By: ByID},
	"replay_events":                      {By: ByName, Arguments: map[string]string{"p_filter": `'{"type": "*"}'`, "p_options": `'{"replay_id": "everycall"}'`}},
	"replay_dead_letter":                 {By: ByID},
	"replay_dead_letters":                {By: ByID},
	"reschedule_event":                   {By: ByID},
	"resolve_dead_letter":                {By: ByID},
	"resolve_dead_letters":               {By: ByID},
	"resume_task(text,text)":             {By: ByName},
	"resume_task(uuid)":                  {By: ByID},
	"retry_delay":                        {},
	"request":                            {By: ByName},
	"await_reply":                        {By: ByID, Arguments: map[string]string{"p_timeout": "'1 ms'"}},
	"take_reply":                         {By: ByID},
	"cancel_request":                     {By: ByID},
	"begin_request":                      {By: ByID},
	"answer_request":                     {By: ByName, Refuses: "NX006", Arguments: map[string]string{"p_status": "500", "p_error": "'everycall'"}},
	"revoke_namespace":                   {By: ByName},
	"run_deliveries_now":                 {By: ByName},
	"run_scheduled_task":                 {By: ByID},
	"run_sweep":                          {Arguments: map[string]string{"p_name": "'reap'"}},
	"run_task_now(text,text)":            {By: ByName},
	"run_task_now(uuid)":                 {By: ByID},
	"schedule_event":                     {By: ByName},
	"schedule_task":                      {By: ByName, Arguments: map[string]string{"p_name": "'everycall'"}},
	"schema_version":                     {},
	"claim_sql":                          {},
	"run_sql":                            {Arguments: map[string]string{"p_consumer_id": "1", "p_runner": "'everycall'"}},
	"fail_sql":                           {Arguments: map[string]string{"p_consumer_id": "1", "p_runner": "'everycall'", "p_error": "'everycall'"}},
	"claim_own":                          {By: ByName},
	"run_own":                            {Refuses: "NX401", Arguments: map[string]string{"p_consumer_id": "1"}},
	"fail_own":                           {Refuses: "NX401", Arguments: map[string]string{"p_consumer_id": "1", "p_error": "'everycall'"}},
	"work":                               {By: ByName},
	"require_routed":                     {By: ByName, Arguments: map[string]string{"p_consumer": "'everyrouted'"}},
	"create_handler":                     {By: ByName, Refuses: "NX006", Arguments: map[string]string{"p_key": "'sql:every'"}},
	"drop_handler":                       {By: ByName, Arguments: map[string]string{"p_key": "'go:every'"}},
	"create_trigger":                     {By: ByName, Arguments: map[string]string{"p_name": "'everytrigger'", "p_source": `'{"event": {"pattern": "a.*"}}'`, "p_target": "'go:every'"}},
	"enable_trigger(text,text,jsonb)":    {By: ByName, Arguments: map[string]string{"p_name": "'sparetrigger'"}},
	"enable_trigger(uuid,jsonb)":         {By: ByID},
	"match_back(text,text,text,jsonb)":   {By: ByName, Arguments: map[string]string{"p_name": "'sparetrigger'", "p_from": "'beginning'"}},
	"match_back(uuid,text,jsonb)":        {By: ByID, Arguments: map[string]string{"p_from": "'beginning'"}},
	"disable_trigger(text,text,boolean)": {By: ByName, Arguments: map[string]string{"p_name": "'sparetrigger'"}},
	"disable_trigger(uuid,boolean)":      {By: ByID},
	"delete_trigger(text,text)":          {By: ByName, Arguments: map[string]string{"p_name": "'sparetrigger'"}},
	"delete_trigger(uuid)":               {By: ByID},
	"hand_over_triggers":                 {By: ByName, Arguments: map[string]string{"p_namespace": "{namespace}", "p_from_role": "'nexus_reader'", "p_to_role": "'nexus_operator'"}},
	"http_routes":                        {By: ByName},
	"fire_http":                          {By: ByID, Arguments: map[string]string{"p_trigger_id": "{http}", "p_generation": "0"}},
	"test_triggers":                      {By: ByName},
	"subscribe":                          {By: ByName, Refuses: "NX006", Arguments: map[string]string{"p_pattern": "'a.*'", "p_function": "null::regprocedure"}},
	"unsubscribe":                        {By: ByName},
	"retry_event":                        {Refuses: "NX701"},
	"reject_event":                       {Refuses: "NX702"},
	"release_event":                      {Refuses: "NX703"},
	"settle":                             {By: ByName, Arguments: nothingFailed},
	"settle_and_claim":                   {By: ByName, Arguments: nothingFailed},
	"settle_batch":                       {By: ByName, Arguments: nothingFailed},
	"sync_cron_jobs":                     {},
	"tick":                               {},
	"touch_node_heartbeat":               {By: ByID},
	"unpark":                             {By: ByName},
	"visible_namespaces":                 {},
	"wait_for_sql":                       {By: ByName},
	"wait_for_wake":                      {By: ByName},
}

// Routine is a function of the database with what is known of it.
type Routine struct {
	Function
	Schema, Name, Key string // the key in All
	Arguments         []Argument
}

// Argument is one that a caller gives.
type Argument struct {
	Name, Type string
	Default    bool
	Value      string // with the words of a [Place]
}

// Call is the function with its arguments, of which the given ones (by name) are others than usual.
func (r Routine) Call(p Place, other map[string]string) string {
	var args []string
	for _, a := range r.Arguments {
		value, given := other[a.Name]
		if !given {
			value = a.Value
		}
		if value != "" {
			args = append(args, a.Name+" => "+value)
		}
	}
	return p.Fill(r.Schema + "." + r.Name + "(" + strings.Join(args, ", ") + ")")
}

// Signature is its name with the types of its arguments.
func (r Routine) Signature() string {
	types := make([]string, len(r.Arguments))
	for i, a := range r.Arguments {
		types[i] = a.Type
	}
	return r.Schema + "." + r.Name + "(" + strings.Join(types, ",") + ")"
}

// Routines are the functions of core and core_node that the database has. It is an error if one is in no list, or a list has one that is gone.
func Routines(t testing.TB, db *dbtest.DB) []Routine {
	t.Helper()
	rows := dbtest.Get[[]string](db, `
		select array_agg(concat_ws('|', p.pronamespace::regnamespace, p.proname, pg_catalog.array_to_string(array(select format_type(y, null) from unnest(p.proargtypes) y), ','),
		         p.proname || ':' || p.pronargs - p.pronargdefaults, array_to_string(p.proargnames[1:p.pronargs], ','))
		         order by p.proname, p.proargtypes::text)
		  from pg_proc p where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace) and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype`)
	missing := map[string]bool{}
	for key := range All {
		missing[key] = true
	}
	var found []Routine
	for _, row := range rows {
		schema, rest, _ := strings.Cut(row, "|")
		part := strings.Split(rest, "|")
		r := Routine{Schema: schema, Name: part[0], Key: part[0] + "(" + part[1] + ")"}
		f, listed := All[r.Key]
		if !listed {
			r.Key = r.Name
			f, listed = All[r.Key]
		}
		if !listed {
			t.Errorf("%s.%s(%s) is not in everycall.All: say there how it is called", r.Schema, r.Name, part[1])
			continue
		}
		delete(missing, r.Key)
		r.Function = f
		needed := 0
		for _, c := range strings.TrimPrefix(part[2], r.Name+":") {
			needed = needed*10 + int(c-'0')
		}
		if part[1] != "" {
			types := strings.Split(part[1], ",")
			for i, name := range strings.Split(part[3], ",") {
				a := Argument{Name: name, Type: types[i], Default: i >= needed, Value: arguments[name]}
				if v, own := f.Arguments[name]; own {
					a.Value = v
				} else if a.Default {
					a.Value = ""
				}
				if a.Value == "" && !a.Default {
					t.Errorf("%s.%s: everycall has no value for %s", r.Schema, r.Key, name)
				}
				r.Arguments = append(r.Arguments, a)
			}
		}
		found = append(found, r)
	}
	for key := range missing {
		t.Errorf("everycall.All lists %s, which the database does not have", key)
	}
	slices.SortFunc(found, func(a, b Routine) int { return strings.Compare(a.Key, b.Key) })
	return found
}
