package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// plant is a bug that the checker has to find: text of functions of the database replaced, or handlers that break the rules.
type plant struct {
	name   string
	why    string
	found  []string // kinds of breaches, one of which the checker has to name
	edits  []edit
	leaky  bool     // effects commit by themselves, and the ack comes behind
	killer bool     // it takes events that kill their process to see it
	faults []string // that bring it to light
}

type edit struct {
	function string
	replace  []string // from, to, from, to, …
}

var plants = []plant{
	{name: "ack-behind", why: "effects commit ahead of the ack", found: []string{kindDoubled}, leaky: true, faults: []string{"kill", "cut-answers", "terminate"}},
	{name: "no-lease", why: "a claim takes what is leased", found: []string{kindDead, kindAttempts}, faults: []string{"deploy", "replay"}, edits: []edit{
		// What is leased looks like what a death left behind, which goes alone: that would hide most of it.
		{"core_private.find_due", []string{"q.vt <= $2", "q.vt is not null", "h.vt <= $2", "h.vt is not null", "l.vt <= $2", "l.vt is not null"}},
		{"core_private.is_suspect", []string{"return core_private", "return false and core_private"}},
		{"core_private.attempts_used_up", []string{"core_private.attempts_counted(p_read_ct, p_headers)", "core_private.attempt_of(p_read_ct, p_headers)"}},
	}},
	{name: "no-dedupe", why: "a key that is taken does not count", found: []string{kindDoubled}, edits: []edit{
		{"core_private.emit_with_options", []string{"if not v_key.won then", "if false then"}},
	}, faults: []string{"cut-answers"}},
	{name: "lost-ack", why: "one ack of thirty is forgotten", found: []string{kindDoubled}, faults: []string{"deploy"}, edits: []edit{
		{"core.ack", []string{"where q.msg_id = $1", "where q.msg_id %% 30 <> 0 and q.msg_id = $1", "if v_gone is null then", "if v_gone is null and p_msg_id % 30 <> 0 then"}},
	}},
	{name: "settled-twice", why: "a result that is settled twice counts twice", found: []string{kindDead, kindHistory, kindAttempts}, faults: []string{"cut-settle"}, edits: []edit{
		{"core_private.settle_failed", []string{
			"then q.last_read_at + interval '1 us'", "then q.last_read_at", "else q.last_read_at + interval '2 us' end", "else q.last_read_at end",
			"core_private.attempt_of(q.read_ct - 1, q.headers)", "core_private.attempt_of(q.read_ct, q.headers) - 1",
		}},
	}},
	{name: "buried-together", why: "what was claimed beside a killer is claimed beside it again, until all are buried", found: []string{kindDead, kindAttempts}, killer: true, faults: []string{"deploy"}, edits: []edit{
		{"core_private.attempts_used_up", []string{"core_private.attempts_counted(p_read_ct, p_headers)", "core_private.attempt_of(p_read_ct, p_headers)"}},
		{"core_private.is_suspect", []string{"return core_private", "return false and core_private"}},
	}},
	{name: "lost-event", why: "one event of fifty is logged and not delivered", found: []string{kindLost}, faults: []string{"deploy"}, edits: []edit{
		{"core.emit", []string{
			"execute 'insert into '", "if message_id % 50 <> 0 then execute 'insert into '",
			"using message_id, v_now, v_message;", "using message_id, v_now, v_message; end if;",
		}},
		{"core_private.emit_with_options", []string{
			"execute 'insert into '", "if message_id % 50 <> 0 then execute 'insert into '",
			"using message_id, p_now, v_message, v_o.headers;", "using message_id, p_now, v_message, v_o.headers; end if;",
		}},
	}},
}

func plantNamed(name string) (*plant, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no bug is planted
	}
	var names []string
	for i := range plants {
		if plants[i].name == name {
			return &plants[i], nil
		}
		names = append(names, plants[i].name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("no bug of the name %q; there are %s", name, strings.Join(names, ", "))
}

// set puts the bug into the database.
func (p *plant) set(ctx context.Context, pool *pgxpool.Pool) error {
	if p == nil {
		return nil
	}
	for _, e := range p.edits {
		var text string
		if err := pool.QueryRow(ctx, `select pg_get_functiondef($1::text::regproc)`, e.function).Scan(&text); err != nil {
			return fmt.Errorf("%s: %w", e.function, err)
		}
		broken, missing := e.apply(text)
		if missing != "" {
			return fmt.Errorf("bug %s: %s does not hold %q", p.name, e.function, missing)
		}
		if _, err := pool.Exec(ctx, broken); err != nil {
			return fmt.Errorf("bug %s in %s: %w", p.name, e.function, err)
		}
	}
	return nil
}

// apply replaces in the text of a function, and says what is not there.
func (e edit) apply(text string) (broken, missing string) {
	for i := 0; i < len(e.replace); i += 2 {
		if !strings.Contains(text, e.replace[i]) {
			return "", e.replace[i]
		}
		text = strings.ReplaceAll(text, e.replace[i], e.replace[i+1])
	}
	return text, ""
}
