// Package nexus holds the words that every other package of the module uses: events and deliveries, verdicts, errors with
// their codes, retry policy, and the one-method database handle.
//
// The database decides; Go carries. Names, limits, due times and retry delays are judged by SQL functions, so a program
// written in Go and a psql session get the same answers and the same error codes. That is why nothing here validates a
// namespace or computes a delay.
//
// Each call of the module is one SQL statement that returns one row. [DBTX] can therefore be a single method: on a pool the
// call is atomic by itself, on a transaction it commits with the caller's own writes.
//
// The package imports pgx and uuid and no other package of the module.
package nexus
