package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Collection is a set of keys of a namespace whose values are T, as JSON: a json.RawMessage is kept and given as it is.
//
// A name is up to 100 of A-Z, a-z, 0-9 and ". _ : / -", a letter or digit first; a key up to 512 bytes of text without control
// characters; a value as large as a payload of the namespace. [nexus.CodeKey], [nexus.CodePayloadTooLarge] and [nexus.CodePayload] are what else is refused with.
type Collection[T any] struct {
	Namespace nexus.Namespace
	Name      string
}

// Entry is a key as it was read.
type Entry[T any] struct {
	Key       string
	Value     T
	Version   int64 // for [Collection.CAS] and [DeleteOptions]
	CreatedAt time.Time
	UpdatedAt time.Time // of the last change
	ExpiresAt time.Time // zero: it stays
	UpdatedBy string    // the login, with the role set, if any
}

// Result says whether a key was changed. Not to be is an answer and no error.
type Result struct {
	Done    bool
	Version int64 // the key's new one, or the one that was deleted; if it was not done, the one that it has, 0 if it is not there
}

// SetOptions are the options of [Collection.Set].
type SetOptions struct {
	TTL       time.Duration // after which the key is not there; 0: it stays, also if it had a TTL before
	IfAbsent  bool
	IfPresent bool
}

// CASOptions are the options of [Collection.CAS].
type CASOptions struct {
	TTL time.Duration // as of [SetOptions]
}

// DeleteOptions are the options of [Collection.Delete].
type DeleteOptions struct {
	Version int64 // only if it has this one; 0: whatever it has
}

// ListOptions are the options of [Collection.List].
type ListOptions struct {
	Prefix   string
	After    string // the last key of the page before
	Limit    int    // 1 to 1,000; 0: 100
	KeysOnly bool   // without values
}

// Get returns a key, and whether it is there.
func (c Collection[T]) Get(ctx context.Context, q nexus.DBTX, key string) (e Entry[T], found bool, err error) {
	const op = "kv_get"
	entries, err := c.entries(ctx, q, op, "select $3::text as key, * from core.kv_get($1::text, $2::text, $3::text)", string(c.Namespace), c.Name, key)
	if err != nil || len(entries) == 0 {
		return e, false, err
	}
	return entries[0], true, nil
}

// Set gives a key a value. The same value without a TTL changes nothing, also not the version. opts may be nil.
func (c Collection[T]) Set(ctx context.Context, q nexus.DBTX, key string, value T, opts *SetOptions) (Result, error) {
	const op = "kv_set"
	if opts == nil {
		opts = &SetOptions{}
	}
	o := db.NewOptions(op, "")
	o.Duration("ttl", opts.TTL)
	o.Flag("if_absent", opts.IfAbsent)
	o.Flag("if_present", opts.IfPresent)
	return c.write(ctx, q, op, "core.kv_set($1::text, $2::text, $3::text, $4::text::jsonb, $5::text::jsonb)", key, value, o)
}

// CAS gives a key a value if it has this version, 0 being that of a key that is not there. Of two at once with one version one is done.
// opts may be nil.
//
// In REPEATABLE READ and above a key that others changed meanwhile is [nexus.ErrRestartTx].
func (c Collection[T]) CAS(ctx context.Context, q nexus.DBTX, key string, value T, version int64, opts *CASOptions) (Result, error) {
	const op = "kv_cas"
	if opts == nil {
		opts = &CASOptions{}
	}
	o := db.NewOptions(op, "")
	o.Duration("ttl", opts.TTL)
	return c.write(ctx, q, op, "core.kv_cas($1::text, $2::text, $3::text, $4::text::jsonb, $6::bigint, $5::text::jsonb)", key, value, o, version)
}

// Delete takes a key away. It is not done if there is none. opts may be nil.
func (c Collection[T]) Delete(ctx context.Context, q nexus.DBTX, key string, opts *DeleteOptions) (Result, error) {
	var version any
	if opts != nil && opts.Version != 0 {
		version = fmt.Sprint(opts.Version)
	}
	return result(ctx, q, "kv_delete", "core.kv_delete($1::text, $2::text, $3::text, $4::text::bigint)", string(c.Namespace), c.Name, key, version)
}

// List returns a page of keys, in the order of their bytes. opts may be nil.
func (c Collection[T]) List(ctx context.Context, q nexus.DBTX, opts *ListOptions) ([]Entry[T], error) {
	if opts == nil {
		opts = &ListOptions{}
	}
	columns := "*"
	if opts.KeysOnly {
		columns = "key, version, created_at, updated_at, expires_at, updated_by"
	}
	limit := opts.Limit
	if limit == 0 {
		limit = 100
	}
	return c.entries(ctx, q, "kv_list", "select "+columns+" from core.kv_list($1::text, $2::text, $3::text, $4::text, $5::int, $6::bool)",
		string(c.Namespace), c.Name, opts.Prefix, opts.After, limit, !opts.KeysOnly)
}

func (c Collection[T]) write(ctx context.Context, q nexus.DBTX, op, call, key string, value T, o *db.Options, more ...any) (Result, error) {
	options, err := o.Encode()
	if err != nil {
		return Result{}, err
	}
	body, err := encode(op, value)
	if err != nil {
		return Result{}, err
	}
	return result(ctx, q, op, call, append([]any{string(c.Namespace), c.Name, key, body, options}, more...)...)
}

func result(ctx context.Context, q nexus.DBTX, op, call string, args ...any) (r Result, err error) {
	err = db.Call(ctx, q, op, "select done, coalesce(version, 0) from "+call, args, &r.Done, &r.Version)
	return r, err
}

// encode writes a value as JSON. What is nothing is null here, where as a payload it would be {}.
func encode(op string, value any) (string, error) {
	if raw, is := value.(json.RawMessage); value == nil || is && raw == nil {
		return "null", nil
	}
	return db.Payload(op, "p_value", value)
}

// row is an entry as it comes from the database.
type row struct {
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	Version   int64           `json:"version"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	ExpiresAt time.Time       `json:"expires_at"`
	UpdatedBy string          `json:"updated_by"`
}

func (Collection[T]) entries(ctx context.Context, q nexus.DBTX, op, sql string, args ...any) ([]Entry[T], error) {
	var list string
	if err := db.Call(ctx, q, op, "select coalesce(pg_catalog.json_agg(t), '[]')::text from ("+sql+") t", args, &list); err != nil {
		return nil, err
	}
	var rows []row
	if err := json.Unmarshal([]byte(list), &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	entries := make([]Entry[T], len(rows))
	var faults []error
	for i, r := range rows {
		entries[i] = Entry[T]{Key: r.Key, Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt, UpdatedBy: r.UpdatedBy}
		if r.Value == nil { // it was not asked for
			continue
		}
		if err := json.Unmarshal(r.Value, &entries[i].Value); err != nil {
			faults = append(faults, fmt.Errorf("%s: key %q is no %T: %w", op, r.Key, entries[i].Value, err))
		}
	}
	return entries, errors.Join(faults...)
}
