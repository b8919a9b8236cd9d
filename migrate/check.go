package migrate

import (
	"context"
	"fmt"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Check returns nil if the schema of the database is the one that this binary brings, else a *[nexus.Error]: NX501 if it is newer,
// NX502 if it is older or missing, NX508 if it is one of before version 0.1.0. Any login of Nexus may ask; edits by hand are for [Status].
func Check(ctx context.Context, q nexus.DBTX) error { return check(ctx, q, embedded().version()) }

func check(ctx context.Context, q nexus.DBTX, want int) error {
	var (
		version    int
		unreleased bool
	)
	// A schema from before this function is older, which the error says.
	if err := db.Call(ctx, q, "schema_version", "select core.schema_version(), to_regnamespace('core_node') is null", nil, &version, &unreleased); err != nil {
		return err
	}
	e := &nexus.Error{Op: "check the schema", Message: fmt.Sprintf("the schema has version %d and this binary knows %d", version, want)}
	switch {
	case unreleased:
		e.Code, e.Hint = nexus.CodeSchemaUnreleased, "nexus-node migrate up says what to do"
		e.Message = fmt.Sprintf("the schema has version %d of before 0.1.0, which nothing upgrades", version)
	case version > want:
		e.Code, e.Hint = nexus.CodeSchemaNewer, "use a binary at least as new as the one that installed it"
	case version < want:
		e.Code, e.Hint = nexus.CodeSchemaOlder, "bring the schema up to the version of this program: nexus-node migrate up"
	default:
		return nil
	}
	return e
}
