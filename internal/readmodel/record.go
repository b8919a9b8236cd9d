package readmodel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus/internal/db"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Record is a row with its columns in order. Values stay the JSON that Postgres wrote, so that bigints and the digits of
// payloads are not rounded on their way to the user.
type Record struct {
	Names  []string
	Values []json.RawMessage
	Now    time.Time // of the database, when it was selected
}

// Select runs a select. The whole of its result is held, so it carries its own limit. what names it in errors.
func Select(ctx context.Context, q Querier, what, sql string, args ...any) ([]Record, error) {
	rows, err := q.Query(ctx, "select pg_catalog.to_json(t)::text, core.now() from ("+sql+") t", args...)
	if err != nil {
		return nil, db.ErrorOn(ctx, q, what, err)
	}
	records, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Record, error) {
		var text string
		var now time.Time
		if err := row.Scan(&text, &now); err != nil {
			return Record{}, err
		}
		r, err := Parse([]byte(text))
		r.Now = now
		return r, err
	})
	return records, db.ErrorOn(ctx, q, what, err)
}

// Parse reads a row that Postgres wrote as an object.
func Parse(object []byte) (Record, error) {
	var r Record
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil { // {
		return r, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return r, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return r, err
		}
		r.Names = append(r.Names, fmt.Sprint(name))
		r.Values = append(r.Values, value)
	}
	return r, nil
}

// MarshalJSON keeps the order of the columns.
func (r Record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range r.Names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(r.Values[i])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Texts are the values as people read them: strings without quotes, null as nothing.
func (r Record) Texts() []string {
	out := make([]string, len(r.Values))
	for i, v := range r.Values {
		out[i] = text(v)
	}
	return out
}

// WithoutLast is the record without its last column.
func (r Record) WithoutLast() Record {
	last := len(r.Names) - 1
	r.Names, r.Values = r.Names[:last], r.Values[:last]
	return r
}

func text(v json.RawMessage) string {
	var s string
	switch {
	case string(v) == "null":
		return ""
	case json.Unmarshal(v, &s) == nil:
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}
