package migrate

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// state is what was found in a database.
type state struct {
	facts
	roles      []role
	extensions []extension
	rights     []right // those that are not held
	pgmqModern bool    // false also if there is no pgmq
	distrusted []distrust
	trusted    []string // roles that an installer was told to trust
	disowned   []disowned
	robbed     []robbed

	// What the bookkeeping says; empty before the first installation, and where the installer may not read it.
	unreadable bool
	migrations map[int]applied
	objects    map[string]applied // by path
	drift      []drifted
	retired    []string // Nexus's own that no file creates any more
	orphans    []string // nobody knows whose
	moved      []moved
	gone       []string // tables that somebody dropped
	grantsMove bool     // the grants are not as they were left
	workJobOff bool     // pg_cron's job of SQL handlers is not as it should be, and the installer may make it
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
	ForeignRenames []string // and how each that holds something makes room; empty where it holds nothing
	HasBookkeeping bool

	BookkeepingOwned bool // by nexus_owner
	HasTrusted       bool
	HasQueues        bool
	CronHere         bool // pg_cron runs its jobs in this database
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
	Signatures  []string // of what it created
}

// definition is a function or view that is there.
type definition struct {
	Signature, Kind, Owner string
}

// drifted is an object that is not defined as its file defines it.
type drifted struct {
	Path      string
	Signature string
	Dropped   bool
}

// inspect reads the state of the database. It locks nothing but catalogs and bookkeeping, for reading.
func (tx *session) inspect(ctx context.Context, o options, want schema) (state, error) {
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
	if s.Superuser && s.CronHere && s.HasBookkeeping {
		if err := tx.tx.QueryRow(ctx, "select not ("+workJobFitsSQL+")", pgx.QueryExecModeExec).Scan(&s.workJobOff); err != nil {
			return s, wrap("look for the job nexus:work", err)
		}
	}
	if err := tx.examine(ctx, &s, o, want); err != nil {
		return s, err
	}
	if !s.HasBookkeeping {
		return s, nil
	}
	if !s.readable() {
		s.unreadable = true
		return s, nil
	}
	return s, tx.as(ctx, s.reader(), func() error { return tx.readBookkeeping(ctx, &s, want) })
}

func (tx *session) readBookkeeping(ctx context.Context, s *state, want schema) error {
	type row struct {
		Version int
		applied
	}
	migrations, err := all[row](ctx, tx, `select version, name, sha256, 0 as server_major, null::text[] as signatures from core_private.schema_migrations`)
	if err != nil {
		return err
	}
	s.migrations = make(map[int]applied, len(migrations))
	for _, m := range migrations {
		s.migrations[m.Version] = m.applied
	}
	objects, err := all[applied](ctx, tx, `select path as name, sha256, server_major, signatures from core_private.installed_objects`)
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
	if len(s.distrusted) > 0 && s.role(owner).Exists {
		s.grantsMove = true // what follows reads a view and calls functions, which may be anybody's
		return tx.compareByText(ctx, s)
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
	there, err := all[definition](ctx, tx, `
		select d.signature, d.kind, d.owner
		  from (
		    select n.nspname, format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as signature, 'function' as kind,
		           pg_get_userbyid(p.proowner)::text as owner
		      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
		    union all
		    select n.nspname, format('%I.%I', n.nspname, c.relname), 'view', pg_get_userbyid(c.relowner)::text
		      from pg_class c join pg_namespace n on n.oid = c.relnamespace
		     where c.relkind = 'v') d
		  join core_private.installed_definitions i using (kind, signature)
		 where d.nspname in ('core', 'core_node', 'core_private')
		   and not exists (select from core_private.tolerated_drift t where t.signature = d.signature)
		 order by 1`)
	if err != nil {
		return err
	}
	s.sortOut(there, want)
	tables := want.tables(func(version int) bool { _, ok := s.migrations[version]; return ok })
	if s.gone, err = tx.missing(ctx, tables); err != nil {
		return err
	}
	if len(s.gone) > 0 || !s.role(owner).Exists {
		s.grantsMove = true
		return nil
	}
	var guarded bool
	err = tx.tx.QueryRow(ctx, `select to_regprocedure('core_private.guard_drift()') is not null
		and to_regprocedure('core_private.queue_grant_changes(text)') is not null`, pgx.QueryExecModeExec).Scan(&guarded)
	if err != nil {
		return wrap("read the bookkeeping", err)
	}
	if guarded {
		found, err := all[moved](ctx, tx, `select what, restore, theirs from core_private.guard_drift()`)
		if err != nil {
			return err
		}
		s.sortMoved(found)
	}
	err = tx.tx.QueryRow(ctx, `
		select coalesce(
		  (select o.definitions <> array[core_private.grants_state()] from core_private.installed_objects o where o.path = $1), true)`,
		pgx.QueryExecModeExec, want.grants.Path).Scan(&s.grantsMove)
	return wrap("read the bookkeeping", err)
}

func (s *state) sortMoved(found []moved) {
	for _, m := range found {
		if column, gone := strings.CutSuffix(m.What, " is gone"); gone && strings.HasPrefix(column, "column ") {
			s.gone = append(s.gone, column)
		} else if m.Theirs {
			s.orphans = append(s.orphans, m.What)
		} else {
			s.moved = append(s.moved, m)
		}
	}
}

// compareByText asks what core_private.guard_drift() would, by the text of this binary: it reads catalogs and the plain tables of the
// bookkeeping, and runs nothing that lies in the database. Rights on queues and the sweeps, which functions of Nexus compare, are left out.
func (tx *session) compareByText(ctx context.Context, s *state) error {
	var plain bool
	err := tx.tx.QueryRow(ctx, `select count(*) = 3 from pg_class c
		where c.oid in (to_regclass('core_private.guarded'), to_regclass('core_private.tolerated_drift'), to_regclass('core.queues')) and c.relkind = 'r'
		  and pg_get_userbyid(c.relowner) = 'nexus_owner' and not c.relforcerowsecurity
		  and not exists (select from pg_attribute a join pg_type t on t.oid = a.atttypid
		                   where a.attrelid = c.oid and a.attnum > 0 and t.typnamespace <> 'pg_catalog'::regnamespace)`,
		pgx.QueryExecModeExec).Scan(&plain)
	if err != nil || !plain || !s.BookkeepingOwned {
		return wrap("read the bookkeeping", err)
	}
	found, err := all[moved](ctx, tx, guardDriftText())
	s.sortMoved(found)
	return err
}

// guardDriftText is what core_private.guard_drift() asks, with the queries of the view and the function that it reads in their place.
func guardDriftText() string {
	return "with guard as (" + guardViewSQL + "), queue_guard (what, queue_name, removal) as (" + queueGuardSQL +
		"), sweep_guard (what) as (select null::text where false)\nselect * from (" + guardDriftSQL + ") d (what, restore, theirs)"
}

// missing are the tables of these that are not there.
func (tx *session) missing(ctx context.Context, tables []string) ([]string, error) {
	type table struct{ Name string }
	found, err := all[table](ctx, tx, `select t.name from unnest(`+array(tables)+`) t (name) where to_regclass(t.name) is null order by 1`)
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = "table " + f.Name
	}
	return names, err
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
