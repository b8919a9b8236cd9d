package migrate

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// Who installs runs what lies in the schemas, some of it as a superuser, and so does nexus_owner for every caller. So nothing is
// run before it is known whose it is (trust.sql), what belongs to the wrong one is taken back (owners.sql), and what keeps rows
// apart (row security, policies, triggers, rights) is compared with what the last installation left, and put back.

// distrust is something that somebody whom nobody trusted with it owns or may do.
type distrust struct {
	What string
	Mend string
}

// disowned is an object that does not belong to the role that it should.
type disowned struct {
	Object    string
	Owner     string
	Wanted    string
	Statement string
	Can       bool // the installer may change that
}

// robbed is an object on which its owner, a role of Nexus, lacks rights.
type robbed struct {
	Object     string
	Owner      string
	Privileges string
	Statement  string
}

// moved is something that is not as the last installation left it.
type moved struct {
	What    string
	Restore string // "" where the file of grants does it
	Theirs  bool   // somebody else's, which stays
}

// examine fills in what can be told without running anything that others may have made.
func (tx *session) examine(ctx context.Context, s *state, o options, want schema) error {
	trusted := slices.Clone(o.Trust)
	var queues []string
	var err error
	if s.robbed, err = all[robbed](ctx, tx, ownRightsSQL); err != nil {
		return err
	}
	if s.readable() {
		if s.HasTrusted {
			if s.trusted, err = tx.names(ctx, s, `select role from core_private.trusted_roles`); err != nil {
				return err
			}
			trusted = append(trusted, s.trusted...)
		}
		more, err := tx.names(ctx, s, `select distinct applied_by from core_private.schema_migrations`)
		if err != nil {
			return err
		}
		trusted = append(trusted, more...)
	}
	if s.Superuser && s.HasQueues {
		if queues, err = tx.names(ctx, s, `select queue_name from core.queues`); err != nil {
			return err
		}
	}
	if s.distrusted, err = all[distrust](ctx, tx, trustQuery(array(trusted))); err != nil {
		return err
	}
	if !s.HasBookkeeping {
		return nil
	}
	if s.BookkeepingOwned && !s.readable() {
		s.distrusted = nil // whom to trust is written where this installer cannot read, and it can do nothing before it can
	}
	names, owners := want.owned()
	s.disowned, err = all[disowned](ctx, tx, ownersQuery(array(names), array(owners), array(queues)))
	return err
}

func trustQuery(trusted string) string {
	return strings.ReplaceAll(trustSQL, "$trusted$", trusted)
}

func ownersQuery(names, owners, queues string) string {
	return strings.NewReplacer("$names$", names, "$owners$", owners, "$queues$", queues).Replace(ownersSQL)
}

// names reads a column of a table.
func (tx *session) names(ctx context.Context, s *state, sql string) ([]string, error) {
	var found []string
	err := tx.as(ctx, s.reader(), func() error {
		rows, err := tx.tx.Query(ctx, sql, pgx.QueryExecModeExec)
		if err != nil {
			return wrap("read the bookkeeping", err)
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return wrap("read the bookkeeping", err)
	})
	return found, err
}

// reader is the role that reads the bookkeeping: a superuser also reads what was restored without its owner.
func (s *state) reader() string {
	if s.Superuser {
		return ""
	}
	return owner
}

// readable says that the bookkeeping is there, and that reading it runs nothing of anybody's.
func (s *state) readable() bool {
	return s.HasBookkeeping && (s.Superuser || s.BookkeepingOwned && s.role(owner).CanBecome && len(s.robbed) == 0)
}

// lame says that nexus_owner, as whom the installer reads, may not read: its rights come back before anything else is known.
func (s *state) lame() bool {
	return s.unreadable && len(s.robbed) > 0 && s.BookkeepingOwned && s.role(owner).CanBecome
}

// guardProblems are what only people can decide.
func (s state) guardProblems(add addProblem) {
	for _, d := range s.distrusted {
		add(nexus.CodeNotTrusted, d.Mend, "%s", d.What)
	}
	for _, d := range s.disowned {
		if !d.Can {
			add(nexus.CodeInstallerRights, d.Statement, "%s belongs to %s in place of %s, and %s may not change that", d.Object, d.Owner, d.Wanted, s.Installer)
		}
	}
	for _, what := range s.gone {
		table := what[strings.LastIndexByte(what, '.')+1:]
		add(nexus.CodeNotTrusted, "restore it from a backup of this version (pg_restore --table "+table+"), then: nexus-node migrate up", "%s was dropped with what was in it", what)
	}
	if s.HasBookkeeping && !s.unreadable && len(s.migrations) == 0 && s.HasQueues {
		add(nexus.CodeNotTrusted, "restore the data (pg_restore --data-only --disable-triggers), or drop schema core, core_node, core_private cascade;",
			"the tables of Nexus are there and its bookkeeping is empty, as after a restore of the schema alone")
	}
}

// unsafe is what Up puts back, for people.
func (s state) unsafe() []string {
	var lines []string
	for _, d := range s.disowned {
		lines = append(lines, d.Object+" belongs to "+d.Owner+" in place of "+d.Wanted)
	}
	for _, r := range s.robbed {
		lines = append(lines, r.Owner+" lacks rights on its own "+r.Object+": "+r.Privileges)
	}
	if s.HasBookkeeping {
		for _, r := range s.rights {
			if r.Required {
				lines = append(lines, "right that is gone: "+r.Statement)
			}
		}
	}
	for _, m := range s.moved {
		lines = append(lines, m.What)
	}
	return lines
}
