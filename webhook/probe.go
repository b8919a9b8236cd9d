package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/cloudevent"
	"github.com/nexuspg/nexus/internal/db"
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
	var text *string
	if err := db.Call(ctx, q, "webhooks", `select (select to_jsonb(w)::text from core_node.webhooks($1::text) w where w.name = $2::text)`,
		[]any{string(ns), name}, &text); err != nil {
		return Probed{}, err
	}
	if text == nil {
		return Probed{}, &nexus.Error{
			Op: "webhooks", Code: nexus.CodeNoConsumer, Field: "p_consumer", Message: "namespace " + string(ns) + " has no webhook " + name,
			Hint: "webhooks are listed in core.webhooks",
		}
	}
	var w settings
	if err := json.Unmarshal([]byte(*text), &w); err != nil {
		return Probed{}, err
	}
	return s.probe(ctx, ns, w.URL, w.Source, w.timeout(), w.keys())
}

// ProbeURL is [Sender.Probe] of an address that no webhook has yet, by a key.
func (s *Sender) ProbeURL(ctx context.Context, ns nexus.Namespace, url string, key signature.Key) (Probed, error) {
	return s.probe(ctx, ns, url, cloudevent.Source(ns), 15*time.Second, []signature.Key{key})
}

func (s *Sender) probe(ctx context.Context, ns nexus.Namespace, url, source string, timeout time.Duration, keys []signature.Key) (Probed, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Probed{}, err
	}
	began := time.Now()
	e := &nexus.Event{UID: id, Namespace: ns, Type: ProbeType, EmittedAt: began, Payload: json.RawMessage(`{"test":true}`)}
	body, err := cloudevent.Encode(e, source)
	if err != nil {
		return Probed{}, err
	}
	client := s.client()
	defer client.Close()
	status, err := client.Try(ctx, post.Request{
		URL: url, ContentType: cloudevent.ContentType, Body: body, Timeout: timeout, Secrets: secretsOf(keys),
		Sign: func(h http.Header, at time.Time) { signature.SetHeaders(h, cloudevent.ID(e), at, body, keys...) },
	})
	p := Probed{URL: url, ID: cloudevent.ID(e), Status: status, Took: time.Since(began)}
	if failure, ok := errors.AsType[*post.Failure](err); ok {
		p.Wrong, err = failure.Error(), nil
	}
	return p, err
}

// secretsOf are the keys as texts, which no error shows though the receiver answers with them.
func secretsOf(keys []signature.Key) (secrets []string) {
	for _, key := range keys {
		secrets = append(secrets, key.Secret(), key.Secret()[len("whsec_"):])
	}
	return secrets
}
