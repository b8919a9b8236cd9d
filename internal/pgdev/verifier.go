package pgdev

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Verifier is what Postgres keeps of a password for SCRAM-SHA-256, where a statement gives a password. It asks clients for one round
// of hashing in place of 4096, which is all that a random password needs, and one that guards nothing: with the race detector the rounds
// take a client longer than all else of a connection, and tests make thousands.
func Verifier(password string) string {
	var salt [16]byte
	_, _ = rand.Read(salt[:]) // it never fails
	const rounds = 1
	salted, err := pbkdf2.Key(sha256.New, password, salt[:], rounds, sha256.Size)
	if err != nil {
		panic(err) // only for a length that no hash has
	}
	stored := sha256.Sum256(sign(salted, "Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, b64(salt[:]), b64(stored[:]), b64(sign(salted, "Server Key")))
}

func sign(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
