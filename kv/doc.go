// Package kv keeps values by key: settings, cursors, locks that expire, whatever handlers and programs agree on.
//
// A [Collection] is a plain value that needs no node, no connection and no closing; its type parameter says what its values are, and the
// compiler checks it. Where a call runs is the caller's choice: on a pool it is atomic by itself, on a transaction it commits with the
// caller's other work, and other sessions see it then. Its methods are the functions core.kv_get, kv_set, kv_cas, kv_delete and kv_list.
//
// Each change gives a key another version, and [Collection.CAS] sets it only if it still has the one that was read. A version never comes
// back, also not when a key is deleted and made anew. Keys with a TTL end by the database's clock. Writing takes the duty to produce,
// reading that to consume or to read.
package kv
