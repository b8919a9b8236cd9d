package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
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

// printJSON prints v indented; a null list is [].
func (s *session) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := s.Stdout.Write(harmless(b.Bytes()))
	return err
}

// encodeLine is v as JSON on one line, for what is said on stderr.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return harmless(bytes.TrimSpace(b.Bytes())), err
}

// harmless escapes in JSON what would control a terminal: the same value for who reads it as JSON. Outside of strings there is only
// ASCII, of which it leaves the line ends.
func harmless(encoded []byte) []byte {
	controls := func(r rune) bool { return r != '\n' && isControl(r) }
	if !bytes.ContainsFunc(encoded, controls) {
		return encoded
	}
	var b bytes.Buffer
	for _, r := range string(encoded) {
		switch {
		case !controls(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
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
