package operate_test

import (
	"errors"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	ns        = "shop"
	mainQueue = "core_events_shop"
)

func newDB(t *testing.T) *dbtest.DB {
	t.Helper()
	db := dbtest.New(t)
	db.Namespace(ns)
	return db
}

func wantError(t *testing.T, err, family error, code string) {
	t.Helper()
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != code || !errors.Is(err, family) {
		t.Errorf("got %v, want %s", err, code)
	}
}
