package nexussql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// The walk: four actors at once claim, extend, give back, replay, discard, resolve and expire the same few dead letters, with tokens and
// without, by id and by filter. A third of the holders come late, by the clock of the database, and one actor's sessions are killed before
// they commit. A trigger writes down each move with the token it was made with and the time at which its call began, and each actor
// what it was told.

// walkLog is what the checks read. began is before the call's own look at the clock, made_at after it.
const walkLog = `
	create table public.moves (id bigint, was text, is_now text, old_token uuid, new_token uuid, old_deadline timestamptz, with_token text, began timestamptz, made_at timestamptz);
	create function public.note_move() returns trigger language plpgsql security definer as $f$
	begin
		insert into public.moves values (old.dead_letter_id, old.status, new.status, old.claim_token, new.claim_token, old.deadline,
			nullif(current_setting('walk.token', true), ''), nullif(current_setting('walk.began', true), '')::timestamptz, core_private.now());
		return null;
	end $f$;
	create trigger note_move after update on core.dead_letters for each row execute function public.note_move();
	create table public.told (id bigint, what text, n int)`

// breaches each select what must not be, as text.
var breaches = []string{
	`select 'an illegal move: ' || to_jsonb(m)::text from public.moves m where (was, is_now) not in (('pending', 'reprocessing'), ('reprocessing', 'reprocessing'), ('reprocessing', 'pending'), ('pending', 'resolved'), ('reprocessing', 'resolved'))`,
	`select 'moved without its token while somebody held it: ' || to_jsonb(m)::text from public.moves m where was = 'reprocessing' and old_deadline > made_at and with_token is distinct from old_token::text`,
	`select 'moved by a holder who was late: ' || to_jsonb(m)::text from public.moves m where was = 'reprocessing' and old_deadline <= began and with_token = old_token::text`,
	`select 'moved with a token of nothing: ' || to_jsonb(m)::text from public.moves m where with_token is not null and with_token is distinct from old_token::text`,
	`select format('%s is %s, and there are %s messages of it', x.id, x.resolution, x.n) from (
		select l.dead_letter_id as id, l.resolution, (select count(*) from pgmq.q_core_events_shop q where q.headers ->> 'nexus-replay-of' = l.dead_letter_id::text) as n from core.dead_letters l) x
	  where n <> case when resolution = 'replayed' then 1 else 0 end`,
	`select format('the end of %s was told %s times', id, count(*)) from public.told where what = 'end' group by id having count(*) > 1`,
	`select format('%s are resolved, %s were told', d, t) from (select (select count(*) from core.dead_letters where resolved_at is not null) as d, (select coalesce(sum(n), 0) from public.told where what in ('end', 'ends')) as t) x where d <> t`,
	`select format('%s are resolved, %s are recorded', d, t) from (select (select count(*) from core.dead_letters where resolved_at is not null) as d,
		(select coalesce(sum(coalesce((details ->> 'done')::int, 1)), 0) from core.audit_log where action ~ '_dead_letters?$') as t) x where d <> t`,
	`select format('%s has %s attempts, given back %s times', dead_letter_id, attempts, r) from (select l.dead_letter_id, l.attempts, (select count(*) from public.told t where t.id = l.dead_letter_id and what = 'back') as r from core.dead_letters l) x where attempts <> 1 + r`,
	`select format('%s is %s, and its copy is %s', l.dead_letter_id, l.status, case when q.msg_id is null then 'gone' else 'there' end) from core.dead_letters l left join pgmq.q_core_events_shop_dlq q on q.msg_id = l.dlq_msg_id
	  where (l.resolved_at is null) <> (q.msg_id is not null)`,
}

// holds: DL1 (four actors, one killed, a third of the holders late), DL2 (of all replays at once one replays)
func TestDeadLettersUnderFourActors(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	rounds := 1
	if os.Getenv("NEXUS_TEST_LONG") != "" {
		rounds = 10
	}
	for range rounds {
		seed := rand.Uint64()
		if found := walk(t, db, seed); len(found) > 0 {
			t.Errorf("seed %d: %d breaches, such as\n%s", seed, len(found), found[0])
		}
	}
}

