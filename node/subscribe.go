package node

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/queue"
)

// Consumer is a named consumer of the node's namespace, with a queue of its own. Its fields may be set until Run: they are what it is created with.
// One that is there must have them, as far as they are given.
type Consumer struct {
	queue.ConsumerOptions

	node     *Node
	of       *consumer
	patterns []string
	routed   bool
}

// Subscribe declares a named consumer and returns it, for its handlers: On, OnBatch and OnLeased, and [OnT] and its kin. Run and Work create it if
// it is missing, with the patterns of its events ("user.created", "user.*", "user:*" or "*"), and never alter it: where the database has other
// patterns or options, they return what differs ([nexus.ErrConflict], code [nexus.CodeConsumerDiffers]). What a handler is registered for must
// be among what the consumer gets, or it will not be called. Declared again under the same name it must be the same, and is the same consumer.
//
// It has to be called before Run, and so do the registrations of its handlers unless [Node.Apply] follows.
func (n *Node) Subscribe(name string, patterns ...string) *Consumer {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.consumers {
		if c.declared != nil && c.name == name && !c.declared.routed && slices.Equal(c.declared.patterns, patterns) {
			return c.declared
		}
	}
	of := &consumer{name: name}
	of.declared = &Consumer{node: n, of: of, patterns: patterns}
	n.consumers = append(n.consumers, of)
	return of.declared
}

// Triggers is the consumer of deliveries that triggers make. On, OnBatch and OnLeased, and [OnT] and its kin, take the name of a handler in place of a pattern:
// n.Triggers().On("mail", fn) is what triggers call "go:mail". Run and Work create it if it is missing. Its options are altered in the database alone.
func (n *Node) Triggers() *Consumer { return n.Routed("triggers") }

// Routed is [Node.Triggers] for a routed consumer of another name, which triggers have for what must not wait behind others.
func (n *Node) Routed(name string) *Consumer {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.consumers {
		if c.declared != nil && c.name == name && c.declared.routed {
			return c.declared
		}
	}
	of := &consumer{name: name}
	of.declared = &Consumer{node: n, of: of, routed: true}
	n.consumers = append(n.consumers, of)
	return of.declared
}

// On is [Node.On] for this consumer.
func (c *Consumer) On(pattern string, fn func(ctx context.Context, tx pgx.Tx, d *nexus.Delivery) error) *Handler {
	return c.register(&Handler{pattern: pattern, onTx: fn})
}

// OnBatch is [Node.OnBatch] for this consumer.
func (c *Consumer) OnBatch(pattern string, fn func(ctx context.Context, tx pgx.Tx, batch []*nexus.Delivery) error) *Handler {
	return c.register(&Handler{pattern: pattern, onBatch: fn})
}

// OnLeased is [Node.OnLeased] for this consumer.
func (c *Consumer) OnLeased(pattern string, fn func(ctx context.Context, d *nexus.Delivery) error) *Handler {
	return c.register(&Handler{pattern: pattern, onLeased: fn})
}

func (c *Consumer) register(h *Handler) *Handler {
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	if c.routed {
		h.pattern = "go:" + h.pattern
	}
	return c.of.add(c.node, h)
}

// declared is what a consumer is created with.
type declared struct {
	name     string
	patterns []string
	options  queue.ConsumerOptions
	routed   bool
}

func (c *Consumer) declare() *declared {
	if c == nil {
		return nil
	}
	return &declared{name: c.of.name, patterns: slices.Clone(c.patterns), options: c.ConsumerOptions, routed: c.routed}
}

// createConsumers creates those that are not there, as they were declared.
func (r *run) createConsumers(ctx context.Context) error {
	for _, c := range r.consumers {
		d := c.declared
		if d == nil {
			continue
		}
		if d.routed {
			if err := r.member.RequireRouted(ctx, d.name); err != nil {
				return err
			}
			continue
		}
		made, err := queue.EnsureConsumer(ctx, r.own, r.Namespace, d.name, d.patterns, &d.options)
		if err != nil {
			return err
		}
		if made {
			r.Logger.Info("consumer created", "consumer", d.name, "patterns", d.patterns)
		}
	}
	return nil
}

// distinct refuses two declarations of one consumer that differ, one of "default", and what a routed one cannot have.
func distinct(consumers []*consumer) error {
	seen := map[string]bool{}
	for _, c := range consumers {
		if c.declared != nil && c.declared.routed {
			if !reflect.ValueOf(c.declared.ConsumerOptions).IsZero() {
				return invalid(fmt.Sprintf("Routed(%s)", c.name), fmt.Sprintf("consumer %q was given options, and nodes do not create it with any", c.name),
					"leave them out; an operator sets them by queue.AlterConsumer")
			}
			for _, h := range c.handlers {
				if strings.HasSuffix(h.pattern, "*") {
					return invalid(fmt.Sprintf("Handler(%s)", h.pattern), fmt.Sprintf("%q is a pattern, and deliveries name their handler", h.pattern),
						"register it under its name, and once for each name that it has")
				}
				if c.name == pgmqueue.Requests && h.answer == nil {
					return invalid(fmt.Sprintf("Handler(%s)", h.pattern), fmt.Sprintf("the handler of %q is one of consumer %q, and does not answer", h.pattern, c.name),
						"register it with node.OnRequest")
				}
			}
		}
		if seen[c.name] {
			return invalid(fmt.Sprintf("Subscribe(%s)", c.name), fmt.Sprintf("consumer %q is declared twice, with different patterns, or is that of the node itself", c.name),
				"declare it once, or give the other one another name")
		}
		seen[c.name] = true
	}
	return nil
}
