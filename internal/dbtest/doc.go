// Package dbtest gives a test a database of its own, with Nexus installed, on a real server.
//
// [New] clones a template in some 100 ms. Sessions have an empty search_path, so that a name without its schema fails, and
// connect as an ordinary login in nexus_consumer and nexus_producer, as nodes do; a second pool is a superuser's. The database's
// clock (core_private.now) is replaced by one that a test can move; only databases cloned here have that.
//
// pg_cron fires in one database of a server. [Cron] lends it to one test at a time, over all packages.
//
// The server is, in this order: the one that NEXUS_TEST_DATABASE_URL names (a superuser's URL; package pgdev's with-postgres
// starts one and sets it), a private cluster from local binaries, a container where package nexustest/container is imported.
package dbtest
