package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	asTable = "table"
	asJSON  = "json"
)

// formatFlag is -o; it refuses anything else when flags are parsed, before the command has done its work.
type formatFlag struct{ value *string }

func (f *formatFlag) Type() string { return "format" }

func (f *formatFlag) String() string {
	if f.value == nil || *f.value == "" {
		return asTable
	}
	return *f.value
}

func (f *formatFlag) Set(s string) error {
	if s != asTable && s != asJSON {
		return fmt.Errorf("it takes %s or %s", asTable, asJSON)
	}
	*f.value = s
	return nil
}

// cellOnTerminal is how many characters of a cell a terminal gets; a pipe gets all of them.
const cellOnTerminal = 60

// printJSON prints v indented; a null list is [].
func (s *session) printJSON(v any) error {
	enc := json.NewEncoder(s.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printTable prints rows under their header, in columns. Without rows it prints the header alone, so that a pipe always
// gets the same first line.
func (s *session) printTable(header []string, rows [][]string) error {
	width := make([]int, len(header))
	cells := append([][]string{header}, rows...)
	for _, row := range cells {
		for i := range row {
			row[i] = s.cell(row[i])
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range cells {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(c)
			line.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(s.Stdout, b.String())
	return err
}

// printFields prints one thing, a line a field.
func (s *session) printFields(names, values []string) error {
	width := 0
	for _, n := range names {
		width = max(width, utf8.RuneCountInString(n))
	}
	var b strings.Builder
	for i, n := range names {
		fmt.Fprintf(&b, "%-*s  %s\n", width, n, printable(values[i]))
	}
	_, err := io.WriteString(s.Stdout, b.String())
	return err
}

func (s *session) cell(text string) string {
	text = printable(text)
	if text == "" {
		return "-"
	}
	if r := []rune(text); s.Terminal && len(r) > cellOnTerminal {
		return string(r[:cellOnTerminal-1]) + "…"
	}
	return text
}

// printable keeps text on its line and out of the terminal's control: event types, payloads and error texts come from
// anybody, and an escape sequence in one could rewrite the screen.
func printable(text string) string {
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isControl also counts marks that change the direction of what follows, and bytes that are no text.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029'
}

func quote(s string) string { return strconv.Quote(s) }
