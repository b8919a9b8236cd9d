package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
)

//go:embed schema.sql
var schema string

const (
	database = "nexus"
	login    = "chaos_app" // of nodes and emitters: an ordinary login with two duties
)

// The ways to the server.
const (
	routeDirect = "direct"
	routeProxy  = "proxy"
	routePooler = "pooler"
)

// server is a Postgres of our own with Nexus, and what stands before it.
type server struct {
	cluster  *pgdev.Cluster
	serverMu sync.Mutex // one takes it away at a time
	owner    *pgxpool.Pool
	proxy    *proxy
	pooler   *pooler
	urls     map[string]string // of the login, by route
}

// startServer installs everything; cron says whether pg_cron may fire in the database.
func startServer(ctx context.Context, cron bool) (_ *server, err error) {
	o := pgdev.Options{Settings: pgdev.TestSettings()}
	if cron {
		o.CronDatabase = database
	}
	s := &server{}
	if s.cluster, err = pgdev.Start(ctx, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(context.WithoutCancel(ctx)))
		}
	}()
	password := rand.Text()
	if err := s.createDatabase(ctx, password); err != nil {
		return nil, err
	}
	if s.owner, err = pgxpool.New(ctx, s.cluster.URL(database)); err != nil {
		return nil, err
	}
	if _, err := migrate.Up(ctx, s.owner, nil); err != nil {
		return nil, err
	}
	if _, err := s.owner.Exec(ctx, schema); err != nil {
		return nil, fmt.Errorf("create the ledger: %w", err)
	}
	if _, err := s.owner.Exec(ctx, "grant nexus_producer, nexus_consumer to "+login); err != nil {
		return nil, err
	}
	u, err := url.Parse(s.cluster.URL(database))
	if err != nil {
		return nil, err
	}
	u.User = url.UserPassword(login, password)
	s.urls = map[string]string{routeDirect: u.String()}
	if s.proxy, err = startProxy(ctx, u.Host); err != nil {
		return nil, err
	}
	if s.pooler, err = startPooler(ctx, u.String()); err != nil {
		return nil, err
	}
	if s.pooler != nil {
		s.urls[routePooler] = s.pooler.url
	}
	u.Host = s.proxy.addr
	s.urls[routeProxy] = u.String()
	return s, nil
}

func (s *server) createDatabase(ctx context.Context, password string) error {
	admin, err := pgx.Connect(ctx, s.cluster.URL("postgres"))
	if err != nil {
		return err
	}
	defer admin.Close(context.WithoutCancel(ctx))
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

func (s *server) close(ctx context.Context) error {
	if s.proxy != nil {
		s.proxy.close()
	}
	s.pooler.stop()
	if s.owner != nil {
		s.owner.Close()
	}
	return s.cluster.Stop(ctx)
}
