package work

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestStorable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(16, 200).Draw(t, "limit")
		in := string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "text"))
		if rapid.Bool().Draw(t, "runes") {
			in = rapid.StringN(0, 200, 400).Draw(t, "runes")
		}
		out := Storable(in, limit)
		switch {
		case len(out) > limit:
			t.Fatalf("%d bytes, more than %d", len(out), limit)
		case !utf8.ValidString(out) || strings.Contains(out, "\x00"):
			t.Fatalf("no text column takes %q", out)
		case len(in) <= limit && utf8.ValidString(in) && !strings.Contains(in, "\x00") && out != in:
			t.Fatalf("good text was changed from %q to %q", in, out)
		}
	})
}
