package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/queue"
	"github.com/nexuspg/nexus/webhook"
	"github.com/nexuspg/nexus/webhook/signature"
)

// A receiver on this machine, whose network has to be allowed, gets an event and checks its signature.
func ExampleSender() {
	ctx := context.Background()
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()

	var key signature.Key
	billing := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println("signed well:", signature.Verify(r.Header, body, time.Now(), key) == nil)
	}))
	defer billing.Close()

	secret, err := webhook.Create(ctx, pool, "shop", "billing", billing.URL, []string{"order.*"}, &webhook.Options{Insecure: true})
	if err != nil {
		panic(err)
	}
	if key, err = signature.ParseKey(secret); err != nil {
		panic(err)
	}
	if _, err := (queue.Emitter{Namespace: "shop"}).Emit(ctx, pool, "order.placed", map[string]int{"order": 7}, nil); err != nil {
		panic(err)
	}

	n := node.New(pool, node.Config{Namespace: "shop"})
	n.Add(&webhook.Sender{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	fmt.Println(n.Work(ctx, 10)) // a service calls Run
	// Output:
	// signed well: true
	// 1 <nil>
}