// What the walk is to find it finds when it is there.
func TestTheWalkFindsWhatIsTakenOut(t *testing.T) {
	if testing.Short() || os.Getenv("NEXUS_TEST_LONG") == "" {
		t.Skip("takes out one function after the other, which takes minutes: make test-long sets NEXUS_TEST_LONG")
	}
	for name, harm := range map[string][]string{
		"the lock":     {"for update;", ";"},
		"the token":    {" or v_row.claim_token <> core_private.token_mark(p_claim_token)", ""},
		"the deadline": {"v_row.deadline > core_private.now()", "v_row.deadline is not null"},
		"the claim":    {"if p_claim_token is null and v_held then", "if false then"},
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.New(t)
			db.Exec(breakFunction("core_private.lock_dead_letter", harm))
			for range 40 {
				if len(walk(t, db, rand.Uint64())) > 0 {
					return
				}
			}
			t.Error("forty walks find nothing")
		})
	}
}

// walk does one and returns the breaches.
func walk(t *testing.T, db *dbtest.DB, seed uint64) []string {
	t.Helper()
	const letters = 40
	db.Exec(`drop table if exists public.moves, public.told; drop function if exists public.note_move() cascade;
		select core.drop_namespace('shop', 'shop', true) from core.namespaces where namespace = 'shop'; select core.create_namespace('shop');` + walkLog)
	db.SetNow(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	db.Exec(`select core.emit_batch('shop', array_fill('a'::text, array[` + fmt.Sprint(letters) + `]), array(select to_jsonb(g) from generate_series(1, ` + fmt.Sprint(letters) + `) g));
		select count(*) from core_node.claim('core_events_shop', '{a}', '{0}', ` + fmt.Sprint(letters) + `, '1 h');
		select core_private.bury('core_events_shop', 'n', array_agg(msg_id), array_agg(read_ct), array_agg('r'::text), array_agg('e'::text)) from pgmq.q_core_events_shop;
		set role nexus_owner; set search_path = pg_catalog, pg_temp; delete from core.audit_log; reset search_path; reset role`)
	first := dbtest.Get[int64](db, `select min(dead_letter_id) from core.dead_letters`)
	var wg sync.WaitGroup
	for i := range 4 {
		a := &walker{t: t, db: db, rand: rand.New(rand.NewPCG(seed, uint64(i))), first: first, letters: letters, dies: i == 3}
		wg.Go(a.act)
	}
	wg.Wait()
	var found []string
	if n := dbtest.Get[int](db, `select count(*)::int from core.dead_letters`); n != letters {
		found = append(found, fmt.Sprintf("there are %d dead letters of %d", n, letters))
	}
	for _, b := range breaches {
		found = append(found, column(t, db, b)...)
	}
	if len(found) > 0 {
		return found
	}
	if done := dbtest.Get[int](db, `select count(distinct (was, is_now))::int from public.moves`); done < 5 {
		t.Errorf("seed %d: only %d kinds of moves were made", seed, done)
	}
	return found
}

type held struct {
	id    int64
	token string
}

type walker struct {
	t       *testing.T
	db      *dbtest.DB
	rand    *rand.Rand
	conn    *pgx.Conn
	first   int64
	letters int
	dies    bool
	holds   []held
}

func (a *walker) act() {
	a.connect()
	defer func() { _ = a.conn.Close(context.Background()) }()
	for range 60 {
		if len(a.holds) == 0 || a.rand.IntN(3) == 0 {
			a.withoutToken()
		} else {
			a.withToken()
		}
	}
}

func (a *walker) connect() {
	conn, err := pgx.Connect(context.Background(), a.db.OwnerURL)
	if err != nil {
		a.t.Error(err)
		return
	}
	a.conn = conn
}

func (a *walker) letter() int64 { return a.first + int64(a.rand.IntN(a.letters)) }

func (a *walker) withoutToken() {
	switch id := a.letter(); a.rand.IntN(10) {
	case 0:
		a.move("", id, "end", `select core.replay_dead_letter($1)`, id)
	case 1:
		a.move("", id, "end", `select core.discard_dead_letter($1, 'x')`, id)
	case 2:
		a.filter(`select done from core.replay_dead_letters(jsonb_build_object('namespace', 'shop', 'after_id', $1::bigint, 'limit', 2))`, id)
	case 3:
		a.filter(`select done from core.expire_dead_letters(jsonb_build_object('namespace', 'shop', 'after_id', $1::bigint, 'limit', 1), 'x')`, id)
	case 4:
		a.move("", 0, "", `select done from core.replay_dead_letters(jsonb_build_object('namespace', 'shop', 'after_id', $1::bigint, 'limit', 3), '{"dry_run": true}')`, id)
	default:
		a.claim(id)
	}
}

// withToken ends what it holds or gives it back, a third of the times after its deadline.
func (a *walker) withToken() {
	h := a.holds[0]
	a.holds = a.holds[1:]
	if a.rand.IntN(3) == 0 {
		a.db.Advance(time.Duration(a.rand.IntN(4)) * time.Second)
	}
	switch a.rand.IntN(8) {
	case 0:
		a.move(h.token, h.id, "end", `select core.replay_dead_letter($1, '"mended"', $2::text::uuid)`, h.id, h.token)
	case 1:
		a.move(h.token, h.id, "end", `select core.resolve_dead_letter($1, 'handled_by_handler', 'x', $2::text::uuid)`, h.id, h.token)
	case 2, 3:
		a.move(h.token, h.id, "", `select * from core.extend_dead_letters(array[$1::bigint], array[$2::text::uuid], '2 s')`, h.id, h.token)
		a.holds = append(a.holds, h)
	default:
		a.move(h.token, h.id, "back", `select core.reject_dead_letter($1, $2::text::uuid, 'no')`, h.id, h.token)
	}
}

func (a *walker) claim(after int64) {
	a.in("", func(tx pgx.Tx) error {
		rows, err := tx.Query(context.Background(), `select dead_letter_id, claim_token::text
			from core.claim_dead_letters(jsonb_build_object('namespace', 'shop', 'after_id', $1::bigint, 'limit', 3), '2 s')`, after-1)
		if err != nil {
			return err
		}
		got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h held, err error) { return h, row.Scan(&h.id, &h.token) })
		a.holds = append(a.holds, got...)
		return err
	})
}

