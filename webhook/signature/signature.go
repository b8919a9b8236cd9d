package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a signed webhook.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Tolerance is how far the time of an attempt may be from the receiver's clock, either way: what is older may have been recorded and sent again.
const Tolerance = 5 * time.Minute

const (
	prefix  = "whsec_"
	version = "v1,"
)

// What [Verify] finds wrong. Answer all of them with 401 and nothing else: which one it is helps an attacker.
var (
	ErrHeaders   = errors.New("signature: headers are missing or malformed")
	ErrTimestamp = errors.New("signature: the timestamp is too old or too new")
	ErrMismatch  = errors.New("signature: none of the signatures fits")
)

// Key is a secret that signs. It prints as [secret], whatever the verb.
type Key struct{ bytes []byte }

// ParseKey reads a secret: whsec_ and 24 to 64 bytes in base64. The error does not show it.
func ParseKey(secret string) (Key, error) {
	text, ok := strings.CutPrefix(secret, prefix)
	if !ok {
		return Key{}, errors.New("signature: a secret begins with " + prefix)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return Key{}, errors.New("signature: what follows " + prefix + " is not base64")
	}
	if len(b) < 24 || len(b) > 64 {
		return Key{}, fmt.Errorf("signature: a secret has 24 to 64 bytes, this one has %d", len(b))
	}
	return Key{b}, nil
}

// Format implements [fmt.Formatter], so that no verb shows the secret.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[secret]")) }

// MarshalText keeps the secret out of logs and documents.
func (k Key) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// Secret is the secret itself, as ParseKey reads it.
func (k Key) Secret() string { return prefix + base64.StdEncoding.EncodeToString(k.bytes) }

// Sign returns the signature of a body, with its version in front.
func (k Key) Sign(id string, at time.Time, body []byte) string {
	return version + base64.StdEncoding.EncodeToString(k.sum(id, strconv.FormatInt(at.Unix(), 10), body))
}

func (k Key) sum(id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, k.bytes)
	for _, part := range []string{id, ".", timestamp, "."} {
		mac.Write([]byte(part))
	}
	mac.Write(body)
	return mac.Sum(nil)
}

// SetHeaders signs a body with every key. While a secret is rotated there are two, and receivers that know either accept it.
func SetHeaders(h http.Header, id string, at time.Time, body []byte, keys ...Key) {
	signatures := make([]string, len(keys))
	for i, k := range keys {
		signatures[i] = k.Sign(id, at, body)
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(HeaderSignature, strings.Join(signatures, " "))
}

// Verify checks that one of the keys signed the body, and that the attempt is no further than [Tolerance] from now. Within that time the same attempt can be sent
// again by whoever recorded it, so a receiver keeps the ids that it has seen, and does nothing twice.
func Verify(h http.Header, body []byte, now time.Time, keys ...Key) error {
	id, timestamp := h.Get(HeaderID), h.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil || h.Get(HeaderSignature) == "" {
		return ErrHeaders
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return ErrTimestamp
	}
	for given := range strings.FieldsSeq(h.Get(HeaderSignature)) {
		text, ok := strings.CutPrefix(given, version)
		if !ok {
			continue // of another version
		}
		sum, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		for _, k := range keys {
			if len(k.bytes) > 0 && hmac.Equal(sum, k.sum(id, timestamp, body)) {
				return nil
			}
		}
	}
	return ErrMismatch
}
