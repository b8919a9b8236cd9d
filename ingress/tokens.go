package ingress

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/nexuspg/nexus"
)

// Tokens is an Authorize for the SHA-256 sums of tokens, each with its namespace: what is kept is not what is sent. All are compared, in a time that tells nothing.
func Tokens(known map[[sha256.Size]byte]nexus.Namespace) func(context.Context, string) (nexus.Namespace, error) {
	return func(_ context.Context, token string) (found nexus.Namespace, _ error) {
		sum := sha256.Sum256([]byte(token))
		for one, ns := range known {
			if subtle.ConstantTimeCompare(one[:], sum[:]) == 1 {
				found = ns
			}
		}
		return found, nil
	}
}
