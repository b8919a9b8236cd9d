package webhook

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/nexuspg/nexus/internal/post"
	"github.com/nexuspg/nexus/internal/svc"
)

// Sender runs the webhooks of a node's namespace: n.Add(&webhook.Sender{}). A node without one leaves them to others. Its POSTs take places of
// [node.Config.LeasedWorkers], and the metrics, middleware and traces of the node are around them. The node's login needs the duty to consume.
//
// Whoever may create a webhook chooses an address that this process then reaches. Addresses that are not of the internet (loopback, private, link-local, shared, and the
// like) are refused when a connection is made, unless they are allowed here.
//
// [node.Config.LeasedWorkers]: https://pkg.go.dev/github.com/nexuspg/nexus/node#Config
type Sender struct {
	// Allow are networks that may be reached though they are private.
	Allow []netip.Prefix

	// Proxy says through which proxy a request goes, as [http.ProxyFromEnvironment] does; nil: none, whatever the environment says. What is behind a proxy is the proxy's to
	// judge, and its own address has to be allowed.
	Proxy func(*http.Request) (*url.URL, error)

	Connect time.Duration // for a connection with its TLS handshake; 0: 10 s
	Look    time.Duration // between two looks for webhooks that have changed; 0: 5 s
}

// Declare looks whether the node may run webhooks.
func (s *Sender) Declare(ctx context.Context, h *svc.Host) error {
	_, err := load(ctx, h)
	return err
}

// Runner runs them.
func (s *Sender) Runner(h *svc.Host) svc.Runner {
	look := s.Look
	if look == 0 {
		look = 5 * time.Second
	}
	r := &runner{
		host: h, look: look, hooks: map[string]*hook{}, done: make(chan struct{}),
		client: s.client(),
	}
	r.ctx, r.end = context.WithCancel(context.WithoutCancel(h.Handling))
	return r
}

func (s *Sender) client() *post.Client {
	return post.New(post.Config{Allow: s.Allow, Proxy: s.Proxy, Connect: s.Connect, Agent: "nexus"})
}