// move tells of what it did in its own transaction, so that what was undone was not told.
func (a *walker) move(token string, id int64, what, sql string, args ...any) {
	a.in(token, func(tx pgx.Tx) error {
		if _, err := tx.Exec(context.Background(), sql, args...); err != nil || what == "" {
			return err
		}
		_, err := tx.Exec(context.Background(), `insert into public.told values ($1, $2, 1)`, id, what)
		return err
	})
}

func (a *walker) filter(sql string, args ...any) {
	a.in("", func(tx pgx.Tx) error {
		var n int
		if err := tx.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
			return err
		}
		_, err := tx.Exec(context.Background(), `insert into public.told values (null, 'ends', $1)`, n)
		return err
	})
}

// in does it in a transaction. The one that dies is killed before it commits, one time in four.
func (a *walker) in(token string, do func(pgx.Tx) error) {
	ctx := context.Background()
	tx, err := a.conn.Begin(ctx)
	if err != nil {
		a.t.Error(err)
		return
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `select set_config('walk.token', coalesce(core_private.token_mark(nullif($1, '')::uuid)::text, ''), true), set_config('walk.began', core.now()::text, true)`, token); err != nil {
		a.t.Error(err)
		return
	}
	if err := do(tx); err != nil {
		if c := code(err); c != "NX205" && c != "NX217" && c != "NX303" {
			a.t.Errorf("a move ends with %v", err)
		}
		return
	}
	if a.dies && a.rand.IntN(4) == 0 {
		a.db.Exec(`select pg_terminate_backend($1, 10000)`, a.conn.PgConn().PID())
		_ = a.conn.Close(ctx)
		a.connect()
		return
	}
	if err := tx.Commit(ctx); err != nil {
		a.t.Error(err)
	}
}
