// Package observe watches a node's loops for those who run it: it counts and measures for Prometheus and opens spans for
// OpenTelemetry. The names are those of internal/telemetry. A node that was given neither has no observer, and pays nothing.
package observe
