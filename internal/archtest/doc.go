// Package archtest holds the shape of the module: its tests read every package's imports and source and fail, with the
// reason, where a dependency points the wrong way or a thing is done outside the one place it belongs to.
//
// Packages stand on ranks. A package imports only packages of lower ranks, so that packages of one rank stay apart and can
// be understood, tested and replaced alone. What does not exist yet may be listed already; what exists must be listed.
package archtest
