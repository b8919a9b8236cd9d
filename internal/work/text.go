package work

import (
	"strings"
	"unicode/utf8"
)

// MaxText bounds what is stored of one failure, in bytes, as core.delivery_errors does.
const MaxText = 8 << 10

// Storable makes any text one that a text column takes: valid UTF-8 without NUL, of at most limit bytes. A failure must be
// recorded whatever its words are.
func Storable(s string, limit int) string {
	if len(s) > limit {
		const mark = " …"
		cut := limit - len(mark)
		// Step back from the middle of a rune; broken input has no rune start near, so give up after its longest length.
		for i := 0; i < utf8.UTFMax && cut > 0 && !utf8.RuneStart(s[cut]); i++ {
			cut--
		}
		s = s[:cut] + mark
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "?")
	}
	// One replacement character takes three bytes in place of one, so broken bytes become a question mark.
	return strings.ToValidUTF8(s, "?")
}
