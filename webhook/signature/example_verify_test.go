package signature_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/nexuspg/nexus/webhook/signature"
)

// What a receiver does before it believes anything.
func ExampleVerify() {
	key, err := signature.ParseKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		panic(err)
	}
	body := `{"specversion":"1.0","type":"order.placed"}`
	req := httptest.NewRequest(http.MethodPost, "/in", strings.NewReader(body))
	signature.SetHeaders(req.Header, "0199d0a4-5b1e-7c3f-9d2a-6f0e8a7b1c2d", time.Now(), []byte(body), key) // the sender does

	fmt.Println(signature.Verify(req.Header, []byte(body), time.Now(), key))
	fmt.Println(signature.Verify(req.Header, []byte(body+" "), time.Now(), key))
	fmt.Println(signature.Verify(req.Header, []byte(body), time.Now().Add(time.Hour), key)) // sent again by somebody who recorded it
	// Output:
	// <nil>
	// signature: none of the signatures fits
	// signature: the timestamp is too old or too new
}
