package db

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/sql/roles"
)

// callers says which roles may call a function of Nexus, by its name without the schema. It is read from the grants and not asked of the
// catalog, since the refusal has aborted the transaction in which one would ask.
var callers = sync.OnceValue(func() map[string][]string {
	found := map[string][]string{}
	for _, g := range granted.FindAllStringSubmatch(roles.Grants, -1) {
		// The machine's own role is given to nobody.
		found[g[1]] = slices.DeleteFunc(strings.Split(g[2], ","), func(role string) bool { return role == "nexus_scheduler" })
	}
	return found
})

var granted = regexp.MustCompile(`\('core(?:_node|_private)?\.([a-z_]+)', '\{([a-z_,]+)\}'`)

// grantHint says which role it takes to do what Postgres refused, and how it is given. The message has the name of what was refused as its
// last word, in each of Postgres's languages but a few; op is the function that was called.
func grantHint(op string, pg *pgconn.PgError, login string) string {
	var may []string
	name := lastName.FindString(pg.Message)
	for _, function := range []string{name, op} {
		if may = callers()[function]; len(may) > 0 {
			break
		}
	}
	if len(may) == 0 {
		if pg.Where != "" {
			return "" // a function of somebody else met something of his own
		}
		may = []string{"nexus_reader"} // tables and views are open to it
		if name == "core_node" {
			may = []string{"nexus_consumer"} // the schema of what nodes call
		}
	}
	to := "the login of this connection"
	if login != "" {
		to = identifier(login) + ";"
	}
	return "it takes the role " + strings.Join(may, " or ") + ": grant " + may[0] + " to " + to
}

var (
	lastName  = regexp.MustCompile(`[a-z_0-9]+$`)
	plainName = regexp.MustCompile(`^[a-z_][a-z_0-9]*$`)
)

func identifier(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

// loginOf returns the user that q is connected as, "" where that cannot be known without asking: behind database/sql, and in what a user
// wrapped.
func loginOf(q any) string {
	v := reflect.ValueOf(q)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	switch q := q.(type) {
	case *pgx.Conn:
		return q.Config().User
	case interface{ Conn() *pgx.Conn }: // transactions and connections of a pool
		if c := q.Conn(); c != nil {
			return c.Config().User
		}
	}
	// A pool, whose package is not linked for the sake of a hint.
	if config := v.MethodByName("Config"); config.IsValid() && config.Type().NumIn() == 0 && config.Type().NumOut() == 1 {
		if c := reflect.Indirect(config.Call(nil)[0]); c.Kind() == reflect.Struct {
			if f := c.FieldByName("ConnConfig"); f.IsValid() {
				if conn, ok := f.Interface().(*pgx.ConnConfig); ok && conn != nil {
					return conn.User
				}
			}
		}
	}
	return ""
}
