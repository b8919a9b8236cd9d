package docgen_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nexuspg/nexus/internal/telemetry"
)

var metricName = regexp.MustCompile(`\bnexus_[a-z_]+\b`)

// Rules, dashboard and guide name metrics that exist; the dashboard leaves none out.
// holds: metrics
func TestDeployedFilesNameRealMetrics(t *testing.T) {
	known := map[string]bool{}
	for _, m := range telemetry.Metrics() {
		known[m.Name] = false
		if m.Kind == telemetry.Histogram {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				known[m.Name+suffix] = false
			}
		}
	}
	read := func(path ...string) []byte {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	dashboard, rules := read("deploy", "grafana", "nexus.json"), read("deploy", "prometheus", "alerts.yaml")
	for name, text := range map[string][]byte{
		"the dashboard": dashboard, "the rules": rules, "the guide": read("docs", "guides", "observing.md"),
	} {
		for _, metric := range metricName.FindAllString(string(text), -1) {
			if _, there := known[metric]; !there {
				t.Errorf("%s names %s, which is not exported", name, metric)
			}
		}
	}
	for _, m := range telemetry.Metrics() {
		if !slices.ContainsFunc(metricName.FindAllString(string(dashboard), -1), func(s string) bool { return strings.HasPrefix(s, m.Name) }) {
			t.Errorf("the dashboard does not show %s", m.Name)
		}
	}
	var parsed struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(dashboard, &parsed); err != nil || len(parsed.Panels) == 0 {
		t.Errorf("the dashboard: %d panels, %v", len(parsed.Panels), err)
	}
	var groups struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
			}
		}
	}
	if err := yaml.Unmarshal(rules, &groups); err != nil || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) < 5 {
		t.Fatalf("the rules: %+v, %v", groups, err)
	}
	for _, r := range groups.Groups[0].Rules {
		if r.Alert == "" || !metricName.MatchString(r.Expr) {
			t.Errorf("rule %+v", r)
		}
	}
}
