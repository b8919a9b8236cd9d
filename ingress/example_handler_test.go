package ingress_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/ingress"
	"github.com/nexuspg/nexus/internal/dbtest"
)

// A request is taken once, however often it is sent.
func ExampleHandler() {
	pool, done := dbtest.Example("shop") // a database with the namespace shop
	defer done()
	mux := http.NewServeMux()
	mux.Handle("POST /events", &ingress.Handler{
		DB:        pool,
		Authorize: ingress.Tokens(map[[sha256.Size]byte]nexus.Namespace{sha256.Sum256([]byte("a long random token")): "shop"}),
	})

	for range 2 {
		req := httptest.NewRequest(http.MethodPost, "/events", strings.NewReader(`{"specversion":"1.0","id":"7","source":"/web","type":"order.placed","data":{"order":7}}`))
		req.Header.Set("Content-Type", "application/cloudevents+json")
		req.Header.Set("Authorization", "Bearer a long random token")
		res := httptest.NewRecorder()
		mux.ServeHTTP(res, req)
		fmt.Println(res.Code, strings.Contains(res.Body.String(), `"duplicate":true`))
	}
	// Output:
	// 202 false
	// 202 true
}
