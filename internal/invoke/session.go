package invoke

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/db"
)

// Session is the state that the connections of a pool have when nobody has used them yet. A handler may change it, and so may anyone
// else who uses the pool; each transaction of the node's begins with it all the same, and leaves it behind.
type Session struct {
	role      string   // as in SET ROLE
	putBack   []string // statements; they need no rights and no settings
	isolation string
	user      string // session_user
	readOnly  string // default_transaction_read_only
	statement int64  // statement_timeout, ms
	idle      int64  // idle_in_transaction_session_timeout, ms
}

// ReadSession reads it from a connection that no handler gets. pool has the settings and the hooks of the handlers' pool.
func ReadSession(ctx context.Context, pool *pgxpool.Pool) (*Session, error) {
	s := &Session{}
	var names, values []string
	err := db.Call(ctx, pool, "settings", `select pg_catalog.current_setting('role'), session_user::text,
  pg_catalog.current_setting('default_transaction_isolation'), pg_catalog.current_setting('default_transaction_read_only'),
  max(s.setting) filter (where s.name = 'statement_timeout'), max(s.setting) filter (where s.name = 'idle_in_transaction_session_timeout'),
  coalesce(array_agg(s.name order by s.name) filter (where s.source = 'session'), '{}'),
  coalesce(array_agg(s.setting order by s.name) filter (where s.source = 'session'), '{}')
from (select name::text, setting::text, source::text from pg_catalog.pg_settings) s`, nil,
		&s.role, &s.user, &s.isolation, &s.readOnly, (*milliseconds)(&s.statement), (*milliseconds)(&s.idle), &names, &values)
	if err != nil {
		return nil, err
	}
	role := "none"
	if s.role != role {
		role = pgx.Identifier{s.role}.Sanitize()
	}
	s.putBack = []string{"set role " + role, "reset all"}
	for i, name := range names {
		s.putBack = append(s.putBack, fmt.Sprintf("select pg_catalog.set_config(%s, %s, false)", literal(name), literal(values[i])))
	}
	return s, nil
}

type milliseconds int64

// Scan implements the interface of database/sql, which pgx knows.
func (ms *milliseconds) Scan(v any) error {
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	*ms = milliseconds(n)
	return err
}

// literal quotes a string so that it reads the same under each setting of the session.
func literal(s string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// beginSQL opens a transaction, which writes, whatever the default is. What is not the session's any more by then is the isolation. That is
// the user's to say, by a default of the login's; but what claims has to see what others have committed since.
func (s *Session) beginSQL(claiming bool, also string) string {
	isolation := s.isolation
	if claiming {
		isolation = "read committed"
	}
	return "begin isolation level " + isolation + " read write; " + strings.Join(s.putBack, "; ") + "; " + markSQL + "; " + also
}

// ready puts back what a transaction would begin with, and which the server reports by itself.
func (s *Session) ready(ctx context.Context, conn *pgx.Conn) error {
	pg := conn.PgConn()
	var all []string
	if other(pg, "session_authorization", s.user) {
		all = append(all, "reset session authorization")
	}
	if other(pg, "default_transaction_read_only", s.readOnly) {
		all = append(all, s.putBack...)
	}
	if all == nil {
		return nil
	}
	_, err := conn.Exec(ctx, strings.Join(all, "; "))
	return err
}

func other(pg *pgconn.PgConn, name, want string) bool {
	got := pg.ParameterStatus(name)
	return got != "" && got != want
}

// betweenSQL puts the session back inside a transaction, but for its mark and the limit of express, which are part of it; 0: none.
func (s *Session) betweenSQL(limit time.Duration) string {
	all := append([]string{lookSQL}, s.putBack...)
	all = append(all, markSQL, "discard temp")
	if limit > 0 {
		for name, ms := range map[string]int64{"statement_timeout": s.statement, "idle_in_transaction_session_timeout": s.idle} {
			if most := limit.Milliseconds(); ms == 0 || ms > most {
				ms = most
			}
			all = append(all, fmt.Sprintf("set local %s = %d", name, ms))
		}
	}
	return strings.Join(all, "; ")
}
