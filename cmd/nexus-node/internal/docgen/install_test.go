package docgen_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
)

var (
	installBlock = regexp.MustCompile("(?s)```(ini|sql|sh)\n(.*?)```")
	settingLine  = regexp.MustCompile(`(?m)^([a-z_.]+) = '?([^'#\n]*?)'? *(?:#.*)?$`)
)

// The lines of the guide run in order on a server that is in use: with a library preloaded, and a database with rows of its own. In the end
// the service's login emits, doctor finds nothing broken and pg_cron has its jobs.
// holds: I1-foreign-core
func TestInstallGuideRuns(t *testing.T) {
	t.Parallel()
	platform, err := pgdev.Find()
	if err != nil {
		t.Skip(err)
	}
	path := commandLine(t)
	cluster, err := pgdev.Start(t.Context(), pgdev.Options{Platform: platform})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	execute(t, cluster.URL("postgres"), `create database shop`)
	execute(t, cluster.URL("shop"), `create table orders (id int); insert into orders select generate_series(1, 10)`)
	as := func(login string) string {
		config, err := pgx.ParseConfig(cluster.URL("shop"))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("postgres://%s:change%%20me@%s:%d/shop?sslmode=disable", login, config.Host, config.Port)
	}
	dir, text := t.TempDir(), read(t, "docs/guides/install.md")
	ran := 0
	for _, at := range installBlock.FindAllStringSubmatchIndex(text, -1) {
		language, block := text[at[2]:at[3]], text[at[4]:at[5]]
		switch {
		case strings.HasPrefix(block, "git clone"):
			continue // this checkout is one, and the image is built elsewhere
		case language == "ini":
			settings := map[string]string{}
			for _, m := range settingLine.FindAllStringSubmatch(block, -1) {
				settings[m[1]] = strings.TrimSpace(m[2])
			}
			if len(settings) != strings.Count(block, "\n") {
				t.Fatalf("read %v of\n%s", settings, block)
			}
			if err := cluster.Restart(t.Context(), settings); err != nil {
				t.Fatal(err)
			}
		case language == "sql" && strings.Contains(block, "create_namespace"):
			execute(t, as("shop_admin"), block)
		case language == "sql":
			execute(t, cluster.URL("shop"), block)
		case strings.HasPrefix(block, "export "):
			shell(t, dir, path, cluster.URL("shop"), block[strings.Index(block, "\n"):])
		default:
			shell(t, dir, path, as("shop_oncall"), block)
		}
		ran++
	}
	if ran != 6 {
		t.Errorf("%d blocks ran", ran)
	}
	execute(t, as("shop_service"), `select core.emit('shop', 'order.placed')`)
	pool, err := pgxpool.New(t.Context(), cluster.URL("shop"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var jobs, events, orders int
	if err := pool.QueryRow(t.Context(), `select (select count(*) from cron.job where username = 'nexus_scheduler'),
		(select queue_length from core.queue_metrics where queue_name = 'core_events_shop'), (select count(*) from orders)`).Scan(&jobs, &events, &orders); err != nil {
		t.Fatal(err)
	}
	if jobs == 0 || events != 1 || orders != 10 {
		t.Errorf("%d jobs, %d events, %d orders", jobs, events, orders)
	}
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("%v in\n%s", err, sql)
	}
}
