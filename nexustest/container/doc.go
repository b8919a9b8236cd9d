// Package container gives the tests that use nexustest a container of Docker where NEXUS_TEST_DATABASE_URL names no server and
// no Postgres is installed. It is imported for its effect:
//
//	import _ "github.com/nexuspg/nexus/nexustest/container"
//
// The image is the one that NEXUS_TEST_IMAGE names, by default nexus-postgres:latest, which docker/postgres.Dockerfile of the
// repository builds. The container is removed by nexustest.Main, or else an hour after it was started.
//
// It is a module of its own, so that a program which only has tests against a server does not get Docker's client into its go.sum.
package container
