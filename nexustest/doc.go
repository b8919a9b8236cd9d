// Package nexustest gives a test a database of its own, with Nexus in it and a clock that stands still.
//
//	env := nexustest.New(t, "shop")
//	n := newNode(env.Pool) // the program's own node; Run is never called
//	queue.EmitT(ctx, env.Pool, env.Emitter, OrderPlaced, order, nil)
//	env.Work(n)            // runs its handlers here, until nothing is due
//	env.Advance(time.Hour) // and what is due in an hour
//	env.Work(n)
//
// Nothing happens that the test did not ask for: no goroutines, no polling, no waiting. The database is a real one, so what the
// handlers write, and what their constraints say about it, is real too.
//
// # The server
//
// It is, in this order: the one that NEXUS_TEST_DATABASE_URL names, by a superuser's URL; a private one, started from the Postgres
// programs of this machine for the test process and ended with it; a container of Docker, where the tests import package
// nexustest/container. Nexus is installed once a server, into a
// template, and each test gets a copy, in some 100 ms. Tests may run in parallel.
//
// A process that ends takes its private server along. A container is removed by [Main], or else an hour after it was started.
package nexustest
