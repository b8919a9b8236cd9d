package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/cloudevent"
	"github.com/nexuspg/nexus/internal/post"
	"github.com/nexuspg/nexus/webhook/signature"
)

// ProbeType is the type of the event that [Sender.Probe] sends.
const ProbeType = "nexus.webhook.test"

// Probed is what came of [Sender.Probe].
type Probed struct {
	URL    string
	ID     string        // of the CloudEvent
	Status int           // of the answer; 0: there was none
	Took   time.Duration // from the first connection to the end of the answer
	Wrong  string        // why it counts as not delivered, with the beginning of the answer; "": it was delivered
}

// Probe sends one event of type [ProbeType] to a webhook, as its events are sent and signed, and says how that went. Nothing is stored: not the event,
// and not how it went. It takes the duty to consume, as sending does.
func (s *Sender) Probe(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) (Probed, error) {
	w, err := find(ctx, q, ns, name, "")
	if err != nil {
		return Probed{}, err
	}
	if w == nil {
		return Probed{}, &nexus.Error{
			Op: "webhooks", Code: nexus.CodeNoConsumer, Field: "p_consumer", Message: "namespace " + string(ns) + " has no webhook " + name,
			Hint: "webhooks are listed in core.webhooks",
		}
	}
	return s.probe(ctx, ns, w)
}

// ProbeURL is [Sender.Probe] of an address that no webhook has yet, by a key.
func (s *Sender) ProbeURL(ctx context.Context, ns nexus.Namespace, url string, key signature.Key) (Probed, error) {
	const timeout = 15 * time.Second
	return s.probe(ctx, ns, &settings{URL: url, Source: cloudevent.Source(ns), TimeoutMS: timeout.Milliseconds(), Secrets: []secret{{key}}})
}

func (s *Sender) probe(ctx context.Context, ns nexus.Namespace, w *settings) (Probed, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Probed{}, err
	}
	began := time.Now()
	e := &nexus.Event{UID: id, Namespace: ns, Type: ProbeType, EmittedAt: began, Payload: json.RawMessage(`{"test":true}`)}
	r, err := w.request(e)
	if err != nil {
		return Probed{}, err
	}
	client := s.client()
	defer client.Close()
	status, err := client.Try(ctx, r)
	p := Probed{URL: w.URL, ID: cloudevent.ID(e), Status: status, Took: time.Since(began)}
	if failure, ok := errors.AsType[*post.Failure](err); ok {
		p.Wrong, err = failure.Error(), nil
	}
	return p, err
}
