package ingress

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"github.com/google/uuid"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Kept is an Authorize for the tokens of the database that q points to, which [CreateToken] makes. The login of q needs the duty to produce.
func Kept(q nexus.DBTX) func(context.Context, string) (nexus.Namespace, error) {
	return func(ctx context.Context, token string) (nexus.Namespace, error) {
		rest, ok := strings.CutPrefix(token, "nxi_")
		id, _, cut := strings.Cut(rest, "_")
		valid := uuid.Validate(id) == nil
		if !ok || !cut || !valid {
			return "", nil
		}
		var ns, kept *string
		if err := db.Call(ctx, q, "ingress_token", "select namespace, sum from core_node.ingress_token($1::text::uuid)", []any{id}, &ns, &kept); err != nil {
			return "", err
		}
		sum := sha256.Sum256([]byte(token))
		if ns == nil || kept == nil || subtle.ConstantTimeCompare([]byte(*kept), []byte(hex.EncodeToString(sum[:]))) != 1 {
			return "", nil
		}
		return nexus.Namespace(*ns), nil
	}
}

// CreateToken makes a token for a namespace and returns it, this once. name says what it is for.
func CreateToken(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) (token string, err error) {
	err = db.Call(ctx, q, "create_ingress_token", "select core.create_ingress_token($1::text, $2::text)", []any{string(ns), name}, &token)
	return token, err
}

// RevokeToken takes a token back, and reports whether there was one of that name.
func RevokeToken(ctx context.Context, q nexus.DBTX, ns nexus.Namespace, name string) (revoked bool, err error) {
	err = db.Call(ctx, q, "revoke_ingress_token", "select core.revoke_ingress_token($1::text, $2::text)", []any{string(ns), name}, &revoked)
	return revoked, err
}
