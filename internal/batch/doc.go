// Package batch holds the engine that runs handlers whose items share a transaction.
//
// # A batch
//
//	          ┌──────────── express ────────────┐         ┌────── under leases ──────┐
//	          │ lock ─▶ mark ─▶ run ─▶ commit   │         │ lease ─▶ run ─▶ commit   │
//	claim ───▶│   │       │      │      │       │         │           │      │       │
//	          └───┼───────┼──────┼──────┼───────┘         └───────────┼──────┼───────┘
//	              ▼       ▼      ▼      ▼                             ▼      ▼
//	              left: others find them at once          more than one: each alone
//	                   one failed as a whole: ──────────▶ one: settled as a failure
//
// What failed alone is undone by a savepoint and settled with the batch. What fails the batch as a whole is run again item by item, under
// leases, so that the attempts count.
//
// # A place
//
// A batch has one of the node's places from its claim to its end. Handlers that ignore the end of their context keep it until they are back.
// Then the batch waits for another place before any of its events runs again, and where there is none they are given back.
package batch
