package config

import (
	"os"
	"strings"
)

// Traces reports whether OpenTelemetry's own variables ask for spans: an endpoint, or otlp by name, and nothing that says no.
// Where they are sent and how is read by its library.
func Traces() bool {
	on := func(name string) bool { return os.Getenv(name) != "" }
	switch {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"), strings.EqualFold(os.Getenv("OTEL_TRACES_EXPORTER"), "none"):
		return false
	case strings.EqualFold(os.Getenv("OTEL_TRACES_EXPORTER"), "otlp"):
		return true
	}
	return on("OTEL_EXPORTER_OTLP_ENDPOINT") || on("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
}
