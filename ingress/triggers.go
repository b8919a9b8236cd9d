package ingress

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
	"github.com/nexuspg/nexus/queue"
)

const (
	defaultInFlight = 256

	// A path, method or token that is not known may have come meanwhile: the table of triggers is looked at again, this often at most.
	lookEvery = time.Second

	// So often routes may turn out to be those of before while one request is answered.
	mostStale = 3
)

// Triggers serves the triggers of kind http of a namespace. A request that fits one, by method and path, is a delivery of its own for the trigger's target, and answered by 202 with
// event_uid and accepted_at once that is committed; of a trigger that is sync it is a request, and answered by its reply.
//
// The triggers are those of the database at the time: one that was deleted, disabled or changed, or has another token, is so from the next request on, and a new one is there within a second.
// A caller that leaves cancels its request. Replies are awaited without a connection of the pool. The login needs the duty to produce in the namespace.
type Triggers struct {
	DB        nexus.DBTX // a pool
	Namespace nexus.Namespace

	MaxBytes    int64        // of a body; 0: 8 MB
	MaxInFlight int          // requests at once whose body is there, others are answered by 429; 0: 256
	Logger      *slog.Logger // nil: slog.Default; neither tokens nor payloads are logged

	known    atomic.Pointer[table]
	looking  sync.Mutex
	inFlight atomic.Int64
}

// called is the payload; trigger.Call is the same for handlers.
type called struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Params map[string]string `json:"params"`
	Query  url.Values        `json:"query"`
	Body   json.RawMessage   `json:"body"`
}

// ServeHTTP implements [http.Handler].
func (h *Triggers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := asked(r.URL)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if !ok || err != nil {
		refuse(w, http.StatusBadRequest, "the address is none")
		return
	}
	to, at, ok := h.route(w, r, path, lookEvery)
	if !ok {
		return
	}
	body, ok := read(w, r, h.MaxBytes)
	if !ok {
		return
	}
	if len(body) == 0 {
		body = []byte("null")
	} else if !isJSON(r.Header.Get("Content-Type")) {
		refuse(w, http.StatusUnsupportedMediaType, "the body has to be application/json")
		return
	} else if !json.Valid(body) {
		refuse(w, http.StatusBadRequest, "the body is not valid JSON")
		return
	}
	// Not before the body is there: else callers that send theirs slowly would keep all others out.
	most := int64(h.MaxInFlight)
	if most == 0 {
		most = defaultInFlight
	}
	defer h.inFlight.Add(-1)
	if h.inFlight.Add(1) > most {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "too many requests are under way")
		return
	}
	for range mostStale {
		fired, err := h.fire(r, to, at, called{r.Method, r.URL.Path, to.params(path), query, body})
		if err != nil {
			h.fail(w, err)
			return
		}
		switch fired.state {
		case "accepted":
			write(w, http.StatusAccepted, map[string]any{"event_uid": fired.eventUID, "accepted_at": fired.acceptedAt.UTC()})
			return
		case "asked":
			h.reply(w, r, fired)
			return
		case "revoked":
			h.log().Warn("a trigger was not served: the role that created it has lost its right", "trigger_id", to.ID)
			refuse(w, http.StatusServiceUnavailable, "not now")
			return
		}
		if to, at, ok = h.route(w, r, path, 0); !ok {
			return
		}
	}
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, "not now, try again")
}

// route finds the route of a request by a table that is at most so old, where that of before has none; without one it answers.
func (h *Triggers) route(w http.ResponseWriter, r *http.Request, path []string, old time.Duration) (to route, at int64, ok bool) {
	t := h.known.Load()
	if t != nil && old > 0 {
		if to, ok := t.root.find(path)[r.Method]; ok && to.admits(r) {
			return to, t.generation, true
		}
	}
	t, err := h.look(r.Context(), old)
	if err != nil {
		h.fail(w, err)
		return route{}, 0, false
	}
	found := t.root.find(path)
	to, ok = found[r.Method]
	switch {
	case len(found) == 0:
		refuse(w, http.StatusNotFound, "there is nothing here")
	case !ok:
		w.Header().Set("Allow", methods(found))
		refuse(w, http.StatusMethodNotAllowed, "it is asked by "+methods(found))
	case !to.admits(r):
		unauthorized(w)
		ok = false
	}
	return to, t.generation, ok
}

