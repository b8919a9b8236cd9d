package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// mend is what puts something right, a line a step and in their order. Each line is run as it stands: SQL ends with a semicolon,
// and a command begins with nexus-node; a remark after either
// says as whom, since who asks may rarely do it himself. What is neither is for people to do. "or: " begins
// another way to the same end.
//
// The lines are made by statement, command and advice, so that a test can tell which of them it has run on a broken server.
type mend []string

// mostLines bounds how much is printed of what could be many; after those the doctor is asked again.
const mostLines = 20

func (m mend) String() string {
	if len(m) > mostLines {
		m = append(m[:mostLines:mostLines], advice("and look again: there is more of the kind"))
	}
	return strings.Join(m, "\n")
}

// statement is a line of SQL, and only one statement: ALTER SYSTEM, VACUUM and the like refuse company.
func statement(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// command is a line for the shell.
func command(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// advice is what only people can do.
func advice(format string, args ...any) string { return fmt.Sprintf(format, args...) }

const (
	restart = "restart the server"
	or      = "or: "
)

// quoted is a word for the shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:/@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// alterSystem sets a parameter that takes a restart. What the command line of the server sets wins over ALTER SYSTEM, which would
// be accepted and change nothing.
func alterSystem(ctx context.Context, pool *pgxpool.Pool, name, value string) (mend, error) {
	var source *string
	err := pool.QueryRow(ctx, `select (select s.source from pg_catalog.pg_settings s where s.name = $1::text)`, name).Scan(&source)
	if err != nil {
		return nil, err
	}
	return setAnew(name, value, source != nil && *source == "command line"), nil
}

func setAnew(name, value string, byCommandLine bool) mend {
	if byCommandLine {
		return mend{advice("start the server with -c %s in place of the one on its command line", quoted(name+"="+strings.ReplaceAll(value, "'", "")))}
	}
	return mend{statement("alter system set %s = %s; -- as a superuser", name, value), advice(restart)}
}
