package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/cloudevent"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/internal/post"
	"github.com/nexuspg/nexus/internal/svc"
	"github.com/nexuspg/nexus/webhook/signature"
)

// settings are a webhook as the database describes it.
type settings struct {
	Name        string   `json:"name"`
	Queue       string   `json:"queue_name"`
	URL         string   `json:"url"`
	Source      string   `json:"source"`
	TimeoutMS   int64    `json:"timeout_ms"`
	Concurrency int      `json:"concurrency"`
	MaxAttempts int      `json:"max_attempts"`
	Secrets     []secret `json:"secrets"`
	Consumer    string   `json:"consumer"`
	Pattern     string   `json:"pattern"` // of what it takes of the consumer: "*", or the key of the handler that it is
}

// secret is one that does not print.
type secret struct{ signature.Key }

func (s *secret) UnmarshalText(text []byte) (err error) {
	s.Key, err = signature.ParseKey(string(text))
	return err
}

// handles reports whether it is a handler that deliveries name, so that its consumer is not its own.
func (s *settings) handles() bool { return s.Pattern != "*" }

// id tells it from the others: a handler is there once for each consumer.
func (s *settings) id() string { return s.Name + " " + s.Consumer }

func (s *settings) timeout() time.Duration { return time.Duration(s.TimeoutMS) * time.Millisecond }

func (s *settings) keys() (all []signature.Key) {
	for _, k := range s.Secrets {
		all = append(all, k.Key)
	}
	return all
}

// loadTimeout bounds a look for webhooks.
const loadTimeout = 10 * time.Second

func load(ctx context.Context, h *svc.Host) (all []*settings, err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var text []byte
	if err := db.Call(ctx, h.Own, "webhooks", `select coalesce(jsonb_agg(to_jsonb(w) order by w.name, w.consumer), '[]')::text from core_node.webhooks($1::text) w`,
		[]any{string(h.Namespace)}, &text); err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}

// find is one of them; nil: there is none of that name for that consumer, "" being any.
func find(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name, consumer string) (*settings, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var text *string
	if err := db.Call(ctx, q, "webhooks", `select (select to_jsonb(w)::text from core_node.webhooks($1::text) w where w.name = $2::text and $3::text in (w.consumer, '') limit 1)`,
		[]any{string(ns), name, consumer}, &text); err != nil || text == nil {
		return nil, err
	}
	s := new(settings)
	return s, json.Unmarshal([]byte(*text), s)
}

// request is how an event is posted.
func (s *settings) request(e *nexus.Event) (post.Request, error) {
	body, err := cloudevent.Encode(e, s.Source)
	if err != nil {
		return post.Request{}, errors.Join(err, nexus.Reject("webhook: no CloudEvent"))
	}
	keys := s.keys()
	return post.Request{
		URL: s.URL, ContentType: cloudevent.ContentType, Body: body, Timeout: s.timeout(), Secrets: secretsOf(keys),
		Sign: func(h http.Header, at time.Time) { signature.SetHeaders(h, cloudevent.ID(e), at, body, keys...) },
	}, nil
}

// secretsOf are the keys as texts, which no error shows though the receiver answers with them.
func secretsOf(keys []signature.Key) (secrets []string) {
	for _, key := range keys {
		secrets = append(secrets, key.Secret(), key.Secret()[len("whsec_"):])
	}
	return secrets
}

// same reports whether a loop that was made for s serves o as well: all else is read at each POST.
func (s *settings) same(o *settings) bool {
	return s.Queue == o.Queue && s.Concurrency == o.Concurrency
}

func names(hooks map[string]*hook) (all []string) {
	for name := range hooks {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
