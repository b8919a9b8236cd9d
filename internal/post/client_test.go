package post_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/post"
)

var local = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func client(t *testing.T, cfg post.Config) *post.Client {
	t.Helper()
	if cfg.Agent == "" {
		cfg.Agent = "nexus-test"
	}
	c := post.New(cfg)
	t.Cleanup(c.Close)
	return c
}

// send posts to a handler on this machine.
func send(t *testing.T, h http.HandlerFunc, with func(*post.Request)) error {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	r := post.Request{URL: s.URL, ContentType: "text/plain", Body: []byte("hello"), Timeout: 10 * time.Second}
	if with != nil {
		with(&r)
	}
	return client(t, post.Config{Allow: local}).Send(t.Context(), r)
}

func answer(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	err := send(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
	}, func(r *post.Request) { r.Sign = func(h http.Header, _ time.Time) { h.Set("Signed", "yes") } })
	if err != nil {
		t.Fatal(err)
	}
	h := got.Header
	if got.Method != http.MethodPost || string(body) != "hello" || h.Get("Content-Type") != "text/plain" || h.Get("User-Agent") != "nexus-test" || h.Get("Signed") != "yes" || h.Get("Accept-Encoding") != "" {
		t.Errorf("%s %v %q", got.Method, got.Header, body)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const policy = nexus.Action("")
	for status, want := range map[int]nexus.Action{
		300: policy, 301: policy, 304: policy, 307: policy, 308: policy,
		400: nexus.ActionReject, 401: nexus.ActionReject, 403: nexus.ActionReject, 404: nexus.ActionReject, 408: policy, 410: nexus.ActionReject,
		422: nexus.ActionReject, 425: policy, 429: policy, 451: nexus.ActionReject, 500: policy, 501: policy, 502: policy, 503: policy, 504: policy, 599: policy,
	} {
		err := send(t, answer(status, "because"), nil)
		v, _ := errors.AsType[*nexus.Verdict](err)
		f, ok := errors.AsType[*post.Failure](err)
		switch {
		case !ok || f.Status != status || f.Gone() != (status == 410):
			t.Errorf("%d: %v", status, err)
		case v == nil && want != policy || v != nil && v.Action != want:
			t.Errorf("%d: %v", status, v)
		case !strings.HasPrefix(err.Error(), fmt.Sprintf("status %d", status)) || status != 304 && !strings.Contains(err.Error(), "because"):
			t.Errorf("%d: %s", status, err)
		}
	}
	for _, status := range []int{200, 201, 202, 204, 299} {
		if err := send(t, answer(status, ""), nil); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]nexus.Action{503: nexus.ActionRetry, 429: nexus.ActionRetry, 404: nexus.ActionReject} {
		v, ok := errors.AsType[*nexus.Verdict](send(t, answer(status, "", "Retry-After", "90"), nil))
		if !ok || v.Action != want || want == nexus.ActionRetry && v.After != 90*time.Second {
			t.Errorf("%d: %v", status, v)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(secret.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		if err := send(t, answer(status, "", "Location", secret.URL), nil); err == nil || !strings.Contains(err.Error(), "not followed") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if reached.Load() {
		t.Error("a redirect was followed")
	}
}

// Names are judged by what they resolve to, and not by how they look.
func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, post.Config{})
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "169.254.169.254", "0x7f.1", "2130706433"} {
		err := c.Send(t.Context(), post.Request{URL: "http://" + host + ":" + port + "/", Timeout: 5 * time.Second})
		f, ok := errors.AsType[*post.Failure](err)
		if !ok || f.Status != 0 {
			t.Errorf("%s: %v", host, err)
		}
		if numeric := strings.HasPrefix(host, "0x") || host == "2130706433"; !numeric && !strings.Contains(err.Error(), "private") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if reached.Load() {
		t.Error("a private address was reached")
	}
}

// A proxy of the environment would see what is sent, and reach what it likes. The environment is read once by net/http, so this says only that none is asked for.
func TestProxies(t *testing.T) {
	t.Parallel()
	var proxied atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied.Store(r.URL.Host == "example.test")
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(proxy.Close)
	through := func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	r := post.Request{URL: "http://example.test/", Timeout: 5 * time.Second}
	if err := client(t, post.Config{Allow: local, Proxy: through}).Send(t.Context(), r); err != nil || !proxied.Load() {
		t.Errorf("through a proxy: %v", err)
	}
	if err := client(t, post.Config{Proxy: through}).Send(t.Context(), r); err == nil || !strings.Contains(err.Error(), "private") {
		t.Errorf("through a proxy that is not allowed: %v", err)
	}
}

func TestHugeAnswers(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	endless := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			chunk := bytes.Repeat([]byte("x"), 64<<10)
			for range 16 << 10 { // 1 GB
				n, err := w.Write(chunk)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		}
	}
	if err := send(t, endless(500), nil); err == nil || len(err.Error()) > 600 {
		t.Errorf("%.700s", err)
	}
	if err := send(t, endless(200), nil); err != nil {
		t.Error(err)
	}
	if n := sent.Load(); n > 64<<20 {
		t.Errorf("%d MB were taken", n>>20)
	}
	huge := answer(200, "", "X", strings.Repeat("x", 1<<20))
	if err := send(t, huge, nil); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a header of 1 MB: %.200v", err)
	}
}

// A receiver that answers byte by byte holds a place no longer than the timeout, and its status counts.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	slow := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the caller has gone
			if status != 0 {
				w.WriteHeader(status)
			}
			for status != 0 {
				if _, err := io.WriteString(w, "x"); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				select {
				case <-over:
					return
				case <-r.Context().Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}
	}
	short := func(r *post.Request) { r.Timeout = 300 * time.Millisecond }
	if err := send(t, slow(0), short); err == nil || err.Error() != "no answer: not done after 300ms" {
		t.Errorf("no status: %v", err)
	}
	if f, ok := errors.AsType[*post.Failure](send(t, slow(503), short)); !ok || f.Status != 503 {
		t.Errorf("503 and a slow body: %v", f)
	}
	began := time.Now()
	if err := send(t, slow(200), func(r *post.Request) { r.Timeout = time.Minute }); err != nil || time.Since(began) > 30*time.Second {
		t.Errorf("200 and a slow body: %v after %s", err, time.Since(began))
	}
}

func TestErrorsShowNoSecretsAndNoControls(t *testing.T) {
	t.Parallel()
	const secret = "c2VjcmV0"
	err := send(t, answer(500, "you sent whsec_"+secret+"\r\n\x1b[31mred\x00 \u202eevil \xff"), func(r *post.Request) {
		r.URL += "/hook?token=abc"
		r.Secrets = []string{secret, ""}
	})
	if err == nil || err.Error() != "status 500: you sent whsec_[secret] [31mred evil ?" {
		t.Errorf("%q", err)
	}
	err = client(t, post.Config{}).Send(t.Context(), post.Request{URL: "http://127.0.0.1:1/hook?token=abc", Timeout: time.Second})
	if err == nil || strings.Contains(err.Error(), "abc") {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "://x", "ftp://example.test/", "file:///etc/passwd", "http://", "https://exa mple/token"} {
		err := client(t, post.Config{}).Send(t.Context(), post.Request{URL: bad, Timeout: time.Second})
		if v, ok := errors.AsType[*nexus.Verdict](err); !ok || v.Action != nexus.ActionReject || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// The end of the caller's context is not the receiver's failure.
func TestTheCallersEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	err := client(t, post.Config{Allow: local}).Send(ctx, post.Request{URL: s.URL, Timeout: time.Minute})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
