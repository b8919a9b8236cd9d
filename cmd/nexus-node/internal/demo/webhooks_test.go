package demo

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNamesEventAndAction(t *testing.T) {
	got, err := parse([]byte(`[
		{"name": "star", "examples": [{"action": "created"}, {"action": "deleted"}]},
		{"name": "push", "examples": [{"ref": "refs/heads/main"}]},
		{"name": "ping", "examples": [{"action": null}, {"action": 7}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, w := range got {
		types = append(types, w.Type)
	}
	want := []string{"github.ping", "github.ping", "github.push", "github.star.created", "github.star.deleted"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if got, want := string(got[2].Payload), `{"ref": "refs/heads/main"}`; got != want {
		t.Errorf("payload %s, want it as it came: %s", got, want)
	}
}

func TestParseRefusesWhatHoldsNoWebhooks(t *testing.T) {
	for _, raw := range []string{``, `{}`, `[]`, `[{"name": "star", "examples": []}]`} {
		if list, err := parse([]byte(raw)); err == nil {
			t.Errorf("%q gives %d webhooks", raw, len(list))
		}
	}
}

// The written set must show all that the demo shows.
func TestWrittenSet(t *testing.T) {
	list, err := parse(written)
	if err != nil {
		t.Fatal(err)
	}
	for _, eventType := range []string{flakyType, poisonType, forgottenType} {
		if ofType(list, eventType) == 0 {
			t.Errorf("there is no %s", eventType)
		}
	}
}

func TestScriptRepeatsAndAddsThePoison(t *testing.T) {
	list := []webhook{{"a", nil}, {"b", nil}, {"c", nil}}
	all := script(list, 10)
	if got, want := len(all), 12+len(poison); got != want {
		t.Errorf("%d events, want %d", got, want)
	}
	if got := ofType(all, "b"); got != 4 {
		t.Errorf("b comes %d times, want 4", got)
	}
	for _, p := range poison {
		n := 0
		for _, w := range all {
			if bytes.Equal(w.Payload, p.Payload) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s comes %d times", p.Payload, n)
		}
	}
}

func TestWithoutNpmTheWrittenSetStandsIn(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	list, source, err := webhooks(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := parse(written); len(list) != len(want) || !strings.Contains(source, "written set") {
		t.Errorf("%d webhooks from %s", len(list), source)
	}
}

func TestPackageIsReadFromTheCache(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	cache := t.TempDir()
	pack(t, cache, indexPath, `[{"name": "star", "examples": [{"action": "created"}]}]`)
	list, source, err := webhooks(t.Context(), cache)
	if err != nil {
		t.Fatal(err)
	}
	want := []webhook{{flakyType, json.RawMessage(`{"action": "created"}`)}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
	if want := packageName + " " + packageVersion; source != want {
		t.Errorf("source %q, want %q", source, want)
	}
}

func TestBrokenPackageIsFetchedAnewNextTime(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, spoil := range map[string]func(t *testing.T, cache string){
		"no archive": func(t *testing.T, cache string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(cache, packedName), []byte("half a fi"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"another package": func(t *testing.T, cache string) {
			t.Helper()
			pack(t, cache, "package/index.json", `[]`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			spoil(t, cache)
			if _, source, err := webhooks(t.Context(), cache); err != nil || !strings.Contains(source, "written set") {
				t.Errorf("from %s, error %v", source, err)
			}
			if _, err := os.Stat(filepath.Join(cache, packedName)); err == nil {
				t.Error("the broken file stands in the way of every later run")
			}
		})
	}
}

func pack(t *testing.T, cache, name, content string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	for _, step := range []func() error{
		func() error { return a.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}) },
		func() error { _, err := a.Write([]byte(content)); return err },
		a.Close,
		z.Close,
		func() error { return os.WriteFile(filepath.Join(cache, packedName), b.Bytes(), 0o600) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}
