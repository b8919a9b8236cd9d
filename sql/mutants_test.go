package nexussql_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// mutant is a function of the database with one promise taken out, and the script that has to notice.
type mutant struct {
	breaks   string   // the statement of the contract, and what is taken out
	function string   // schema.name, with the types of its arguments if there are overloads
	replace  []string // from, to, from, to, …
	script   string   // below tests, without .sql
	dies     bool     // the script ends with an error instead of a failed assertion
}

var mutants = []mutant{
	{"NS1 a conflict is named", "core.create_namespace", []string{"is distinct from core_private.normal_namespace_options(p_options) then", "is null then"}, "create_namespace/again", false},
	{"NS2 reserved names", "core_private.check_namespace_name", []string{"when v_flat = 'nexus' then 'it is reserved'", ""}, "create_namespace/names", false},
	{"NS2 suffixes of relations", "core_private.check_namespace_name", []string{"_vt_idx|", ""}, "create_namespace/names", false},
	{"NS2 two separators", "core_private.check_namespace_name", []string{"when v_flat ~ '__' then 'two separators stand in a row'", ""}, "create_namespace/names", false},
	{"NS3 shared queues", "core.create_namespace", []string{"where q.queue_name in (v_queue, v_dlq)", "where false"}, "create_namespace/names", false},
	{"NS3 a queue that another role owns", "core_private.create_queue", []string{"not pg_has_role(current_user, c.relowner, 'usage')", "false"}, "create_namespace/foreign_queue", false},
	{"NS4 names by rule", "core.queue_name_for_namespace", []string{"replace(p_namespace, '-', '_')", "p_namespace"}, "create_namespace/names", false},
	{"NS5 confirmation", "core.drop_namespace", []string{"p_confirm is distinct from p_namespace", "false"}, "drop_namespace/confirm", false},
	{"NS5 undelivered events", "core.drop_namespace", []string{"if v_held then", "if false then"}, "drop_namespace/confirm", false},
	{"E1 only matching consumers", "core_private.deliver_to_others", []string{"and exists (select from unnest(c.patterns) p where core_private.matches(p, p_event_type))", ""}, "emit/consumers", false},
	{"E1 only matching consumers, of a batch", "core_private.emit_many", []string{"s.due_at is null and exists (select from unnest(%L::text[]) p where core_private.matches(p, s.event_type))", "s.due_at is null and %L is not null"}, "emit/consumers", false},
	{"E1 a named consumer is noted", "core_private.note_named_consumers", []string{"case when tg_op <> 'INSERT' then old.namespace end", "null"}, "emit/named_consumers", false},
	{"E1 the log knows the message", "core.emit", []string{"else jsonb_build_object('messageId', v_message_id) end", "else '{}'::jsonb end"}, "emit/one", false},
	{"E1 rows in input order", "core_private.emit_many", []string{"order by i.n\n", "order by i.n desc\n"}, "emit_batch/batch", false},
	{"E2 one event a key", "core.emit", []string{"if not v_key.won then", "if false then"}, "emit/dedupe", false},
	{"E2 expired keys are free", "core_private.claim_keys", []string{"x.expires_at <= p_now", "false"}, "emit/dedupe", true},
	{"E2 expired keys are swept", "core_private.expire_keys", []string{"x.expires_at <= v_now", "false"}, "emit/dedupe", false},
	{"E3 numbers", "core_private.check_payload", []string{"{255}[0-9]{54}", "{255}[0-9]{255}"}, "emit/payloads", false},
	{"E3 nesting", "core_private.check_payload", []string{"$.**{1000}", "$.**{1001}"}, "emit/payloads", false},
	{"E3 size", "core_private.check_payload", []string{"if v_bytes > p_max_bytes then", "if false then"}, "emit/payloads", false},
	{"E4 length of types", "core_private.is_event_type", []string{"200", "250"}, "emit/one", false},
	{"E reserved headers", "core_private.parse_emit_options", []string{"k ilike 'nexus-%'", "false"}, "emit/options", false},
	{"E durations carry a unit", "core_private.parse_interval", []string{"and v_text !~ '^[[:space:]]*[-+]?[0-9.]+[[:space:]]*$'", ""}, "emit/options", false},
	{"E unknown options", "core_private.check_option_keys", []string{"k <> all (p_known)", "false"}, "emit/options", false},
	{"D1 types", "core.claim", []string{"or coalesce(w.t, 'unknown.raw') ^@ any ($7)", "or true"}, "claim/claim", false},
	{"D1 patterns", "core.claim", []string{"or coalesce(w.t, 'unknown.raw') ^@ any ($7)", ""}, "claim/claim", false},
	{"D1 the floor moves on", "core.claim", []string{"count(*)::integer, max(m.msg_id)", "count(*)::integer, max(m.msg_id) filter (where m.fate is null)"}, "claim/claim", false},
	{"D1 a lease hides", "core.claim", []string{"set vt = $1 + $2", "set vt = $1"}, "claim/claim", false},
	{"D2 the fence of acks", "core.settle", []string{"q.msg_id = u.id and q.read_ct = u.ct", "q.msg_id = u.id"}, "settle/fence", false},
	{"D2 the fence of failures", "core_private.settle_failed", []string{"on q.msg_id = u.id and q.read_ct = u.ct", "on q.msg_id = u.id"}, "settle/fence", false},
	{"D3 the fence of leases", "core.extend", []string{"q.msg_id = u.id and q.read_ct = u.ct", "q.msg_id = u.id"}, "settle/fence", false},
	{"D4 a release uses no attempt", "core_private.settle_failed", []string{"q.read_ct - core_private.attempt_of(q.read_ct, q.headers) + 1", "0"}, "settle/fence", false},
	{"D4 due times in headers", "core_private.settle_failed", []string{"jsonb_build_object('nexus-due', core_private.iso(u.due))", "'{}'::jsonb"}, "settle/fence", false},
	{"D4 the fence of ack", "core.ack", []string{"and q.read_ct = $2", "and $2 > 0"}, "settle/fence", false},
	{"D5 bounded", "core.retry_delay", []string{"least(greatest(v_delay, 0), v_max)", "v_delay"}, "retry_delay/bounds", false},
	{"D5 no overflow", "core.retry_delay", []string{"least(v_n - 1, 60)", "v_n - 1"}, "retry_delay/bounds", true},
	{"D5 handler over consumer over namespace", "core.settle", []string{"v_owner.namespace_retry || v_owner.consumer_retry", "v_owner.consumer_retry || v_owner.namespace_retry"}, "settle/attempts", false},
	{"D5 an explicit time is exact", "core_private.settle_failed", []string{"coalesce(f.after, core.retry_delay(f.effective, f.attempt))", "core.retry_delay(f.effective, f.attempt)"}, "settle/attempts", false},
	{"D5 attempts are used up", "core_private.settle_failed", []string{"then 'exhausted' else", "then 'retry' else"}, "settle/attempts", false},
	{"D6 a killer is buried", "core.claim", []string{"when w.read_ct > 2147480000 or w.read_ct > 0 and core_private", "when false and core_private"}, "claim/claim", false},
	{"D4 a count of deferrals sent by hand says nothing", "core_private.attempt_of", []string{"operator(pg_catalog.<=) p_read_ct", "operator(pg_catalog.>=) 0"}, "claim/hostile_headers", false},
	{"P1 a message that is NULL", "core.claim", []string{"coalesce(q.message ->> ''eventType'' = any ($10), false) as plain", "(q.message ->> ''eventType'' = any ($10)) as plain"}, "claim/null_message", false},
	{"P1 a message that is NULL, buried", "core_private.bury", []string{"coalesce(r.message, 'null')", "r.message"}, "claim/null_message", false},
	{"D6 what cannot be buried", "core_private.bury_found", []string{"exception when others then", "exception when sqlstate 'NX999' then"}, "claim/unburied", true},
	{"I4 the caller's search_path", "core.run_sweep", []string{"perform set_config('search_path', p_search_path, false)", "null"}, "partitions/search_path", true},
	{"E3 times that some readers cannot take", "core_private.parse_time", []string{"or v_time >= '10000-01-01Z'", ""}, "emit/options", false},
	{"D6 deferrals are no attempts", "core_private.attempts_used_up", []string{"core_private.attempt_of(p_read_ct, p_headers)", "p_read_ct"}, "settle/attempts", false},
	{"metrics: one look serves all", "core.metrics_sample", []string{"and m.sampled_at <= v_now - p_max_age", ""}, "metrics_sample/sample", false},
	{"metrics: of one namespace", "core_private.count_queues", []string{"where q.namespace = any (p_namespaces)", "where true"}, "metrics_sample/sample", false},
	{"pickup lag of what was delayed", "core.promote_delayed", []string{"jsonb_build_object('nexus-due', core_private.iso(g.due_at))", "'{}'"}, "emit/consumers", false},
	{"D7 unknown.raw", "core_private.bury_found", []string{"or not core_private.is_handled(p_namespace, p_consumer, 'unknown.raw', p_now)", "or true"}, "claim/claim", false},
	{"D7 unknown.raw is delivered", "core.claim", []string{"w.plain or coalesce(w.t, 'unknown.raw') = any ($6)", "w.plain or coalesce(w.t, '') = any ($6)"}, "claim/unknown_raw", false},
	{"D1 a boolean is no type, nor where types are checked", "core_private.type_if_valid", []string{"and p_text operator(pg_catalog.<>) 'true'", ""}, "claim/lookalikes", false},
	{"D1 a number is no type, nor where types are checked", "core_private.type_if_valid", []string{"p_text operator(pg_catalog.>=) 'A' collate pg_catalog.\"C\"", "true"}, "claim/lookalikes", false},
	{"D1 a boolean is no type", "core.claim", []string{" and t not in ('true', 'false')", ""}, "claim/lookalikes", false},
	{"D1 a number is no type", "core.claim", []string{" and t ~ '[A-Za-z]'", ""}, "claim/lookalikes", false},
	{"D1 what cannot be a type", "core.claim", []string{"core_private.is_event_type(t) and", ""}, "claim/lookalikes", false},
	{"D1 bytes", "core.claim", []string{"(where u.before < 33554432)", "(where true)"}, "claim/bytes", false},
	{"D1 bytes, and the floor", "core.claim", []string{"least(v_scanned, min(u.id) filter (where u.before >= 33554432) - 1)", "v_scanned"}, "claim/bytes", false},
	{"D1 a claim without a floor is bounded", "core.claim", []string{"order by h.msg_id limit 20000", "order by h.msg_id"}, "claim/bounded", false},
	{"D1 and says that there is more", "core.claim", []string{"v_looked := v_window;", ""}, "claim/bounded", false},
	{"D1 wide windows lock what they take", "core.claim", []string{") as t from %s),", ") as t from %s for update of q skip locked),"}, "claim/bounded", false},
	{"D1 wide windows leave nothing behind", "core.claim", []string{"case when count(*) >= $4 then max(m.msg_id) end", "null"}, "claim/bounded", false},
	{"D1 sweeps go by due time", "core.claim", []string{"order by q.vt limit $3", "order by q.msg_id limit $3"}, "claim/at_scale", false},
	{"D7 only where a node lives", "core_private.live_patterns", []string{"and n.last_heartbeat >= p_now - 3 * n.heartbeat_every", ""}, "nodes/life", false},
	{"D7 in flight is not parked", "core_private.park", []string{"where w.vt <= $6 and w.t", "where w.t", "where q.vt <= $6 for update", "for update"}, "parking/park", false},
	{"D7 no envelope is not parked", "core_private.park", []string{"w.t is not null and not (w.t = any ($3) or w.t ^@ any ($4))", "not coalesce(w.t = any ($3) or w.t ^@ any ($4), false)"}, "parking/park", true},
	{"D7 types", "core_private.park", []string{"or w.t ^@ any ($4)", ""}, "parking/park", false},
	{"D7 the search goes on", "core_private.park", []string{"case when v_looked < p_window then 0 else v_to end", "0 * v_to"}, "parking/park", false},
	{"D7 attempts stay", "core_private.pull_back", []string{"select b.msg_id, b.read_ct,", "select b.msg_id, 0,"}, "parking/park", false},
	{"D7 headers stay", "core_private.pull_back", []string{"b.message, b.headers from", "b.message, null from"}, "parking/park", false},
	{"D7 ids stay", "core_private.pull_back", []string{"select b.msg_id, b.read_ct", "select b.msg_id + 1000, b.read_ct"}, "parking/park", false},
	{"D7 patterns as ranges", "core_private.pull_back", []string{"else p || ' ' end", "else p || '~' end"}, "parking/ranges", false},
	{"D7 brought back when registering", "core.register_node", []string{"perform core.unpark(p_namespace, 1000);", ""}, "parking/park", false},
	{"D7 in batches", "core.register_node", []string{"perform core.unpark(p_namespace, 1000);", "perform core.unpark(p_namespace, 100000);"}, "parking/park", false},
	{"D7 an outage does not count", "core_private.park_unhandled", []string{"greatest(v_parking.seen_at, r.since)", "v_parking.seen_at"}, "parking/give_up", false},
	{"D7 nor does silence", "core_private.park_unhandled", []string{", r.silence);", ", interval '100 days');"}, "parking/give_up", false},
	{"D7 handled ones are not given up", "core_private.park_unhandled", []string{"if v_back < p_limit then", "if true then"}, "parking/give_up", false},
	{"D7 the consumer over the namespace", "core_private.park_unhandled", []string{"coalesce(c.unhandled_after, n.unhandled_after)", "n.unhandled_after"}, "parking/give_up", false},
	{"D7 a paused consumer", "core_private.park_unhandled", []string{"and c.state = 'active'", ""}, "parking/give_up", false},
	{"D7 removed where another had it", "core_private.give_up_parked", []string{"$5 = 'default' and exists", "$5 = 'nobody' and exists"}, "parking/elsewhere", false},
	{"D7 and only if it was there", "core_private.give_up_parked", []string{"and o.message ->> 'emittedAt' collate \"C\" >= core_private.iso(c.created_at)", ""}, "parking/elsewhere", false},
	{"D7 a consumer's own nodes", "core_private.live_patterns", []string{"and c.consumer = p_consumer", ""}, "parking/elsewhere", false},
	{"D8 comes back as it was", "core.promote_delayed", []string{"coalesce(u.ct, 0)", "0"}, "delayed/set_aside", false},
	{"D8 under its id", "core.promote_delayed", []string{"coalesce(u.id, nextval", "coalesce(null, nextval"}, "delayed/set_aside", false},
	{"D8 what is in flight stays", "core_private.set_aside", []string{"(q.read_ct = 0 or q.headers ->> 'nexus-due' = core_private.iso(q.vt)) and", ""}, "delayed/set_aside", false},
	{"D8 by index", "core.promote_delayed", []string{"d.due_at <= v_now", "d.due_at + interval '0' <= v_now"}, "claim/at_scale", false},
	{"D8 delayed events wait apart", "core.emit", []string{"elsif v_due_at is null then", "elsif true then"}, "emit/options", false},
	{"D8 and not too short", "core.promote_delayed", []string{"where d.due_at <= v_now", "where true"}, "emit/options", false},
	{"H3 types", "core.claim_batch", []string{"where (w.t is null or $5 or w.t = any ($6) or w.t ^@ any ($7)) and", "where"}, "claim_batch/express", false},
	{"H3 not counted before", "core.claim_batch", []string{"'select ''claimed''::text, l.*, null::bigint from (select q.msg_id, q.read_ct, q.message, q.headers from %s q where q.ctid = any ($1) offset 0) l order by l.msg_id'",
		"'update %s q set read_ct = q.read_ct + 1 where q.ctid = any ($1) returning ''claimed''::text, q.msg_id, q.read_ct, q.message, q.headers, null::bigint'"}, "claim_batch/express", false},
	{"H3 the lock", "core.claim_batch", []string{"perform pg_advisory_xact_lock(p_key)", "perform 1"}, "claim_batch/express", false},
	{"H3 the server's limits", "core.claim_batch", []string{"'idle_in_transaction_session_timeout', ", ""}, "claim_batch/express", false},
	{"H3 shorter limits stay", "core.claim_batch", []string{"least(nullif(current_setting(s.name)::interval, '0'), p_within)", "p_within"}, "claim_batch/express", false},
	{"H3 what waits is not due", "core.claim_batch", []string{"and q.vt <= $2 and q.msg_id = w.msg_id", "and q.msg_id = w.msg_id", "q.msg_id >= $1 and q.vt <= $2 order", "q.msg_id >= $1 order"}, "claim_batch/express", false},
	{"H3 fewer are left", "core.claim_batch", []string{">= $13)", ">= 0)"}, "claim_batch/express", false},
	{"H3 the floor moves on", "core.claim_batch", []string{"max(w.msg_id) from w", "max(w.msg_id) from w where w.t = any ($6)"}, "claim_batch/express", false},
	{"H3 a killer is buried", "core.claim_batch", []string{"or q.read_ct > 0 and core_private", "or false and core_private"}, "claim_batch/express", false},
	{"H3 unknown.raw", "core_private.bury_found", []string{"or not core_private.is_handled(", "or true or not core_private.is_handled("}, "claim_batch/express", false},
	{"H3 unanswered ones go alone", "core.claim_batch", []string{"core_private.attempt_of(c.read_ct, c.headers) > coalesce(core_private.header_number(c.headers, 'nexus-failures'), 0)", "false"}, "claim_batch/leases", false},
	{"H3 answered ones do not", "core.claim_batch", []string{"> coalesce(core_private.header_number(c.headers, 'nexus-failures'), 0)", "> 0"}, "claim_batch/leases", false},
	{"H3 those of a dead batch go alone", "core.claim_batch", []string{"c.msg_id between b.lowest and b.highest", "false"}, "claim_batch/leases", false},
	{"H3 and no others", "core.claim_batch", []string{"and (b.msg_ids is null or c.msg_id = any (b.msg_ids))", ""}, "claim_batch/leases", false},
	{"H3 last attempts go alone", "core.claim_batch", []string{"core_private.attempts_used_up(c.read_ct + 1,", "core_private.attempts_used_up(c.read_ct - 9,"}, "claim_batch/leases", false},
	{"H3 quiet for five minutes", "core_private.express_trouble", []string{"5 minutes", "50 minutes"}, "claim_batch/leases", false},
	{"H3 a death under a lease is not quiet", "core.claim_batch", []string{"if v_trouble and v_suspects > 0 then", "if false then"}, "claim_batch/leases", false},
	{"H3 nobody else commits", "core.refuse_commit", []string{"raise exception using", "raise notice using"}, "express/commit", false},
	{"H3 a death is noticed", "core.open_express", []string{"perform core_private.note_express_deaths(p_queue, coalesce(p_floor, 0));", ""}, "express/marks", false},
	{"H3 a death has consequences", "core.open_express", []string{"leases := core_private.express_trouble(p_queue)", "leases := false"}, "express/marks", false},
	{"H3 old marks are forgotten", "core_private.sweep_express", []string{"where b.died_at <= v_old", "where false"}, "express/marks", false},
	{"H3 marks without a node are found", "core_private.sweep_express", []string{"core_private.note_express_deaths(r.queue_name, 0)", "0"}, "express/marks", false},
	{"H3 a failure counts", "core_private.settle_failed", []string{"read_ct = q.read_ct + $12", "read_ct = q.read_ct"}, "settle_batch/settle", false},
	{"H3 at the attempt it was", "core_private.settle_failed", []string{"core_private.attempt_of(q.read_ct + $10, q.headers)", "core_private.attempt_of(q.read_ct, q.headers)"}, "settle_batch/settle", false},
	{"H3 in the ledger too", "core_private.settle_failed", []string{"if p_express then", "if false then"}, "settle_batch/settle", false},
	{"H3 all or nothing", "core.settle_batch", []string{"if v_lost > 0 then", "if false then"}, "settle_batch/settle", false},
	{"H3 the fence of a batch", "core.settle_batch", []string{"q.msg_id = u.id and q.read_ct = u.ct", "q.msg_id = u.id"}, "settle_batch/settle", false},
	{"H3 the mark goes with the batch", "core.settle_batch", []string{"if p_marker is not null then", "if false then"}, "settle_batch/settle", false},
	{"H3 exactly these", "core.claim_these", []string{"and q.read_ct = u.ct", ""}, "settle_batch/settle", false},
	{"H3 only what is due", "core.claim_these", []string{"where q.vt <= $3", "where true"}, "settle_batch/settle", false},
	{"L1 attempts in the ledger", "core_private.bury", []string{"core_private.attempt_of(g.read_ct, g.headers)", "g.read_ct"}, "settle/attempts", false},
	{"L2 the copy is the one named", "core_private.bury", []string{"select r.dlq_msg_id, $8,", "select r.dlq_msg_id + 1000, $8,"}, "bury/fence", false},
	{"L2 the fence of burial", "core_private.bury", []string{"and q.read_ct = u.ct", ""}, "bury/fence", false},
	{"L2 resolving removes the copy", "core_private.remove_copies", []string{"q.msg_id = any ($1)", "q.msg_id = any ($1) and false"}, "replay_dead_letters/filter", false},
	{"L2 replaying removes the copy", "core_private.redeliver", []string{"perform core_private.remove_copies", "perform array_length(array[1], 1); --"}, "dead_letters/replay", false},
	{"L2 unresolved ones are kept", "core_private.apply_retention", []string{"x.resolved_at < v_now - interval '30 days'", "coalesce(x.resolved_at, x.failed_at) < v_now - interval '30 days'"}, "apply_retention/ages", false},
	{"L3 a round a burial", "core_private.bury", []string{"coalesce((select max(l.round) + 1 from core.dead_letters l where l.source_kind = 'delivery' and l.source_ref = r.source_ref), 0)", "0"}, "bury/fence", true},
	{"L3 filters", "core_private.filter_dead_letters", []string{"and (not $1 ? 'reason' or l.reason = $1 ->> 'reason')", ""}, "replay_dead_letters/filter", false},
	{"L3 no such source", "core_private.filter_dead_letters", []string{"<> all (v_kinds)", "<> all (v_kinds) and false"}, "replay_dead_letters/filter", false},
	{"L3 a criterion of null", "core_private.filter_dead_letters", []string{"jsonb_typeof(p_filter -> v_key) <> 'string' or", ""}, "replay_dead_letters/filter", false},
	{"L3 a dry run", "core.replay_dead_letters", []string{"if v_dry then", "if false then"}, "dead_letters/replay", false},
	{"L4 the rate", "core_private.redeliver", []string{"* (row_number() over (order by l.dead_letter_id) - 1)", ""}, "replay_dead_letters/rate", false},
	{"L4 batches pass what is skipped", "core_private.filter_dead_letters", []string{"and l.dead_letter_id > $6", ""}, "preview_dead_letters/groups", false},
	{"L4 what is skipped and why", "core.replay_dead_letters", []string{"and l.dead_letter_id <> all (v_done)", "and false"}, "preview_dead_letters/groups", false},
	{"L5 resolutions", "core_private.check_resolution", []string{"v_resolution is null or", "false and"}, "resolve_dead_letters/words", true},
	{"L5 who did it", "core_private.audit", []string{"p_reason, p_details", "p_reason, '{}'"}, "resolve_dead_letters/words", false},
	{"N1 only a killed one is replaced", "core_private.was_killed", []string{"p_node.principal = core_private.principal()", "true"}, "nodes/life", false},
	{"N1 drained once", "core.register_node", []string{"drain_requested_at = null", "drain_requested_at = n.drain_requested_at"}, "drain_node/request", false},
	{"N1 a forgotten id is free", "core.forget_node", []string{"set state = 'lost'", "set state = n.state"}, "forget_node/frees_the_id", true},
	{"P2 leases are told from waiting", "core.event_status", []string{"then 'in flight' else 'waiting' end", "then 'waiting' else 'waiting' end"}, "event_status/each_place", false},
	{"P2 parked events", "core.event_status", []string{"p.event_id = p_event_id and", "false and"}, "event_status/each_place", false},
	{"P2 hidden events", "core.event_status", []string{"e.event_id = p_event_id and e.namespace = any (v_names)", "e.event_id = p_event_id"}, "event_status/each_place", false},
	{"L5 a purge is confirmed", "core.purge_queue", []string{"p_confirm is distinct from p_queue", "false"}, "purge_queue/counts", false},
	{"L4 once", "core_private.lock_dead_letter", []string{"if v_row.status <> 'pending' then", "if false then"}, "dead_letters/replay", false},
	{"L4 rounds", "core_private.redeliver", []string{"l.replay_count + 1", "l.replay_count"}, "dead_letters/replay", false},
	{"L4 headers stay", "core_private.redeliver", []string{"coalesce(l.headers, '{}') ||", "'{}'::jsonb ||"}, "dead_letters/replay", false},
	{"P1 columns of queue_metrics", "core_private.count_queues", []string{"is distinct from core_private.iso(h.vt)", "is distinct from ''"}, "queue_metrics/counts", false},
	{"P1 append_event_log", "core.append_event_log", []string{"coalesce(p_metadata, '{}')", "coalesce(p_metadata, '{\"x\": 1}')"}, "append_event_log/log_only", false},
	{"P2 peek changes nothing", "core.peek", []string{"STABLE", "VOLATILE", "    return query execute", "    execute format('update %s set read_ct = read_ct + 1', core_private.queue_relation(p_queue));\n    return query execute"}, "peek/reads_only", false},
	{"P2 partitions", "core_private.run_partition_maintenance", []string{"'UTC'", "'America/New_York'"}, "partitions/utc", false},
	{"P3 bounded", "core_private.count_queues", []string{"n.n > 10000 as big", "false as big"}, "queue_metrics/counts", false},
	{"I1 rows in the default partition", "core_private.run_partition_maintenance", []string{"if v_default > 0 or", "if"}, "partitions/utc", false},
	{"I1 repair", "core.repair_partitions", []string{"'UTC'", "'America/New_York'"}, "partitions/utc", true},
	{"I3 restricted namespaces", "core_private.has_duty", []string{"return not p_restricted or exists", "return true or exists"}, "rights/hidden_rows", false},
	{"I3 duties", "core_private.has_duty", []string{"g.duty = p_duty", "true"}, "rights/namespaces", false},
	{"I3 who produces does not read", "core.visible_namespaces", []string{"core_private.has_duty(n.namespace, 'read', n.restricted)", "core_private.has_duty(n.namespace, 'read', n.restricted) or core_private.has_duty(n.namespace, 'produce', n.restricted)"}, "rights/reading", false},
	{"I3 who operates reads", "core_private.has_duty", []string{"or p_duty = 'read' and core_private.has_duty(p_namespace, 'operate', true, v_caller)", ""}, "rights/reading", false},
	{"I3 a role, not a name", "core_private.has_duty", []string{"on r.oid = g.role", "on r.rolname = g.role_name"}, "rights/dropped_roles", false},
	{"I3 a dropped role's grants can be revoked", "core.revoke_namespace", []string{"or g.role_name = p_role and not exists", "or false and not exists"}, "rights/dropped_roles", false},
	{"I3 no name of a closed namespace", "core_private.require_duty_there", []string{"n.namespace = p_namespace and n.restricted", "false"}, "nodes/foreign", false},
	{"N1 a node of a closed namespace keeps its id", "core.register_node", []string{"v_row.namespace <> p_namespace", "false"}, "nodes/foreign", false},
	{"I3 rows of the queues", "core_private.secure_queue", []string{"using (%L = any ((select core.visible_namespaces())::text[]))", "using (%L <> '''')"}, "rights/hidden_rows", false},
	{"I3 the caller, not the owner", "core_private.caller", []string{"session_user::name else current_setting('role')::name", "session_user::name else session_user::name"}, "rights/namespaces", false},
	{"I3 the hint", "core_private.require_duty", []string{"core_private.duty_role(p_duty), v_caller);", "core_private.duty_role(p_duty), 'x');"}, "rights/definer", false},
	{"I4 isolation", "core_private.run_one_sweep", []string{"v_error := sqlstate || ' ' || sqlerrm;", "raise;"}, "tick/isolation", true},
	{"I4 only what is due", "core.tick", []string{"s.last_started_at <= v_now - case", "v_now <= v_now + case"}, "tick/isolation", false},
	{"N1 a given id", "core.register_node", []string{"if p_given then", "if false then"}, "nodes/life", false},
	{"N1 what it can do", "core.register_node", []string{"from unnest(p_types, v_consumers) u(t, c)", "from unnest(p_types, v_consumers) u(t, c) where false"}, "nodes/life", false},
	{"N2 the lost register anew", "core.heartbeat", []string{"and n.state <> 'lost'", ""}, "nodes/life", false},
	{"P2 what is set aside is found", "core.event_status", []string{"d.msg_id = any (v_ids)", "false"}, "event_status/each_place", false},
	{"L5 what was done is told apart", "core_private.mark_resolved", []string{"case p_resolution when 'discarded' then 'discard_dead_letters' else", "case when false then '' else"}, "resolve_dead_letters/words", false},
	{"N2 a goodbye stays", "core.heartbeat", []string{"and (n.state <> 'stopped' or p_state = 'stopped')", ""}, "nodes/life", false},
	{"N2 three heartbeats", "core.reap_nodes", []string{"3 * n.heartbeat_every", "30 * n.heartbeat_every"}, "nodes/life", false},
	{"S3 weekday seven", "core_private.cron_field", []string{"i % 7 else", "least(i, 6) else"}, "next_slot/zones", false},
	{"S3 weekday seven as stored", "core_private.cron_field", []string{"(i % 7)::text", "i::text"}, "compile_cron/stored", false},
	{"S3 steps of one", "core_private.cron_field", []string{"when v_step = 1 then '*' else", "when false then '*' else"}, "compile_cron/stored", false},
	{"S3 steps within the field", "core_private.cron_field", []string{"if v_step not between 1 and v_hi then", "if v_step < 1 then"}, "compile_cron/refused", false},
	{"S3 no range runs backwards", "core_private.cron_field", []string{"elsif v_v[2] < v_v[1] then", "elsif false then"}, "compile_cron/refused", false},
	{"S3 five fields", "core_private.compile_cron", []string{"if cardinality(v_fields) <> 5 then", "if cardinality(v_fields) < 5 then"}, "compile_cron/refused", false},
	{"S3 positions", "core_private.cron_field", []string{"v_at := v_at + length(v_item) + 1", "v_at := v_at + length(v_item)"}, "compile_cron/refused", false},
	{"S3 dates that never come", "core_private.compile_cron", []string{"if v_day > 29 and", "if false and"}, "compile_cron/refused", false},
	{"S3 ambiguous days", "core_private.compile_cron", []string{"if v_fields[3] like '*/%' and v_fields[5] <> '*' then", "if false then"}, "compile_cron/refused", false},
	{"S3 control characters", "core_private.compile_cron", []string{"-\\\\u009f]' then", "]' then"}, "compile_cron/refused", false},
	{"S3 @every counts from its anchor", "core_private.next_slot", []string{"elsif p_after < p_anchor then", "elsif false then"}, "next_slot/zones", false},
	{"S12 only the owner's", "core.apply_tasks", []string{"where t.owner = p_owner and (", "where ("}, "apply_tasks/owner", false},
	{"S12 what is no longer declared", "core.apply_tasks", []string{"perform core.delete_task(r.task_id);", ""}, "apply_tasks/owner", false},
	{"S12 dry run", "core.apply_tasks", []string{"if p_dry_run then", "if false then"}, "apply_tasks/owner", false},
	{"S12 errors name the task", "core.apply_tasks", []string{"when others then", "when sqlstate 'NX999' then"}, "apply_tasks/owner", false},
	{"S4 the first of two", "core_private.next_slot", []string{"v_u := v_u - v_gap;", ""}, "next_slot/zones", false},
	{"S4 slots that a gap moved", "core_private.next_slot", []string{"v_from := v_from - v_gap;", ""}, "next_slot/zones", false},
	{"S4 the Vixie classes", "core_private.next_slot", []string{"p_spec ->> 'class' = 'fixed'", "true"}, "next_slot/zones", false},
	{"S4 an hour that comes again", "core_private.next_slot", []string{"if ((v_w at time zone 'UTC') at time zone p_timezone) - v_w = v_offset then", "if true then"}, "next_slot/zones", false},
	{"S4 either day field", "core_private.next_local_minute", []string{"case when get_bit(p_bits, 169) = 1 then", "case when true then"}, "next_slot/zones", false},
	{"S4 the session's zone", "core_private.next_slot", []string{"return v_best at time zone 'UTC'", "return v_best"}, "next_slot/zones", false},
	{"S4 abbreviations", "core_private.check_timezone", []string{"from core_private.timezones z where", "from (select name from pg_timezone_names) z where"}, "check_timezone/names", false},
	{"S4 canonical names", "core_private.check_timezone", []string{"return v_name", "return p_timezone"}, "check_timezone/names", false},
	{"S4 new zone data", "core_private.refresh_timezones", []string{"set changed_at = v_now", "set changed_at = null"}, "check_timezone/names", false},
	{"O1 other content", "core.schedule_event", []string{"if found and r.content_hash <> v_hash then", "if false then"}, "schedule_event/content", false},
	{"O1 the time is content", "core.schedule_event", []string{"p_payload, core_private.iso(p_at), v_meta", "p_payload, v_meta"}, "schedule_event/content", false},
	{"O1 headers are content", "core.schedule_event", []string{", 'headers', o.headers))", "))"}, "schedule_event/content", false},
	{"O1 a reschedule keeps the hash", "core.reschedule_event", []string{"set fire_at = p_at,", "set fire_at = p_at, content_hash = '',"}, "schedule_event/content", true},
	{"O1 refused now: payload", "core.schedule_event", []string{"v_bytes := core_private.check_payload(p_payload, v_max);", "v_bytes := 8;"}, "schedule_event/content", false},
	{"O1 refused now: type", "core.schedule_event", []string{"perform core_private.check_event_type(p_event_type);", ""}, "schedule_event/content", false},
	{"O1 refused now: options", "core.schedule_event", []string{"perform core_private.check_option_keys(p_options, v_known);", ""}, "schedule_event/content", false},
	{"O2 never early", "core.fire_due_events", []string{"e.due_at <= v_now and", "e.due_at <= v_now + interval '1 ms' and"}, "fire_due_events/once", false},
	{"O2 what is late is due at once", "core.schedule_event", []string{"v_due := greatest(p_at, v_now);", "v_due := p_at;"}, "schedule_event/content", false},
	{"O2 the next due time", "core_private.next_scheduled_event_due", []string{"order by e.due_at limit 1", "order by e.due_at desc limit 1"}, "fire_due_events/once", false},
	{"O3 event_uid", "core_private.emit_many", []string{"coalesce(p.key_uid, p.given_uid, gen_random_uuid())", "coalesce(p.key_uid, gen_random_uuid())"}, "fire_due_events/once", true},
	{"O3 authored_at is kept", "core_private.append_scheduled_events", []string{"core_private.iso(e.message_timestamp)", "core_private.iso(p_now)"}, "fire_due_events/once", false},
	{"O3 once", "core_private.append_scheduled_events", []string{"set status = 'appended', event_id = x.event_id, finished_at = p_now,", "set"}, "fire_due_events/once", false},
	{"O3 tags", "core_private.append_scheduled_events", []string{"when e.tags is null then", "when true then"}, "fire_due_events/once", false},
	{"O4 a second cancel", "core.cancel_scheduled_event", []string{"and e.status = 'pending'", "and e.status <> 'appended'"}, "cancel_scheduled_event/answers", false},
	{"O4 too late", "core.cancel_scheduled_event", []string{"when 'appended' then 'already_appended'", "when '' then ''"}, "cancel_scheduled_event/answers", false},
	{"O4 no move of what is over", "core.reschedule_event", []string{"and e.status = 'pending'", "and e.status <> 'failed'"}, "cancel_scheduled_event/answers", true},
	{"O6 halving", "core_private.fire_isolated", []string{"if v_half > 0 then", "if false then"}, "fire_due_events/failures", false},
	{"O6 what passes is raised", "core_private.is_transient", []string{"in ('53', '57')", "in ('57')"}, "fire_due_events/failures", false},
	{"O6 lost races are raised", "core_private.is_transient", []string{"'40001', ", ""}, "fire_due_events/failures", false},
	{"O6 backoff", "core_private.fail_scheduled_event", []string{"due_at = p_now + core.retry_delay(v_retry, e.attempts + 1)", "due_at = p_now"}, "fire_due_events/failures", false},
	{"O6 attempts are used up", "core_private.fail_scheduled_event", []string{"then 'failed' else", "then 'pending' else"}, "fire_due_events/failures", false},
	{"O6 a dead letter", "core_private.fail_scheduled_event", []string{"if v_row.status = 'failed' then", "if false then"}, "fire_due_events/failures", true},
	{"O6 rounds", "core_private.fail_scheduled_event", []string{"max(l.dead_letter_id), count(l.dead_letter_id)", "null::bigint, 0"}, "fire_due_events/failures", false},
	{"O6 replayed", "core_private.refire", []string{"set status = 'pending', due_at = v_now, attempts = 0,", "set attempts = 0,"}, "fire_due_events/failures", false},
	{"O7 the floor", "core.fire_due_events", []string{"and e.due_at >= v_floor", ""}, "fire_due_events/floor", false},
	{"O7 the floor leaves room for late commits", "core.fire_due_events", []string{"floor = v_now - interval '5 minutes'", "floor = v_now"}, "fire_due_events/floor", false},
	{"O7 everything once a minute", "core.fire_due_events", []string{"v_state.swept_at + interval '1 minute'", "v_state.swept_at + interval '1 hour'"}, "fire_due_events/floor", false},
	{"O7 the floor stays while more is due", "core.fire_due_events", []string{"if v_sweep and v_seen < p_limit then", "if v_sweep then"}, "fire_due_events/floor", false},
	{"O7 a clock set back", "core.fire_due_events", []string{"v_now not between v_state.swept_at and v_state.swept_at + interval '1 minute'", "v_now > v_state.swept_at + interval '1 minute'"}, "fire_due_events/floor", false},
	{"O7 tombstones go", "core_private.remove_tombstones", []string{"interval '30 days'", "interval '300 days'"}, "fire_due_events/failures", false},
	{"O7 in batches", "core_private.remove_tombstones", []string{"limit p_limit", "limit 100"}, "fire_due_events/failures", false},
	{"O7 failed ones stay for their dead letter", "core_private.apply_retention", []string{"and not exists (select from core.dead_letters l where l.source_kind = 'task' and l.source_ref = g.source_ref", "and not exists (select from core.dead_letters l where false and l.source_ref = g.source_ref"}, "fire_due_events/failures", false},
	{"O8 principal", "core_private.emit_many", []string{"coalesce(t.principal, $7)", "$7"}, "fire_due_events/once", false},
	{"O8 depth", "core_private.append_scheduled_events", []string{"'depth', e.depth", "'depth', 0"}, "fire_due_events/once", false},
	{"O8 correlation and causation", "core.schedule_event", []string{"'correlation_id', o.correlation_id,", "", "'causation_uid', o.causation_uid,", ""}, "fire_due_events/once", false},
	{"O rights", "core_private.require_scheduling", []string{"if not exists (select", "if false and not exists (select"}, "cancel_scheduled_event/answers", false},
	{"NS5 scheduled events", "core.drop_namespace", []string{"e.status = 'pending'", "false"}, "cancel_scheduled_event/answers", false},
	{"S1 the ledger is the proof", "core_private.fire_set", []string{"where (l.status = 'missed' and excluded", "where (true and excluded"}, "fire_tasks/once", false},
	{"S1 uids are derived", "core_private.slot_uid", []string{"p_task_id::text", "gen_random_uuid()::text"}, "fire_tasks/once", false},
	{"S1 events carry their slot", "core_private.emit_slots", []string{"'slot', core_private.iso(s.slot)", "'time', core_private.iso(s.slot)"}, "fire_tasks/once", false},
	{"S1 runs by hand have none", "core.run_task_now(uuid)", []string{"array[null::timestamptz]", "array[v_now]"}, "run_task/manual", false},
	{"S1 missed slots may be fired yet", "core.backfill_task", []string{"where l.status = 'missed'", "where false"}, "run_task/manual", false},
	{"S1 the ledger forgets in time", "core_private.expire_slots", []string{"x.recorded_at < v_before", "true"}, "run_task/manual", false},
	{"S1 who registered it is asked", "core_private.fire_set", []string{"perform core_private.check_registrars(p_namespace, p_task_ids);", ""}, "fire_tasks/isolation", false},
	{"S2 down to the bad task", "core_private.fire_isolated", []string{"if v_half > 0 then", "if false then"}, "fire_tasks/isolation", false},
	{"S2 what passes by itself", "core_private.fire_isolated", []string{"if core_private.is_transient(v_state) then", "if false then"}, "fire_tasks/isolation", false},
	{"S2 backoff", "core_private.fail_task", []string{"power(2, least(t.failures, 6))", "1"}, "fire_tasks/isolation", false},
	{"S2 one query when nothing is due", "core_private.fire_tasks", []string{"if v_work is not true then", "if false then"}, "fire_tasks/idle", false},
	{"S4 new rules of a zone", "core_private.refresh_slots", []string{"n.slot is distinct from t.next_slot", "false"}, "scheduled_tasks/zone_data", false},
	{"S5 the cap", "core_private.give_cron_job", []string{"c.task_id is null order by", "true order by"}, "scheduler/jobs", false},
	{"S5 as often as the task", "core_private.cron_superset", []string{"split_part(p_expression, ' ', 1) || ' * * * *'", "p_expression"}, "scheduler/jobs", false},
	{"S12 jobs switched off", "core_private.own_cron_drift", []string{"when not c.active then 'deactivated'", "when false then ''", "case when not j.active then 'it is switched off' end", "null"}, "cron_drift/drift", false},
	{"S12 what a job does", "core_private.own_cron_drift", []string{"case when j.command <> w.command then", "case when false then"}, "cron_drift/drift", false},
	{"S12 the id in the task", "core_private.own_cron_drift", []string{"w.job_id is distinct from j.jobid then", "false then"}, "cron_drift/drift", false},
	{"S12 jobs of tasks that are gone", "core_private.own_cron_drift", []string{"and (j.of_task is not null or", "and (false or"}, "cron_drift/drift", false},
	{"S12 places that became free", "core_private.wanted_cron_jobs", []string{"where t.active and not exists", "where false and not exists"}, "cron_drift/drift", false},
	{"S12 not visible is not fine", "core_private.others_cron_jobs", []string{"or row_security_active('cron.job') then", "then"}, "cron_drift/drift", false},
	{"S12 not visible is not missing", "core_private.own_cron_drift", []string{"not has_schema_privilege('nexus_scheduler', 'cron', 'usage')", "false"}, "cron_drift/drift", false},
	{"S12 others' jobs are named", "core_private.others_cron_jobs", []string{"j.username::text <> 'nexus_scheduler'", "false"}, "cron_drift/drift", false},
	{"S12 hidden namespaces", "core_private.own_cron_drift", []string{"select w.task_id, w.namespace, w.jobname, j.jobid", "select w.task_id, null::text as namespace, w.jobname, j.jobid"}, "cron_drift/drift", false},
	{"S12 where nothing fires", "core.sync_cron_jobs", []string{"v_fires <> current_database()", "false"}, "cron_drift/drift", false},
	{"S6 jobs go with their tasks", "core_private.follow_task", []string{"perform core_private.drop_cron_job(old.task_id, old.job_id);\n        return null;", "return null;"}, "scheduler/jobs", false},
	{"S6 a pause removes the job", "core_private.follow_task", []string{"and (not new.active or new.namespace <> old.namespace)", "and false"}, "scheduler/jobs", false},
	{"S6 plain SQL is checked", "core_private.check_task", []string{"perform core_private.require_scheduling(new.namespace);", ""}, "scheduled_tasks/by_hand", false},
	{"S6 registered_by is the session's", "core_private.check_task", []string{"new.registered_by := core_private.caller();", ""}, "scheduled_tasks/by_hand", false},
	{"S6 TRUNCATE", "core_private.refuse_truncate", []string{"    raise exception", "    return null; raise exception"}, "scheduled_tasks/by_hand", false},
	{"S7 as pg_cron's role", "core.run_scheduled_task", []string{"session_user = 'nexus_scheduler'", "false"}, "run_task/manual", false},
	{"S8 fire_once", "core_private.plan_slots", []string{"case when v_on_time = '{}' then 1 else 0 end", "1"}, "fire_tasks/misfire", false},
	{"S8 skip", "core_private.plan_slots", []string{"when 'skip' then 0", "when 'skip' then 1"}, "fire_tasks/misfire", false},
	{"S8 what is missed is recorded", "core_private.plan_slots", []string{"v_plan.missed_from := p_task.next_slot;", ""}, "fire_tasks/misfire", false},
	{"S8 late ticks of an interval are one", "core_private.plan_slots", []string{"if v_slot <= v_due and p_task.spec ? 'seconds'", "if false and p_task.spec ? 'seconds'"}, "fire_tasks/misfire", false},
	{"S8 misfire_after", "core_private.plan_slots", []string{"- p_task.jitter_offset - p_task.misfire_after", "- p_task.jitter_offset - interval '2 minutes'"}, "fire_tasks/misfire", false},
	{"S8 a new task is not caught up", "core_private.check_task", []string{"new.timezone, v_now, new.created_at", "new.timezone, v_now - interval '1 day', new.created_at"}, "scheduled_tasks/by_hand", false},
	{"S8 bounds", "core_private.next_task_slot", []string{"when v_slot > p_ends_at then null", "when false then null"}, "fire_tasks/once", false},
	{"S9 overlap", "core_private.fire_set", []string{"c.k = 1 and c.task_id <> all (v_busy)", "c.k = 1"}, "fire_tasks/overlap", false},
	{"S9 one waits", "core_private.fire_set", []string{"when c.overlap = 'queue_one' and", "when false and"}, "fire_tasks/overlap", false},
	{"S9 parked is open", "core_private.busy_tasks", []string{"where p.event_id = d.event_id", "where false"}, "fire_tasks/overlap", false},
	{"S9 put off is open", "core_private.busy_tasks", []string{"where x.queue_name = d.queue_name", "where false"}, "fire_tasks/overlap", false},
	{"S10 a clock that was set back", "core_private.fire_tasks", []string{"perform core_private.repair_clock(v_now);", "null;"}, "fire_tasks/clock", false},
	{"S10 tasks made in the future", "core_private.repair_clock", []string{"or s.updated_at > p_now or s.created_at > p_now", ""}, "fire_tasks/clock", false},
	{"S11 dropped slots are recorded", "core_private.follow_task", []string{"if old.next_slot <= v_now and", "if false and"}, "scheduled_tasks/by_hand", false},
	{"S11 a payload edit keeps the slot", "core_private.check_task", []string{"elsif v_new or not old.active", "elsif true or not old.active"}, "scheduled_tasks/by_hand", false},
	{"S11 a pause drops what waits", "core_private.follow_task", []string{"if old.waiting_slot is not null and", "if false and"}, "fire_tasks/overlap", false},
	{"S13 pg_cron first", "core_private.firing_lag", []string{"interval '90 seconds'", "interval '0'"}, "scheduler/settings", false},
	{"S another owner's task", "core.schedule_task", []string{"if v_old.owner is distinct from v_task.owner then", "if false then"}, "schedule_task/declare", false},
	{"S the same again changes nothing", "core.schedule_task", []string{"return v_old.task_id;\n    end if;\n    if (p_options", "null;\n    end if;\n    if (p_options"}, "schedule_task/declare", false},
	{"S settings are checked", "core_private.check_task", []string{"perform core_private.check_task_settings(new);", ""}, "schedule_task/declare", false},
	{"errors name the field", "core_private.fail_option", []string{"column = p_field,", ""}, "errors/fields", false},
}

