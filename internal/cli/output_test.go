package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
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

func TestTable(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{true, "a    bb\n-    " + strings.Repeat("x", 59) + "…\näöü  y\n"},
		{false, "a    bb\n-    " + long + "\näöü  y\n"},
	} {
		var out bytes.Buffer
		s := &session{Env: Env{Stdout: &out, Terminal: c.terminal}}
		if err := s.printTable([]string{"a", "bb"}, [][]string{{"", long}, {"äöü", "y"}}); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("terminal %t:\n%swant\n%s", c.terminal, out.String(), c.want)
		}
	}
}

func TestRecordsKeepOrderAndDigits(t *testing.T) {
	const row = `{"z":9007199254740993,"a":{"n": 12345678901234567890.10},"s":"x\"y","none":null}`
	r, err := parseRecord([]byte(row))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.names, ","); got != "z,a,s,none" {
		t.Errorf("columns are %s", got)
	}
	if got := strings.Join(r.texts(), ";"); got != `9007199254740993;{"n":12345678901234567890.10};x"y;` {
		t.Errorf("texts are %s", got)
	}
	back, err := json.Marshal(r)
	if err != nil || string(back) != strings.ReplaceAll(row, `"n": `, `"n":`) {
		t.Errorf("as JSON: %s, %v", back, err)
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
