package nexus_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus"
)

func TestErrorFamilies(t *testing.T) {
	families := []error{
		nexus.ErrInvalid, nexus.ErrNotFound, nexus.ErrConflict, nexus.ErrLeaseLost, nexus.ErrForbidden, nexus.ErrSchema,
		nexus.ErrLimit, nexus.ErrRestartTx, nexus.ErrUnavailable, nexus.ErrDraining,
	}
	for code, want := range map[string]error{
		nexus.CodePayload: nexus.ErrInvalid, "22P02": nexus.ErrInvalid,
		nexus.CodeNoNamespace:       nexus.ErrNotFound,
		nexus.CodeNamespaceNotEmpty: nexus.ErrConflict,
		nexus.CodeLeaseLost:         nexus.ErrLeaseLost, nexus.CodeNodeSuperseded: nexus.ErrLeaseLost,
		nexus.CodeDutyMissing: nexus.ErrForbidden, "42501": nexus.ErrForbidden,
		nexus.CodeSchemaNewer:     nexus.ErrSchema,
		nexus.CodePayloadTooLarge: nexus.ErrLimit,
		"40001":                   nexus.ErrRestartTx, "40P01": nexus.ErrRestartTx,
		"08006": nexus.ErrUnavailable, "25006": nexus.ErrUnavailable, "53300": nexus.ErrUnavailable,
		"57P01": nexus.ErrUnavailable, "57P03": nexus.ErrUnavailable,
		"23505": nil, // a unique violation is the user's own, not a conflict of ours
		"57014": nil, "42703": nil, "": nil,
	} {
		err := fmt.Errorf("deploy: %w", &nexus.Error{Op: "emit", Code: code})
		for _, family := range families {
			if got := errors.Is(err, family); got != errors.Is(want, family) {
				t.Errorf("%q is %q: %v", code, family, got)
			}
		}
	}
}

func TestErrorKeepsTheServersWords(t *testing.T) {
	pg := &pgconn.PgError{Code: "NX101"}
	err := &nexus.Error{
		Op: "emit", Code: "NX101", Message: `no namespace "shop"`, Hint: "create it with core.create_namespace", Err: pg,
	}
	if got, want := err.Error(), `emit: no namespace "shop" (create it with core.create_namespace) [NX101]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, _ := errors.AsType[*pgconn.PgError](fmt.Errorf("x: %w", err)); got != pg {
		t.Error("the driver's error is lost")
	}
	if err.SQLState() != "NX101" {
		t.Errorf("SQLState is %q", err.SQLState())
	}
}
