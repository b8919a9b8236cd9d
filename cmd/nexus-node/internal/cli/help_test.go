package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
)

// each visits every command that users see.
func each(t *testing.T, visit func(*cobra.Command)) {
	t.Helper()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			if child.Hidden || child.Name() == "help" || child.Name() == "completion" {
				continue
			}
			visit(child)
			walk(child)
		}
	}
	walk(newRoot(Env{}))
}

func TestEveryCommandIsExplained(t *testing.T) {
	each(t, func(cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the line in lists is %q", cmd.CommandPath(), cmd.Short)
		}
		if !strings.Contains(cmd.Example, "nexus-node "+strings.TrimPrefix(cmd.CommandPath(), "nexus-node ")) {
			t.Errorf("%s: the example does not show it:\n%s", cmd.CommandPath(), cmd.Example)
		}
	})
}

// An example that does not parse is worse than none.
func TestExamplesParse(t *testing.T) {
	each(t, func(cmd *cobra.Command) {
		for _, line := range strings.Split(cmd.Example, "\n") {
			_, line, found := strings.Cut(line, "nexus-node ")
			if !found {
				continue
			}
			line, _, _ = strings.Cut(line, " | ")
			line, _, _ = strings.Cut(line, " > ")
			root := newRoot(Env{})
			target, rest, err := root.Find(words(line))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if err := target.ParseFlags(rest); err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if err := target.ValidateArgs(target.Flags().Args()); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	})
}

// words splits a line as a shell would that knows quotes only.
func words(line string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	return out
}

func TestDestructiveVerbsHaveADryRun(t *testing.T) {
	destructive := []string{"drop", "discard", "replay", "resolve", "purge", "delete", "cancel"}
	seen := 0
	each(t, func(cmd *cobra.Command) {
		if !slices.Contains(destructive, cmd.Name()) {
			return
		}
		seen++
		if cmd.Flags().Lookup("dry-run") == nil {
			t.Errorf("%s has no --dry-run", cmd.CommandPath())
		}
	})
	if seen < 4 {
		t.Errorf("only %d destructive verbs were found", seen)
	}
}

func TestTheReferenceIsWhole(t *testing.T) {
	commands := reference(t, "cli.md")
	each(t, func(cmd *cobra.Command) {
		if cmd.HasSubCommands() {
			return
		}
		if !strings.Contains(commands, "`"+cmd.CommandPath()) {
			t.Errorf("docs/reference/cli.md does not name %s", cmd.CommandPath())
		}
		for _, name := range flagNames(cmd) {
			if !strings.Contains(commands, "--"+name) {
				t.Errorf("docs/reference/cli.md does not name --%s of %s", name, cmd.CommandPath())
			}
		}
	})
	settings := reference(t, "configuration.md")
	for _, f := range (&config.Config{}).Settings() {
		if !strings.Contains(settings, "| `"+f.Name+"` | "+defaultCell(f.Default)+" |") {
			t.Errorf("docs/reference/configuration.md lacks the row of %s with default %q", f.Name, f.Default)
		}
	}
}

func defaultCell(value string) string {
	if value == "" {
		return "none"
	}
	return "`" + value + "`"
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	for _, line := range strings.Split(cmd.LocalNonPersistentFlags().FlagUsages(), "\n") {
		if _, rest, found := strings.Cut(line, "--"); found {
			names = append(names, strings.Fields(rest)[0])
		}
	}
	return names
}

func reference(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "reference", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
