package queue_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// The check in Go and the one in SQL draw the line at the same place, so that a program and psql may emit the same.
// holds: others-large
func TestLimitsAreThoseOfSQL(t *testing.T) {
	database := newDB(t)
	nested := func(levels int) string { return strings.Repeat(`{"a":[`, levels/2) + strings.Repeat(`]}`, levels/2) }
	for payload, refused := range map[string]bool{
		`{"n":1.7976931348623157e308}`:             false,
		`{"n":-1.7976931348623157e308}`:            false,
		`{"n":1.7976931348623158e308}`:             true,
		`{"n":-1.8e308}`:                           true,
		`{"n":` + strings.Repeat("9", 308) + `}`:   false,
		`{"n":1` + strings.Repeat("9", 309) + `}`:  true,
		`{"n":"` + strings.Repeat("9", 400) + `"}`: false,
		nested(1000): false,
		nested(1002): true,
	} {
		var id int64
		inSQL := db.Call(t.Context(), database.Pool, "emit", "select event_id from core.emit('shop', 'x', $1::text::jsonb)", []any{payload}, &id)
		_, inGo := bus.Emit(t.Context(), database.Pool, "x", json.RawMessage(payload), nil)
		for where, err := range map[string]error{"SQL": inSQL, "Go": inGo} {
			e, _ := errors.AsType[*nexus.Error](err)
			if refused != (err != nil) || refused && (e.Code != nexus.CodePayload || e.Field != "p_payload") {
				t.Errorf("%.40s…: %s says %v; refused should be %v", payload, where, err, refused)
			}
		}
	}
}
