package trigger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/nexuspg/nexus/internal/db"
)

// HTTP has a handler called by HTTP: what programs with an ingress.Triggers are asked, and "nexus-node run" with NEXUS_TRIGGER_ADDRESS. Creating one takes the duty to operate.
// Two of a namespace with one method and path are [nexus.ErrConflict], whatever the names in the path.
//
// Its handler gets a [Call], of the type nexus.http, or with [Trigger].Sync as a request.
type HTTP struct {
	Method  string        // GET, POST, PUT, PATCH or DELETE
	Path    string        // such as "/orders/{id}": {name} stands for a segment, which goes into Params
	Token   string        // the bearer token that callers send, random; kept is its sum
	Public  bool          // in place of a token: anybody may call it
	Timeout time.Duration // Sync: how long the reply is waited for, up to 5 min; 0: 30 s
}

// Call is the payload of a trigger of kind http.
type Call struct {
	Method string              `json:"method"`
	Path   string              `json:"path"` // as it was asked
	Params map[string]string   `json:"params"`
	Query  map[string][]string `json:"query"`
	Body   json.RawMessage     `json:"body"` // JSON; null: there was none
}

func (h *HTTP) source() map[string]any {
	source := map[string]any{"method": h.Method, "path": h.Path}
	if h.Token != "" {
		sum := sha256.Sum256([]byte(h.Token))
		source["token_hash"] = hex.EncodeToString(sum[:])
	}
	if h.Public {
		source["public"] = true
	}
	if h.Timeout != 0 {
		source["timeout"] = db.Interval(h.Timeout)
	}
	return source
}
