package pgdev

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"
)

const (
	// TemplateDatabase is the database that a Prepare function of StartForTests creates and fills, for tests to clone.
	TemplateDatabase = "nexus_template"

	// TestCronDatabase is the one database of a test cluster in which pg_cron fires jobs.
	TestCronDatabase = "nexus_cron"
)

// Prepare builds TemplateDatabase in the cluster at superuserURL (of database postgres) and leaves no connection to it.
type Prepare func(ctx context.Context, superuserURL string) error

// StartForTests starts a cluster with TestSettings whose template holds a real pg_cron.
//
// pg_cron can be created only in the database that cron.database_name names, and its launcher sits in that database, so that
// CREATE DATABASE … TEMPLATE fails on it. The cluster therefore starts with the template as pg_cron's database, prepare fills it,
// and a restart moves the launcher to TestCronDatabase, which is the first clone. In every other clone cron.schedule works and
// nothing fires. A nil prepare leaves all that out: TestCronDatabase is pg_cron's database and is created empty.
func StartForTests(ctx context.Context, o Options, prepare Prepare) (*Cluster, error) {
	settings := TestSettings()
	maps.Copy(settings, o.Settings)
	o.Settings = settings
	o.InMemory = true
	o.CronDatabase = TestCronDatabase
	if prepare != nil {
		o.CronDatabase = TemplateDatabase
	}
	c, err := Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := c.fillForTests(ctx, prepare); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

func (c *Cluster) fillForTests(ctx context.Context, prepare Prepare) error {
	create := "create database " + TestCronDatabase
	if prepare != nil {
		if err := prepare(ctx, c.URL("postgres")); err != nil {
			return fmt.Errorf("build the template database: %w", err)
		}
		if err := c.Restart(ctx, map[string]string{"cron.database_name": TestCronDatabase}); err != nil {
			return err
		}
		create += " template " + TemplateDatabase
	}
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("create %s: %w", TestCronDatabase, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, create); err != nil {
		return fmt.Errorf("create %s: %w", TestCronDatabase, err)
	}
	return nil
}
