package docgen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const nightPage = "docs/guides/woken-at-night.md"

var probeName = regexp.MustCompile(`\{name: "([^"]+)"`)

// Who is woken finds each check of the doctor on the page that it sends them to.
func TestTheNightPageHasEachCheck(t *testing.T) {
	t.Parallel()
	page, names := read(t, nightPage), 0
	for _, file := range []string{"server", "schema", "upkeep", "sessions"} {
		for _, m := range probeName.FindAllStringSubmatch(read(t, "internal/doctor/"+file+".go"), -1) {
			if names++; !strings.Contains(page, "\n| "+m[1]+" | ") {
				t.Errorf("%s has no line for %s", nightPage, m[1])
			}
		}
	}
	if names < 25 {
		t.Errorf("only %d checks were found", names)
	}
}

// The rules fire when they are to and are silent else, as promtool sees it; each has a case of both.
// holds: alerts (promtool)
func TestAlertsFire(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "deploy", "prometheus")
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string
				Annotations map[string]string
			}
		}
	}
	var cases struct {
		Tests []struct {
			Rules []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	for name, into := range map[string]any{"alerts.yaml": &rules, "alerts.test.yaml": &cases} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, c := range cases.Tests {
		for _, r := range c.Rules {
			if len(r.Fires) > 0 {
				fires[r.Alert] = true
			} else {
				silent[r.Alert] = true
			}
		}
	}
	page := read(t, nightPage)
	for _, r := range rules.Groups[0].Rules {
		if !strings.Contains(page, "| "+r.Alert+" | ") || !strings.HasSuffix(r.Annotations["runbook_url"], "/"+nightPage+"#alerts") {
			t.Errorf("%s: it has no line in %s, or does not name it", r.Alert, nightPage)
		}
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: a case in which it fires: %v, one in which it is silent: %v", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}

	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool here to run the cases of the alert rules with; scripts/install-deps installs it on Debian 12")
	}
	if out, err := exec.Command(promtool, "test", "rules", filepath.Join(dir, "alerts.test.yaml")).CombinedOutput(); err != nil {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}
