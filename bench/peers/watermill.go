package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/nexuspg/nexus/bench/internal/rig"
)

// watermillEndToEnd is how many messages a second go through Watermill's SQL pub/sub while others are published, to the last of them. Its messages
// are in order within a topic, which has one subscription that takes one message at a time. So as many topics as the outbox queue beside it has
// lanes are what comes nearest; that a key belongs to a topic is then up to who publishes.
func watermillEndToEnd(r *rig.Rig, n, topics int) rig.Way {
	return func(ctx context.Context) (float64, error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		schema := sql.DefaultPostgreSQLSchema{}
		db := sql.BeginnerFromPgx(r.Owner)
		sub, err := sql.NewSubscriber(db, sql.SubscriberConfig{
			SchemaAdapter: schema, OffsetsAdapter: sql.DefaultPostgreSQLOffsetsAdapter{}, InitializeSchema: true,
			PollInterval: 10 * time.Millisecond, // 1 s by default, which would be in the result
		}, nil)
		if err != nil {
			return 0, err
		}
		defer func() { stop(); _ = sub.Close() }()
		var done atomic.Int64
		for i := range topics {
			topic := topicOf(i)
			if err := r.Exec(ctx, fmt.Sprintf(`drop table if exists "watermill_%s", "watermill_offsets_%s"`, topic, topic)); err != nil {
				return 0, err
			}
			messages, err := sub.Subscribe(ctx, topic)
			if err != nil {
				return 0, err
			}
			go func() {
				for m := range messages {
					m.Ack()
					done.Add(1)
				}
			}()
		}
		if err := r.Exec(ctx, "checkpoint"); err != nil {
			return 0, err
		}
		pub, err := sql.NewPublisher(db, sql.PublisherConfig{SchemaAdapter: schema}, nil)
		if err != nil {
			return 0, err
		}
		var turn atomic.Int64
		return endToEnd(r, n, &done, func() error {
			batch := make([]*message.Message, n)
			for i := range batch {
				batch[i] = message.NewMessage(watermill.NewUUID(), []byte(rig.Payload))
			}
			return pub.Publish(topicOf(int(turn.Add(1))%topics), batch...)
		})
	}
}

func topicOf(i int) string { return fmt.Sprintf("moves%d", i) }
