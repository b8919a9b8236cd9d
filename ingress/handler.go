package ingress

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/cloudevent"
	"github.com/nexuspg/nexus/queue"
)

const (
	defaultBytes = 8 << 20
	within       = 15 * time.Second
	retryAfter   = 5 * time.Second
)

// Handler takes POSTs of CloudEvents. Its login needs the duty to produce in the namespaces that it emits into.
type Handler struct {
	DB nexus.DBTX // a pool

	// Authorize says which namespace the events of a bearer token go into; "" and no error: none, which is answered by 401. Of tokens in memory, see [Tokens].
	Authorize func(ctx context.Context, token string) (nexus.Namespace, error)

	MaxBytes int64        // of a body; 0: 8 MB
	Logger   *slog.Logger // nil: slog.Default; neither tokens nor payloads are logged
}

// accepted is what became of one event.
type accepted struct {
	ID        string `json:"id"` // as it was sent
	EventID   int64  `json:"event_id"`
	EventUID  string `json:"event_uid"`
	Duplicate bool   `json:"duplicate"`
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "events are sent by POST")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	ns, err := h.authorized(ctx, r)
	if err != nil {
		h.fail(w, err)
		return
	}
	if ns == "" {
		unauthorized(w)
		return
	}
	body, ok := read(w, r, h.MaxBytes)
	if !ok {
		return
	}
	events, err := cloudevent.Decode(r.Header, body)
	switch {
	case errors.Is(err, cloudevent.ErrType):
		refuse(w, http.StatusUnsupportedMediaType, err.Error())
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	batch := make([]queue.Emission, len(events))
	for i, e := range events {
		batch[i] = queue.Emission{Type: e.Type, Payload: e.Payload, EmitOptions: queue.EmitOptions{
			DedupeKey: e.DedupeKey(), AuthoredAt: e.Time, CorrelationID: e.CorrelationID, OrderingKey: e.OrderingKey, Headers: e.Headers,
		}}
	}
	receipts, err := queue.Emitter{Namespace: ns, Producer: "ingress"}.EmitBatch(ctx, h.DB, batch)
	if err != nil {
		h.fail(w, err)
		return
	}
	all := make([]accepted, len(receipts))
	for i, one := range receipts {
		all[i] = accepted{events[i].ID, one.EventID, one.EventUID.String(), one.Duplicate}
	}
	write(w, http.StatusAccepted, map[string]any{"events": all})
}

func (h *Handler) authorized(ctx context.Context, r *http.Request) (nexus.Namespace, error) {
	token := bearer(r)
	if token == "" {
		return "", nil
	}
	return h.Authorize(ctx, token)
}

// bearer is the token of a request; "": it has none, or more than one.
func bearer(r *http.Request) string {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return ""
	}
	scheme, token, ok := strings.Cut(given[0], " ")
	token = strings.TrimSpace(token)
	if !ok || !strings.EqualFold(scheme, "Bearer") || len(token) > 1000 {
		return ""
	}
	return token
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, http.StatusUnauthorized, "there is no token, or none that is known")
}

// read reads a body of most bytes, 0: 8 MB; where it cannot, that is answered.
func read(w http.ResponseWriter, r *http.Request, most int64) (body []byte, ok bool) {
	if most == 0 {
		most = defaultBytes
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		_, large := errors.AsType[*http.MaxBytesError](err)
		switch { // without an answer it would be 200
		case large:
			refuse(w, http.StatusRequestEntityTooLarge, "the body has more than "+strconv.FormatInt(most, 10)+" bytes")
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(w, http.StatusRequestTimeout, "the body took too long")
		default:
			refuse(w, http.StatusBadRequest, "the body did not come to its end")
		}
		return nil, false
	}
	return body, true
}

func (h *Handler) fail(w http.ResponseWriter, err error) {
	fail(w, err, h.Logger, "events were not taken", "the events were not taken")
}

// fail answers what the database refused. What is not the sender's to mend is logged and not shown.
func fail(w http.ResponseWriter, err error, log *slog.Logger, logged, shown string) {
	e, _ := errors.AsType[*nexus.Error](err)
	switch {
	case errors.Is(err, nexus.ErrLimit):
		refuse(w, http.StatusRequestEntityTooLarge, e.Message)
		return
	case errors.Is(err, nexus.ErrInvalid):
		refuse(w, http.StatusBadRequest, strings.TrimSpace(e.Message+" "+e.Field))
		return
	}
	if log == nil {
		log = slog.Default()
	}
	log.Warn(logged, "error", err)
	if errors.Is(err, nexus.ErrUnavailable) || errors.Is(err, nexus.ErrRestartTx) || errors.Is(err, context.DeadlineExceeded) {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
		refuse(w, http.StatusServiceUnavailable, "not now, try again")
		return
	}
	refuse(w, http.StatusInternalServerError, shown)
}

func refuse(w http.ResponseWriter, status int, message string) {
	write(w, status, map[string]string{"error": message})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
