// Package telemetry holds the names under which Nexus is seen from outside: of metrics here, of spans and their attributes too.
// What counts and measures under them is in internal/observe; docs/reference/metrics.md is generated from these lists.
package telemetry