// admits compares in a time that tells nothing.
func (r route) admits(req *http.Request) bool {
	if r.Sum == "" {
		return true
	}
	sum := sha256.Sum256([]byte(bearer(req)))
	return subtle.ConstantTimeCompare([]byte(r.Sum), []byte(hex.EncodeToString(sum[:]))) == 1
}

// look reads the routes, unless somebody has since then. Where the database is away those of before stand for a while.
func (h *Triggers) look(ctx context.Context, old time.Duration) (*table, error) {
	since := time.Now().Add(-old)
	if t := h.known.Load(); t != nil && t.read.After(since) {
		return t, nil
	}
	h.looking.Lock()
	defer h.looking.Unlock()
	before := h.known.Load()
	if before != nil && before.read.After(since) {
		return before, nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	begun := time.Now()
	var generation int64
	var routes []byte
	err := db.Call(ctx, h.DB, "http_routes", "select generation, routes::text from core_node.http_routes($1::text)", []any{string(h.Namespace)}, &generation, &routes)
	if err != nil {
		if before != nil && old > 0 {
			h.known.Store(&table{before.generation, before.root, begun})
		}
		return nil, err
	}
	t, err := newTable(generation, routes, begun)
	if err != nil {
		return nil, err
	}
	h.known.Store(t)
	return t, nil
}

type fired struct {
	state, eventUID, inbox string
	acceptedAt             *time.Time
}

// fire goes on where the caller leaves: what was asked and is not known to nobody cannot be cancelled.
func (h *Triggers) fire(r *http.Request, to route, generation int64, call called) (f fired, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), within)
	defer cancel()
	payload, err := db.Payload("fire_http", "p_payload", call)
	if err != nil {
		return f, err
	}
	o := db.NewOptions("fire_http", "")
	o.Text("correlation_id", r.Header.Get("X-Correlation-Id"))
	headers := map[string]string{}
	for _, name := range []string{"traceparent", "tracestate"} {
		if value := r.Header.Get(name); value != "" && len(value) <= 512 {
			headers[name] = value
		}
	}
	if len(headers) > 0 {
		o.Map("headers", headers)
	}
	options, err := o.Encode()
	if err != nil {
		return f, err
	}
	err = db.Call(ctx, h.DB, "fire_http", `select state, coalesce(event_uid::text, ''), accepted_at, coalesce(inbox_id::text, '')
from core_node.fire_http($1::text::uuid, $2::bigint, $3::text::jsonb, $4::text::jsonb)`,
		[]any{to.ID, generation, payload, options}, &f.state, &f.eventUID, &f.acceptedAt, &f.inbox)
	return f, err
}

// reply answers with what the handler said, or by its status. What went wrong in it is for the log of its node, not for the world.
func (h *Triggers) reply(w http.ResponseWriter, r *http.Request, f fired) {
	id, err := uuid.Parse(f.inbox)
	if err != nil {
		h.fail(w, err)
		return
	}
	reply, err := queue.AwaitReply(r.Context(), h.DB, id)
	e, ok := errors.AsType[*queue.ReplyError](err)
	switch {
	case ok && e.Status == http.StatusUnprocessableEntity:
		refuse(w, e.Status, e.Message)
	case ok:
		if e.Status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
		}
		refuse(w, e.Status, strings.ToLower(http.StatusText(e.Status)))
	case r.Context().Err() != nil: // it has left, and the request is cancelled
	case err != nil:
		h.fail(w, err)
	default:
		write(w, http.StatusOK, reply)
	}
}

func (h *Triggers) fail(w http.ResponseWriter, err error) {
	fail(w, err, h.Logger, "a trigger was not served", "it was not done")
}

func (h *Triggers) log() *slog.Logger {
	if h.Logger == nil {
		return slog.Default()
	}
	return h.Logger
}

func isJSON(contentType string) bool {
	kind, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) &&
		(!given || strings.EqualFold(charset, "utf-8"))
}
