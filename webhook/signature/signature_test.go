package signature_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nexuspg/nexus/webhook/signature"
)

// The example of the specification of Standard Webhooks, which its libraries test themselves with.
const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	id     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	body   = `{"test": 2432232314}`
	signed = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var at = time.Unix(1614265330, 0)

func key(t *testing.T, s string) signature.Key {
	t.Helper()
	k, err := signature.ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func headers(id, timestamp, signatures string) http.Header {
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", timestamp)
	h.Set("webhook-signature", signatures)
	return h
}

func TestVectorOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	if got := key(t, secret).Sign(id, at, []byte(body)); got != signed {
		t.Errorf("signed %s, not %s", got, signed)
	}
	if err := signature.Verify(headers(id, "1614265330", signed), []byte(body), at, key(t, secret)); err != nil {
		t.Error(err)
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	other := "whsec_" + strings.Repeat("QUJD", 8)
	ts := "1614265330"
	for name, c := range map[string]struct {
		h    http.Header
		body string
		now  time.Time
		want error
	}{
		"nothing":            {http.Header{}, body, at, signature.ErrHeaders},
		"no id":              {headers("", ts, signed), body, at, signature.ErrHeaders},
		"no time":            {headers(id, "", signed), body, at, signature.ErrHeaders},
		"no number":          {headers(id, "now", signed), body, at, signature.ErrHeaders},
		"another body":       {headers(id, ts, signed), body + " ", at, signature.ErrMismatch},
		"another id":         {headers(id+"x", ts, signed), body, at, signature.ErrMismatch},
		"another time":       {headers(id, "1614265331", signed), body, at, signature.ErrMismatch},
		"another version":    {headers(id, ts, "v2,"+signed[3:]), body, at, signature.ErrMismatch},
		"no base64":          {headers(id, ts, "v1,???"), body, at, signature.ErrMismatch},
		"empty":              {headers(id, ts, "v1,"), body, at, signature.ErrMismatch},
		"another secret":     {headers(id, ts, key(t, other).Sign(id, at, []byte(body))), body, at, signature.ErrMismatch},
		"replayed later":     {headers(id, ts, signed), body, at.Add(signature.Tolerance + time.Second), signature.ErrTimestamp},
		"from ahead":         {headers(id, ts, signed), body, at.Add(-signature.Tolerance - time.Second), signature.ErrTimestamp},
		"beyond all time":    {headers(id, "9223372036854775807", signed), body, at, signature.ErrTimestamp},
		"long before":        {headers(id, "-9223372036854775808", signed), body, at, signature.ErrTimestamp},
		"replayed, new time": {headers(id, strconv.FormatInt(at.Add(time.Hour).Unix(), 10), signed), body, at.Add(time.Hour), signature.ErrMismatch},
	} {
		if err := signature.Verify(c.h, []byte(c.body), c.now, key(t, secret)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := signature.Verify(headers(id, ts, signed), []byte(body), at); !errors.Is(err, signature.ErrMismatch) {
		t.Errorf("without a key: %v", err)
	}
	if err := signature.Verify(headers(id, ts, signature.Key{}.Sign(id, at, []byte(body))), []byte(body), at, signature.Key{}); !errors.Is(err, signature.ErrMismatch) {
		t.Errorf("with an empty key: %v", err)
	}
}

// A receiver that knows the old or the new secret accepts what is signed with both.
func TestRotation(t *testing.T) {
	t.Parallel()
	old, young := key(t, secret), key(t, "whsec_"+strings.Repeat("QUJD", 8))
	h := http.Header{}
	signature.SetHeaders(h, id, at, []byte(body), young, old)
	for name, keys := range map[string][]signature.Key{"old": {old}, "new": {young}, "both": {old, young}} {
		if err := signature.Verify(h, []byte(body), at, keys...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	k := key(t, secret)
	shown := fmt.Sprintf("%v %+v %#v %s %x %q %d", k, k, k, k, k, k, []signature.Key{k})
	if text, err := k.MarshalText(); err == nil {
		shown += string(text)
	}
	if strings.Contains(shown, secret[6:]) || strings.Contains(shown, "31f2") || strings.Contains(shown, "49 242") {
		t.Error(shown)
	}
	if k.Secret() != secret {
		t.Error("the secret is another one")
	}
	for _, bad := range []string{"", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_!!", "whsec_QUJD", "whsec_" + strings.Repeat("QUJD", 22)} {
		if _, err := signature.ParseKey(bad); err == nil || bad != "" && bad != "whsec_" && strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
