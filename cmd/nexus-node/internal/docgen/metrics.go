package docgen

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexuspg/nexus/internal/telemetry"
)

// Metrics lists what nodes export. It asks no database: the names are in internal/telemetry, and its test compares them with what
// a node really exports.
func Metrics(context.Context, Querier) (string, error) {
	var b strings.Builder
	b.WriteString("# Metrics\n\n" + strings.Replace(generated, "from the database", "from internal/telemetry", 1))
	b.WriteString(`Nodes export these for Prometheus: ` + "`nexus-node run`" + ` at /metrics of NEXUS_HTTP_ADDRESS, a program that embeds a node in the registry
that it gives as node.Config.Registerer. [The guide](../guides/observing.md) says what to watch and alert on.

Labels have few values. event_type is the first pattern of the program's handlers that matches an event, not its type. There is
no label for nodes: the scraper knows which process it asked. If several nodes of a namespace share a registry, their counts add up,
and of ages the oldest is shown.

| metric | kind | labels | meaning |
|---|---|---|---|
`)
	for _, m := range telemetry.Metrics() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, strings.Join(m.Labels, ", "), cell(m.Help))
	}
	return b.String(), nil
}
