package schedule_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// Whoever writes a task or previews an expression hears what is allowed and seldom meant, once.
func TestWarningsAreSaid(t *testing.T) {
	db := dbtest.New(t)
	config, err := pgx.ParseConfig(db.OwnerURL) // others may not write the table itself
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said = append(said, n.Severity+" "+n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	db.Namespace("shop")

	either := `NOTICE cron expression "0 0 13 * 5": Both day and weekday are restricted: it runs when either matches.`
	for _, c := range []struct {
		name, sql string
		want      []string
	}{
		{"created", `select core.schedule_task('shop', 'b', '0 0 13 * 5', 'x')`, []string{either}},
		{"declared again", `select core.schedule_task('shop', 'b', '0 0 13 * 5', 'x')`, nil},
		{"by plain SQL", `insert into core.scheduled_tasks (namespace, name, cron_expression, event_type) values ('shop', 'c', '0 0 13 * 5', 'x')`, []string{either}},
		{"another payload", `update core.scheduled_tasks set payload = '{"a": 1}' where name = 'c'`, nil},
		{"previewed", `select count(*) from core.next_runs('0 0 13 * 5')`, []string{either}},
		{"nothing to say", `select core.schedule_task('shop', 'd', '0 0 13 * *', 'x')`, nil},
	} {
		said = nil
		if _, err := conn.Exec(t.Context(), c.sql); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, said); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
	}
}
