package migrate

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// state is what was found in a database.
type state struct {
	facts
	roles      []role
	extensions []extension
	rights     []right // those that are not held
	pgmqModern bool    // false also if there is no pgmq

	// What the bookkeeping says; empty before the first installation, and where the installer may not read it.
	unreadable bool
	migrations map[int]applied
	objects    map[string]applied // by path
	drift      []drifted
	orphans    []string
	grantsMove bool // the grants are not as they were left
}

type facts struct {
	Installer      string
	Superuser      bool
	CreatesRoles   bool
	CreatesSchemas bool
	Database       string
	ServerVersion  int
	Standby        bool
	HasSchemas     bool
	ForeignSchemas []string // those of ours that belong to somebody else
	HasBookkeeping bool
}

// role is a role of Nexus as the installer sees it.
type role struct {
	Name        string
	Exists      bool
	CanBecome   bool
	CanGrant    bool
	Owns        bool // owns objects, so that the installer has to become it
	NotMemberOf []string
}

type extension struct {
	Name      string
	Present   bool
	Creation  string
	Creatable bool
	Obstacle  *string // why it is neither present nor creatable
}

// right is what a role of Nexus lacks on an object of an extension.
type right struct {
	Required  bool
	Grantable bool
	Statement string
	Mend      string
}

// applied is a file as it was applied.
type applied struct {
	Name        string
	SHA256      string
	ServerMajor int
}

// drifted is an object that is not defined as its file defines it.
type drifted struct {
	Path      string
	Signature string
	Dropped   bool
}

// inspect reads the state of the database. It locks nothing but catalogs and bookkeeping, for reading.
func (tx *session) inspect(ctx context.Context, want schema) (state, error) {
	var s state
	var err error
	if s.facts, err = one[facts](ctx, tx, factsSQL); err != nil {
		return s, err
	}
	if s.roles, err = all[role](ctx, tx, rolesSQL); err != nil {
		return s, err
	}
	if s.extensions, err = all[extension](ctx, tx, want.extensions); err != nil {
		return s, err
	}
	if s.rights, err = all[right](ctx, tx, rightsSQL); err != nil {
		return s, err
	}
	if err := tx.tx.QueryRow(ctx, pgmqFloorSQL, pgx.QueryExecModeExec).Scan(&s.pgmqModern); err != nil {
		return s, wrap("look for pgmq", err)
	}
	if !s.HasBookkeeping {
		return s, nil
	}
	if owner := s.role(owner); !owner.CanBecome {
		s.unreadable = true
		return s, nil
	}
	return s, tx.as(ctx, owner, func() error { return tx.readBookkeeping(ctx, &s, want) })
}

func (tx *session) readBookkeeping(ctx context.Context, s *state, want schema) error {
	type row struct {
		Version int
		applied
	}
	migrations, err := all[row](ctx, tx, `select version, name, sha256, 0 as server_major from core_private.schema_migrations`)
	if err != nil {
		return err
	}
	s.migrations = make(map[int]applied, len(migrations))
	for _, m := range migrations {
		s.migrations[m.Version] = m.applied
	}
	objects, err := all[applied](ctx, tx, `select path as name, sha256, server_major from core_private.installed_objects`)
	if err != nil {
		return err
	}
	s.objects = make(map[string]applied, len(objects))
	for _, o := range objects {
		s.objects[o.Name] = o
	}
	if _, ok := s.objects[bookkeeping.Path]; !ok {
		return nil // the tables are there, the view may not be
	}
	if s.drift, err = all[drifted](ctx, tx, `
		select o.path, c.signature, d.signature is null as dropped
		  from core_private.installed_objects o
		 cross join unnest(o.signatures, o.definitions) c (signature, definition)
		  left join core_private.installed_definitions d on d.kind = o.kind and d.signature = c.signature
		 where o.kind in ('function', 'view')
		   and o.path = any ($1)
		   and (d.signature is null
		        or (d.definition <> c.definition and o.server_major = current_setting('server_version_num')::integer / 10000))
		   and not exists (select from core_private.tolerated_drift t where t.signature = c.signature)
		 order by 1, 2`, want.paths()); err != nil {
		return err
	}
	orphans, err := tx.tx.Query(ctx, `
		select d.signature
		  from core_private.installed_definitions d
		 where not exists (
		         select from core_private.installed_objects o where o.path = any ($1) and d.signature = any (o.signatures))
		   and not exists (select from core_private.tolerated_drift t where t.signature = d.signature)
		 order by 1`, pgx.QueryExecModeExec, want.paths())
	if err != nil {
		return wrap("read the bookkeeping", err)
	}
	if s.orphans, err = pgx.CollectRows(orphans, pgx.RowTo[string]); err != nil {
		return wrap("read the bookkeeping", err)
	}
	err = tx.tx.QueryRow(ctx, `
		select coalesce(
		  (select o.definitions <> array[core_private.grants_state()] from core_private.installed_objects o where o.path = $1), true)`,
		pgx.QueryExecModeExec, want.grants.Path).Scan(&s.grantsMove)
	return wrap("read the bookkeeping", err)
}

func (s state) role(name string) role {
	for _, r := range s.roles {
		if r.Name == name {
			return r
		}
	}
	return role{Name: name}
}

func (s state) extension(name string) extension {
	for _, e := range s.extensions {
		if e.Name == name {
			return e
		}
	}
	return extension{Name: name}
}

// version is that of the newest migration applied.
func (s state) version() int {
	newest := 0
	for v := range s.migrations {
		newest = max(newest, v)
	}
	return newest
}

func one[T any](ctx context.Context, tx *session, sql string) (T, error) {
	rows, err := all[T](ctx, tx, sql)
	if err != nil || len(rows) != 1 {
		var none T
		return none, err
	}
	return rows[0], nil
}

// all reads rows into structs by column name. Statements are sent unnamed, which every pooler understands.
func all[T any](ctx context.Context, tx *session, sql string, args ...any) ([]T, error) {
	rows, err := tx.tx.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	if err != nil {
		return nil, wrap("inspect the database", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	return found, wrap("inspect the database", err)
}