// A test that cannot fail proves nothing: each promise is taken out of the database in turn, and its script must turn red.
func TestScriptsNoticeWhatIsTakenOut(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks each function once, which takes minutes")
	}
	db := tapDB(t)
	for _, m := range mutants {
		t.Run(m.breaks, func(t *testing.T) {
			raw, err := os.ReadFile("tests/" + m.script + ".sql")
			if err != nil {
				t.Fatal(err)
			}
			results, err := runTAP(t, db, breakFunction(m.function, m.replace), string(raw))
			failed := err != nil && m.dies
			for _, r := range results {
				failed = failed || !r.ok
			}
			if !failed {
				t.Errorf("%s passes without it (error of the script: %v)", m.script, err)
			}
		})
	}
}

// The quick look at all of them: a function that was rewritten leaves no mutant behind that takes out nothing.
func TestFilesHoldWhatIsTakenOut(t *testing.T) {
	db := dbtest.New(t)
	for _, m := range mutants {
		kind := "regproc"
		if strings.Contains(m.function, "(") {
			kind = "regprocedure"
		}
		text := dbtest.Get[string](db, "select pg_get_functiondef($1::text::"+kind+")", m.function)
		for i := 0; i < len(m.replace); i += 2 {
			if !strings.Contains(text, m.replace[i]) {
				t.Errorf("%s: %s does not hold %q", m.breaks, m.function, m.replace[i])
			}
			text = strings.ReplaceAll(text, m.replace[i], m.replace[i+1])
		}
	}
}

// breakFunction replaces text in the definition that the database has.
func breakFunction(name string, replace []string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	var sql strings.Builder
	kind := "regproc"
	if strings.Contains(name, "(") {
		kind = "regprocedure"
	}
	fmt.Fprintf(&sql, "do $mutant$ declare d text := pg_catalog.pg_get_functiondef(%s::%s); begin\n", quote(name), kind)
	for i := 0; i < len(replace); i += 2 {
		fmt.Fprintf(&sql, "if strpos(d, %[1]s) = 0 then raise exception 'no such text in it: %%', %[1]s; end if; d := pg_catalog.replace(d, %[1]s, %[2]s);\n", quote(replace[i]), quote(replace[i+1]))
	}
	return sql.String() + "execute d; end $mutant$;"
}
