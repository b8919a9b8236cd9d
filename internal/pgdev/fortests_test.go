package pgdev

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// The template holds a real pg_cron and can be cloned at once; jobs fire in the cron database alone.
func TestStartForTestsMovesPgCronOffTheTemplate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	hasCron := false
	c, err := StartForTests(ctx, Options{}, func(ctx context.Context, url string) error {
		exec1(t, url, "create database "+TemplateDatabase)
		template := strings.Replace(url, "/postgres?", "/"+TemplateDatabase+"?", 1)
		exec1(t, template, "create table marked ()")
		if hasCron = query[bool](t, template, "select exists (select from pg_available_extensions where name = 'pg_cron')"); hasCron {
			exec1(t, template, "create extension pg_cron")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})

	exec1(t, c.URL("postgres"), "create database one_test template "+TemplateDatabase)
	for _, database := range []string{"one_test", TestCronDatabase} {
		if !query[bool](t, c.URL(database), "select to_regclass('marked') is not null") {
			t.Errorf("%s is no clone of the template", database)
		}
	}
	if !hasCron {
		t.Skip("no pg_cron on this machine")
	}
	if got := query[int](t, c.URL("one_test"), "select cron.schedule('j', '* * * * *', 'select 1')::int"); got != 1 {
		t.Errorf("cron.schedule in a clone = %d", got)
	}
	eventually(t, "the launcher sits in "+TestCronDatabase, func() bool {
		return query[bool](t, c.URL("postgres"), `select exists (select from pg_stat_activity
			where backend_type = 'pg_cron launcher' and datname = '`+TestCronDatabase+`')`)
	})
}

func TestStartForTestsEndsWithItsPrepare(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	_, err := StartForTests(t.Context(), Options{}, func(context.Context, string) error { return boom })
	if !errors.Is(err, boom) {
		t.Errorf("err = %v; want prepare's", err)
	}
}
