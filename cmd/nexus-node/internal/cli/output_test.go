package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexuspg/nexus/internal/readmodel"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 日本":     "plain äöü 日本",
		"\x1b[31mred":      `\x1b[31mred`,
		"two\nlines\ttab":  `two\nlines\ttab`,
		"\u202eright":      `\u202eright`,
		"bell\a\u0085\x7f": `bell\a\u0085\x7f`,
		`back\slash "q"`:   `back\slash "q"`,
	} {
		if got := printable(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// holds: terminal
func TestTable(t *testing.T) {
	long, id := strings.Repeat("x", 100), "01900000-0000-7000-8000-00000000beef"
	for _, c := range []struct {
		width int // 0: no terminal
		want  string
	}{
		{80, "a      bb" + strings.Repeat(" ", 33) + "  id\n-      " + strings.Repeat("x", 34) + "…  " + id + "\näöü日  y" + strings.Repeat(" ", 34) + "  7\n"},
		{20, "a      bb            id\n-      xxxxxxxxxxx…  " + id + "\näöü日  y             7\n"},
		{0, "a      bb" + strings.Repeat(" ", 98) + "  id\n-      " + long + "  " + id + "\näöü日  y" + strings.Repeat(" ", 99) + "  7\n"},
	} {
		var out bytes.Buffer
		s := &session{Env: Env{Stdout: &out}}
		if c.width > 0 {
			s.Width = func() int { return c.width }
		}
		if err := s.printTable([]string{"a", "bb", "id"}, [][]string{{"", long, id}, {"äöü日", "y", "7"}}); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("%d columns:\n%swant\n%s", c.width, out.String(), c.want)
		}
	}
}

func TestEmptyLists(t *testing.T) {
	var out bytes.Buffer
	s := &session{Env: Env{Stdout: &out}, format: asJSON}
	if err := s.printRecords([]string{"a"}, nil); err != nil || out.String() != "[]\n" {
		t.Errorf("JSON of no rows is %q, %v", out.String(), err)
	}
	out.Reset()
	s.format = asTable
	if err := s.printRecords([]string{"a", "b"}, nil); err != nil || out.String() != "a  b\n" {
		t.Errorf("the table of no rows is %q, %v", out.String(), err)
	}
}

// What somebody emitted does not reach the terminal as a command, and is the same value to a program.
// holds: json-terminal, others-text
func TestJSONControlsNoTerminal(t *testing.T) {
	hostile := "\x1b[2J\x07 \u007f \u009b31m \u202e\u2066 \u200b \ufeff \u2028 \U000e0041 é 漢"
	var out bytes.Buffer
	session := &session{Env: Env{Stdout: &out}}
	raw, err := json.Marshal(map[string]string{hostile: hostile})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.printJSON([]readmodel.Record{{Names: []string{"payload"}, Values: []json.RawMessage{raw}}}); err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r != '\n' && isControl(r) }); i >= 0 {
		t.Errorf("byte %d of %q controls a terminal", i, out.String())
	}
	var got []struct{ Payload map[string]string }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got) != 1 || got[0].Payload[hostile] != hostile {
		t.Errorf("it reads as %q, %v", got, err)
	}
	if !strings.Contains(out.String(), "é 漢") {
		t.Errorf("it escapes what is harmless: %s", out.String())
	}
}
