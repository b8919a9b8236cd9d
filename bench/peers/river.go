package main

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/nexuspg/nexus/bench/internal/rig"
)

// riverJob has the payload of the events as its arguments.
type riverJob struct{ json.RawMessage }

func (riverJob) Kind() string { return "order.placed" }

// riverInserts only inserts; no worker of River's runs.
type riverInserts struct {
	*rig.Rig
	client *river.Client[pgx.Tx]
}

func newRiver(ctx context.Context, r *rig.Rig) (*riverInserts, error) {
	migrator, err := rivermigrate.New(riverpgxv5.New(r.Owner), nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	if err := r.Exec(ctx, "grant all on all tables in schema public to bench", "grant all on all sequences in schema public to bench"); err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(r.Pool), &river.Config{})
	return &riverInserts{r, client}, err
}

func (b *riverInserts) single(ctx context.Context) (float64, error) {
	if err := empty(ctx, b.Rig); err != nil {
		return 0, err
	}
	return b.Repeat(8, 1, func() error {
		_, err := b.client.Insert(ctx, riverJob{json.RawMessage(rig.Payload)}, nil)
		return err
	})
}

func (b *riverInserts) batch(ctx context.Context) (float64, error) {
	if err := empty(ctx, b.Rig); err != nil {
		return 0, err
	}
	params := make([]river.InsertManyParams, batchSize)
	for i := range params {
		params[i] = river.InsertManyParams{Args: riverJob{json.RawMessage(rig.Payload)}}
	}
	return b.Repeat(2, batchSize, func() error {
		_, err := b.client.InsertManyFast(ctx, params)
		return err
	})
}
