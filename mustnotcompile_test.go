package nexus_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMustNotCompile holds the promise of the types: what they are there to catch does not build, and next to it the right
// spelling does. The corpus says at each line what the compiler answers.
func TestMustNotCompile(t *testing.T) {
	const dir = "testdata/mustnotcompile"
	out, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-o", os.DevNull, "./"+dir).CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); !failed {
		t.Fatalf("the corpus should not build: %v\n%s", err, out)
	}
	got := map[string][]string{} // "file:line" to the compiler's answers
	for _, m := range regexp.MustCompile(`(?m)^\S*?([^/\s]+\.go:\d+):\d+: (.*)$`).FindAllStringSubmatch(string(out), -1) {
		got[m[1]] = append(got[m[1]], m[2])
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range files {
		for at, want := range wants(t, file) {
			answers := got[at]
			delete(got, at)
			if len(answers) != len(want) {
				t.Errorf("%s: %d errors, want %d: %q", at, len(answers), len(want), answers)
				continue
			}
			for i, re := range want {
				if !re.MatchString(answers[i]) {
					t.Errorf("%s: %q does not match %q", at, answers[i], re)
				}
			}
		}
	}
	for at, answers := range got {
		t.Errorf("%s: unexpected: %q", at, answers)
	}
}

// wants reads the expectations of a file, by "file:line".
func wants(t *testing.T, file string) map[string][]*regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`"([^"]*)"`)
	all := map[string][]*regexp.Regexp{}
	for i, line := range strings.Split(string(text), "\n") {
		_, comment, ok := strings.Cut(line, "// want ")
		if !ok {
			continue
		}
		at := fmt.Sprintf("%s:%d", filepath.Base(file), i+1)
		for _, m := range quoted.FindAllStringSubmatch(comment, -1) {
			all[at] = append(all[at], regexp.MustCompile(m[1]))
		}
	}
	return all
}
