package queue

import (
	"context"

	"github.com/nexuspg/nexus"
)

// Middleware wraps emitting and handling. One value serves both ends: give it to [Emitter] and to the node's configuration.
// A nil function is skipped. The first of a list is the outermost.
//
// Emit runs around each call of an Emitter, with one event or many. It may change the elements of batch, whose slice and
// header maps are copies, before it calls next; the context it hands on is the one the options are taken from. It must call
// next or return an error. Events that are born in SQL never pass through it.
//
// Handle runs around each call of a handler.
type Middleware struct {
	Emit   func(ctx context.Context, batch []Emission, next func(context.Context) error) error
	Handle func(ctx context.Context, batch []*nexus.Delivery, next func(context.Context) error) error
}
