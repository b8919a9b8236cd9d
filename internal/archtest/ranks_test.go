package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ranks lists the packages below the module's path from the lowest to the highest; "" is the root, package nexus.
var ranks = [][]string{
	{"", "sql", "sql/roles", "internal/seldom", "webhook/signature", "cmd/nexus-node/internal/config"},
	{"internal/db", "internal/work", "internal/pgdev", "internal/places", "internal/cloudevent", "internal/post", "internal/envelope"},
	{"internal/feed"},
	{"internal/lease", "internal/invoke"},
	{"internal/handlers", "internal/svc"},
	{"internal/engine", "internal/readmodel", "internal/telemetry", "internal/member", "internal/sqlwork", "internal/runstart"},
	{"internal/consume", "internal/batch", "internal/pgmqueue", "internal/broadcast", "internal/ordered"},
	{"internal/answer"},
	{"queue", "operate", "deadletter", "schedule", "kv", "trigger", "outbox", "migrate"},
	{"cronsync", "workflow", "webhook", "sqlhandler", "ingress", "internal/doctor", "internal/observe"},
	{"node", "dashboard"},
	{"cmd/nexus-node/internal/app", "cmd/nexus-node/internal/demo"},
	{"cmd/nexus-node/internal/cli"},
	{"cmd/nexus-node"},
}

// beside are packages outside the ranks, by who may import them from code that is no test.
var beside = map[string]struct {
	importers []string
	why       string
}{
	"nexustest":                        {nil, "it belongs to users' tests and brings package testing along"},
	"nexustest/container":              {nil, "it belongs to users' tests"},
	"internal/dbtest":                  {[]string{"nexustest", "nexustest/container", "internal/bigdb", "internal/everycall", "internal/pgdev/cmd/with-postgres"}, "it belongs to tests"},
	"internal/mainjob":                 {[]string{"chaos"}, "it belongs to tests"},
	"internal/sourcetest":              {nil, "it belongs to tests"},
	"internal/archtest":                {nil, "it only holds tests"},
	"internal/everycall":               {nil, "it belongs to tests"},
	"internal/bigdb":                   {nil, "it belongs to tests"},
	"cmd/nexus-node/internal/docgen":   {nil, "it writes the reference pages"},
	"internal/pgdev/cmd/with-postgres": {nil, "it is a program"},
	"bench":                            {nil, "it measures what users see, as a user"},
	"bench/internal/rig":               {[]string{"bench"}, "it belongs to the benches"},
	"chaos":                            {nil, "it attacks what users see, as a user"},
}

func rankOf(pkg string) int {
	return slices.IndexFunc(ranks, func(r []string) bool { return slices.Contains(r, pkg) })
}

func isBeside(pkg string) bool {
	_, listed := beside[pkg]
	return listed || strings.HasPrefix(pkg, "examples/") || pkg == "examples"
}

func TestEveryPackageIsListed(t *testing.T) {
	for _, p := range modulePackages(t) {
		if rankOf(p.name) < 0 && !isBeside(p.name) {
			t.Errorf("package %q has no rank: put it into the lists of this test, above all that it imports", p.name)
		}
	}
}

func TestDependenciesPointDown(t *testing.T) {
	for _, p := range modulePackages(t) {
		for _, imported := range p.own {
			if complaint := direction(p.name, imported); complaint != "" {
				t.Error(complaint)
			}
		}
	}
}

// direction says what is wrong with an import inside the module, or nothing.
func direction(from, to string) string {
	if rule, listed := beside[to]; listed {
		if slices.Contains(rule.importers, from) {
			return ""
		}
		return fmt.Sprintf("%q imports %q: %s", from, to, rule.why)
	}
	if isBeside(from) {
		return ""
	}
	high, low := rankOf(from), rankOf(to)
	switch {
	case high < 0 || low < 0 || high > low:
		return ""
	case high == low:
		return fmt.Sprintf("%q imports %q of its own rank: packages of one rank stay apart; move what they share below them", from, to)
	}
	return fmt.Sprintf("%q imports %q, which stands above it: dependencies point one way; turn this one round", from, to)
}

func TestDirectionJudges(t *testing.T) {
	for _, c := range []struct {
		from, to string
		wrong    bool
	}{
		{"queue", "", false},
		{"cmd/nexus-node", "cmd/nexus-node/internal/config", false},
		{"queue", "deadletter", true},
		{"queue", "node", true},
		{"", "queue", true},
		{"node", "internal/dbtest", true},
		{"nexustest", "internal/dbtest", false},
		{"examples/one", "queue", false},
	} {
		if got := direction(c.from, c.to); (got != "") != c.wrong {
			t.Errorf("%q importing %q: %q", c.from, c.to, got)
		}
	}
}
