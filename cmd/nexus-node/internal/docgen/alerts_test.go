package docgen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The rules fire when they are to and are silent else, as promtool sees it; each has a case of both.
func TestAlertsFire(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "deploy", "prometheus")
	var rules struct {
		Groups []struct{ Rules []struct{ Alert string } }
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
	for _, r := range rules.Groups[0].Rules {
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
