// Package queue emits events, acknowledges deliveries inside a caller's transaction and looks after namespaces.
//
// There is one Go function for each SQL function, with the same name; those of who runs a Nexus are in package operate. Where it runs is
// the caller's choice: on a pool it is atomic by itself, on a transaction the event and everything that follows from it commit together
// with the caller's writes. An [Emitter] is a plain value that needs no node, no connection and no closing, and emits any event type,
// whether this program handles it or not. [EmitT] and [EmissionOf] have the compiler check the payload.
//
// What a payload may be is checked here before it is sent, because a refusal by the server would end the caller's
// transaction. Everything else is left to SQL, so that Go and psql obey the same rules.
package queue
