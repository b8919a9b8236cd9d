package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/db"
)

// record is a row with its columns in order. Values stay the JSON that Postgres wrote, so that bigints and the digits of
// payloads are not rounded on their way to the user.
type record struct {
	names  []string
	values []json.RawMessage
	now    time.Time // of the database, when it was selected
}

// selectRecords runs a select from views and tables. The whole of its result is held, so it carries its own limit.
func selectRecords(ctx context.Context, pool *pgxpool.Pool, what, sql string, args ...any) ([]record, error) {
	rows, err := pool.Query(ctx, "select pg_catalog.to_json(t)::text, core.now() from ("+sql+") t", args...)
	if err != nil {
		return nil, db.ErrorOn(ctx, pool, what, err)
	}
	records, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (record, error) {
		var text string
		var now time.Time
		if err := row.Scan(&text, &now); err != nil {
			return record{}, err
		}
		r, err := parseRecord([]byte(text))
		r.now = now
		return r, err
	})
	return records, db.ErrorOn(ctx, pool, what, err)
}

func parseRecord(object []byte) (record, error) {
	var r record
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
		r.names = append(r.names, fmt.Sprint(name))
		r.values = append(r.values, value)
	}
	return r, nil
}

// MarshalJSON keeps the order of the columns.
func (r record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range r.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(r.values[i])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// texts are the values as people read them: strings without quotes, null as nothing.
func (r record) texts() []string {
	out := make([]string, len(r.values))
	for i, v := range r.values {
		out[i] = plain(v)
	}
	return out
}

func plain(v json.RawMessage) string {
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

// printRecords prints a list. names are its columns, needed for an empty one.
func (s *session) printRecords(names []string, records []record) error {
	if s.format == asJSON {
		if records == nil {
			records = []record{}
		}
		return s.printJSON(records)
	}
	rows := make([][]string, len(records))
	for i, r := range records {
		rows[i] = r.texts()
		if s.Width != nil {
			inWordsOfTime(names, rows[i], r.now)
		}
	}
	return s.printTable(names, rows)
}

// printRecord prints one thing.
func (s *session) printRecord(r record) error {
	if s.format == asJSON {
		return s.printJSON(r)
	}
	return s.printFields(r.names, r.texts())
}
