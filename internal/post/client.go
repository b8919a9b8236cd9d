package post

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/nexuspg/nexus"
)

const (
	maxHeaders = 64 << 10 // of an answer
	maxBody    = 64 << 10 // of an answer that is read
	maxShown   = 500      // characters of it in an error
	drain      = 2 * time.Second
)

// Config of a client. The zero value is what is safe.
type Config struct {
	Allow   []netip.Prefix // private networks that may be reached nevertheless
	Connect time.Duration  // for each connection with its TLS handshake; 0: 10 s

	// Proxy says through which proxy a request goes, as that of [http.Transport]; nil: none. The addresses behind a proxy are the proxy's to judge, and its own
	// has to be allowed.
	Proxy func(*http.Request) (*url.URL, error)

	Agent string // of the header User-Agent
}

// Client sends. It keeps connections until Close.
type Client struct {
	agent string
	http  *http.Client
	now   func() time.Time
}

// New makes a client.
func New(cfg Config) *Client {
	if cfg.Connect == 0 {
		cfg.Connect = 10 * time.Second
	}
	dialer := &net.Dialer{Timeout: cfg.Connect, Control: judge(cfg.Allow)}
	return &Client{
		agent: cfg.Agent, now: time.Now,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy: cfg.Proxy, DialContext: dialer.DialContext, TLSHandshakeTimeout: cfg.Connect, ForceAttemptHTTP2: true,
				MaxResponseHeaderBytes: maxHeaders, DisableCompression: true, MaxIdleConns: 100, MaxIdleConnsPerHost: 10, IdleConnTimeout: 30 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close closes the connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is one POST.
type Request struct {
	URL         string
	ContentType string
	Body        []byte
	Sign        func(h http.Header, at time.Time)
	Timeout     time.Duration // from the first connection to the end of the answer
	Secrets     []string      // what no error shows, though the receiver answers with it
}

// Failure is the error of a POST that was not accepted. It unwraps to a [nexus.Verdict] unless the policy decides.
type Failure struct {
	Status int // 0: there was no answer
	text   string
	err    error
}

func (f *Failure) Error() string { return f.text }

func (f *Failure) Unwrap() error { return f.err }

// Gone reports whether the receiver wants no more of them.
func (f *Failure) Gone() bool { return f.Status == http.StatusGone }

// Final reports whether there is to be no other attempt.
func (f *Failure) Final() bool {
	v, ok := errors.AsType[*nexus.Verdict](f.err)
	return ok && v.Action == nexus.ActionReject
}

// Send is nil if the receiver took the body: 2xx. Else it is a *[Failure], whose text has the status and the beginning of the answer, but no address with what
// may be secret in it, and no header. When ctx ends, it is ctx's error.
func (c *Client) Send(ctx context.Context, r Request) error {
	_, err := c.Try(ctx, r)
	return err
}

// Try is [Client.Send] that says the status too, 0 where there was no answer.
func (c *Client) Try(ctx context.Context, r Request) (status int, err error) {
	status, _, err = c.do(ctx, r, 0)
	return status, err
}

// Ask is [Client.Send] that returns the answer, as far as it has no more than limit bytes; else it is one byte longer than that.
func (c *Client) Ask(ctx context.Context, r Request, limit int64) (answer []byte, err error) {
	_, answer, err = c.do(ctx, r, limit+1)
	return answer, err
}

// do reads up to keep bytes of the answer to what was accepted.
func (c *Client) do(ctx context.Context, r Request, keep int64) (status int, answer []byte, err error) {
	target, err := url.Parse(r.URL)
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return 0, nil, &Failure{text: "the URL is not one of http or https", err: nexus.Reject("webhook: URL")}
	}
	limited, cancel := context.WithTimeoutCause(ctx, r.Timeout, errSlow)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return 0, nil, &Failure{text: "the URL is not one of http or https", err: nexus.Reject("webhook: URL")}
	}
	req.Header.Set("Content-Type", r.ContentType)
	req.Header.Set("User-Agent", c.agent)
	if r.Sign != nil {
		r.Sign(req.Header, c.now())
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, nil, ctx.Err()
		}
		return 0, nil, &Failure{text: r.conceal("no answer: " + reason(limited, err, r.Timeout))}
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode/100 == 2 && keep > 0 {
		if answer, err = io.ReadAll(io.LimitReader(res.Body, keep)); err != nil {
			if ctx.Err() != nil {
				return 0, nil, ctx.Err()
			}
			return 0, nil, &Failure{text: r.conceal("the answer does not end: " + reason(limited, err, r.Timeout))}
		}
		return res.StatusCode, answer, nil
	}
	if res.StatusCode/100 == 2 {
		// The verdict is there. What follows is read so that the connection can be used again, but not for long.
		defer time.AfterFunc(drain, cancel).Stop()
		_, _ = io.CopyN(io.Discard, res.Body, maxBody)
		return res.StatusCode, nil, nil
	}
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxBody))
	if ctx.Err() != nil {
		return 0, nil, ctx.Err()
	}
	f := &Failure{Status: res.StatusCode, text: fmt.Sprintf("status %d", res.StatusCode), err: c.verdict(res)}
	if res.StatusCode/100 == 3 {
		f.text += ", and redirects are not followed"
	}
	if shown := r.shown(answer); shown != "" {
		f.text += ": " + shown
	} else if err != nil {
		f.text += ", and an answer that does not end"
	}
	return f.Status, nil, f
}

var errSlow = errors.New("too slow")

// reason is why there is no answer, without the URL that the error of net/http quotes.
func reason(ctx context.Context, err error, timeout time.Duration) string {
	if errors.Is(context.Cause(ctx), errSlow) {
		return fmt.Sprintf("not done after %s", timeout)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return err.Error()
}

// verdict is what the status means; nil: another attempt, by policy.
func (c *Client) verdict(res *http.Response) error {
	switch s := res.StatusCode; {
	case s == http.StatusRequestTimeout, s == http.StatusTooEarly, s == http.StatusTooManyRequests, s/100 != 4:
		if after, ok := retryAfter(res.Header.Get("Retry-After"), c.now()); ok {
			return nexus.Retry(after)
		}
		return nil
	default:
		return nexus.Reject(fmt.Sprintf("webhook: status %d", s))
	}
}

// shown is the beginning of an answer as one line of text.
func (r Request) shown(answer []byte) string {
	text := strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, r.conceal(strings.ToValidUTF8(string(answer), "?")))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}

func (r Request) conceal(text string) string {
	for _, s := range r.Secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[secret]")
		}
	}
	return text
}
