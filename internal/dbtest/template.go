package dbtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/pgdev"
	"github.com/nexuspg/nexus/migrate"
)

// Login is the ordinary login that tests connect as. Keeper is the one that users' tests do: it may do what the duties allow, and
// may create its own tables, but is no superuser.
const (
	Login  = "nexus_test_login"
	Keeper = "nexus_test_keeper"

	// Neighbour is somebody else in the same database, who has nothing to do with Nexus and no role of it.
	Neighbour = "nexus_test_neighbour"
)

// loginPassword guards nothing: the server lives as long as the tests.
const loginPassword = "nexus"

// BuildTemplate creates the database that tests clone, or brings it up to date, and leaves no connection to it. It is a
// pgdev.Prepare. Every step can be repeated: whoever was killed half-way left something behind.
func BuildTemplate(ctx context.Context, superuserURL string) error {
	conn, err := pgx.Connect(ctx, superuserURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var there bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", pgdev.TemplateDatabase).Scan(&there)
	if err != nil {
		return err
	}
	if !there {
		if _, err := conn.Exec(ctx, "create database "+pgdev.TemplateDatabase); err != nil {
			return err
		}
	}
	pool, err := pgxpool.New(ctx, with(superuserURL, pgdev.TemplateDatabase, nil))
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := choosePgmq(ctx, pool); err != nil {
		return fmt.Errorf("%s: %w", EnvPgmq, err)
	}
	if _, err := migrate.Up(ctx, pool, nil); err != nil {
		return fmt.Errorf("install Nexus into the template: %w", err)
	}
	verifier := pgdev.Verifier(loginPassword)
	_, err = pool.Exec(ctx, `
do $$ declare e text; begin
	if to_regrole('`+Login+`') is null then
		create role `+Login+` login password '`+verifier+`' in role nexus_consumer, nexus_producer;
	end if;
	if to_regrole('`+Keeper+`') is null then
		create role `+Keeper+` login password '`+verifier+`' in role nexus_admin;
	end if;
	if to_regrole('`+Neighbour+`') is null then
		create role `+Neighbour+` login password '`+verifier+`';
	end if;
	execute 'alter role nexus_sql password ''`+verifier+`''';
	create schema if not exists tap;
	-- Where one is missing, the tests that need it say so.
	for e in select name from pg_available_extensions where name in ('pgtap', 'plpgsql_check') loop
		execute format('create extension if not exists %I schema tap', e);
	end loop;
	create schema if not exists nexus_test;
	revoke all on schema nexus_test from public;
	if to_regclass('nexus_test.clock') is null then
		create table nexus_test.clock (frozen timestamptz, shift interval not null default '0');
		insert into nexus_test.clock default values;
	end if;
end $$`)
	if err != nil {
		return err
	}
	mark, err := fingerprint()
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, "comment on database "+pgdev.TemplateDatabase+" is '"+strings.ReplaceAll(mark, "'", "''")+"'")
	return err
}

// fingerprint is of all that BuildTemplate puts into the template, but for its own few lines.
func fingerprint() (string, error) {
	h := sha256.New()
	if err := migrate.Dump(h, 0); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x %s", h.Sum(nil), os.Getenv(EnvPgmq)), nil
}

// isBuilt says that the template was built of what this program would build it of. Each package asks, and to compare all of it takes longer.
func isBuilt(ctx context.Context, conn *pgx.Conn) (bool, error) {
	mark, err := fingerprint()
	if err != nil {
		return false, err
	}
	var built bool
	err = conn.QueryRow(ctx, `select coalesce((select shobj_description(oid, 'pg_database') = $2 from pg_database where datname = $1), false)`,
		pgdev.TemplateDatabase, mark).Scan(&built)
	return built, err
}

// replaceClock makes the database clock one that tests move. A function, not a setting, so that nobody but the owner can.
func replaceClock(ctx context.Context, pool *pgxpool.Pool) error {
	_, err := pool.Exec(ctx, `
create or replace function core_private.now() returns timestamptz language sql volatile security definer
set search_path = pg_catalog, pg_temp as $$ select coalesce(c.frozen, clock_timestamp()) + c.shift from nexus_test.clock c $$;
grant usage on schema nexus_test to nexus_owner;
grant select on nexus_test.clock to nexus_owner;
insert into core_private.tolerated_drift (signature, reason) values ('core_private.now()', 'a clock that tests move') on conflict do nothing`)
	return err
}

// with returns the URL of another database and, if user is not nil, another user.
func with(rawURL, database string, user *url.Userinfo) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		panic(fmt.Sprintf("NEXUS_TEST_DATABASE_URL is no URL: %v", err))
	}
	u.Path = "/" + database
	if user != nil {
		u.User = user
	}
	return u.String()
}
