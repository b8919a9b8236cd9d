package demo

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/migrate"
	"github.com/nexuspg/nexus/queue"
)

//go:embed schema.sql
var schema string

const (
	database = "nexus"
	login    = "demo_app" // of nodes and emitters: an ordinary login with two duties
)

// install creates the database, Nexus, the business tables and the login.
func (d *demo) install(ctx context.Context) error {
	password := rand.Text()
	if err := d.createDatabase(ctx, password); err != nil {
		return err
	}
	var err error
	if d.owner, err = pgxpool.New(ctx, d.cluster.URL(database)); err != nil {
		return err
	}
	report, err := migrate.Up(ctx, d.owner, nil)
	if err != nil {
		return err
	}
	d.tell("PostgreSQL on port %d with %s; schema %d installed", d.cluster.Port(), d.extensions(), report.Version)
	for _, m := range report.Missing {
		d.tell("missing: %s", m)
	}
	if _, err := d.owner.Exec(ctx, schema); err != nil {
		return fmt.Errorf("create the business tables: %w", err)
	}
	if err := queue.CreateNamespace(ctx, d.owner, namespace, nil); err != nil {
		return err
	}
	u, err := url.Parse(d.cluster.URL(database))
	if err != nil {
		return err
	}
	u.User = url.UserPassword(login, password)
	d.url = u.String()
	d.app, err = connect(ctx, d.url)
	return err
}

func (d *demo) createDatabase(ctx context.Context, password string) (err error) {
	admin, err := pgx.Connect(ctx, d.cluster.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, admin.Close(context.WithoutCancel(ctx))) }()
	for _, sql := range []string{
		"create database " + database,
		"create role " + login + " login password '" + password + "'", // letters and digits only
	} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// extensions lists those of Nexus that the server has, with their versions.
func (d *demo) extensions() string {
	available := d.cluster.Available()
	var list []string
	for _, name := range []string{"pgmq", "pg_cron", "pg_partman"} {
		if version, ok := available[name]; ok {
			list = append(list, name+" "+version)
		}
	}
	return strings.Join(list, ", ")
}

func (d *demo) hasCron() bool {
	_, ok := d.cluster.Available()["pg_cron"]
	return ok
}

// connect makes the pool of a node or of the emitters.
func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 5
	return pgxpool.NewWithConfig(ctx, cfg)
}
