// Package signature signs webhooks and checks their signatures, as Standard Webhooks 1.0 (https://www.standardwebhooks.com) says.
//
// The headers are webhook-id, the same on every attempt; webhook-timestamp, seconds since 1970 of this attempt; and webhook-signature, one or more of
// v1,BASE64 with spaces between: the HMAC-SHA256 of "id.timestamp.body", by each secret that is valid. A receiver needs the body as it came, byte by byte.
//
// It needs nothing but the standard library. Receivers in other languages take a library of Standard Webhooks.
package signature
