package db

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// The limits of what is kept exactly. The nesting is the module's, and so is refusing numbers that no float64 holds, the same
// as in core.emit, so that any JSON decoder can read what was stored; the decimals are numeric's own.
const (
	maxNesting  = 1000
	maxDecimals = 16383
)

// fault is the first thing in a JSON text that jsonb refuses or a consumer could not decode; no fault has an empty what.
type fault struct {
	what string
	at   int
}

// findFault goes over the text once. It expects JSON and finds something or nothing in other text; whether the text is JSON
// at all is not its question.
func findFault(b []byte) fault {
	depth := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			end, what := stringEnd(b, i)
			if what != "" {
				return fault{what, i}
			}
			i = end
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return fault{"is nested more than " + strconv.Itoa(maxNesting) + " levels deep", i}
			}
			i++
		case c == '}' || c == ']':
			depth--
			i++
		case c == '-' || c >= '0' && c <= '9':
			end := numberEnd(b, i)
			if what := numberFault(b[i:end]); what != "" {
				return fault{what, i}
			}
			i = end
		default:
			i++
		}
	}
	return fault{}
}

// stringEnd returns the position after the string that begins at i, or what is wrong inside it.
func stringEnd(b []byte, i int) (end int, what string) {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, ""
		case 0:
			return 0, "holds a NUL character"
		case '\\':
			if i++; i >= len(b) || b[i] != 'u' {
				continue
			}
			switch r := hex4(b, i+1); {
			case r == 0:
				return 0, "holds a NUL character"
			case r >= 0xDC00 && r <= 0xDFFF:
				return 0, "holds half a surrogate pair"
			case r >= 0xD800 && r <= 0xDBFF:
				low := rune(-1)
				if i+6 < len(b) && b[i+5] == '\\' && b[i+6] == 'u' {
					low = hex4(b, i+7)
				}
				if low < 0xDC00 || low > 0xDFFF {
					return 0, "holds half a surrogate pair"
				}
				i += 10
			default:
				i += 4
			}
		}
	}
	return len(b), ""
}

// hex4 reads the four hex digits of an escape; -1 if they are not there.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var n [2]byte
	if _, err := hex.Decode(n[:], b[i:i+4]); err != nil {
		return -1
	}
	return rune(n[0])<<8 | rune(n[1])
}

func numberEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9', c == '.', c == 'e', c == 'E', c == '+', c == '-':
		default:
			return i
		}
	}
	return i
}

func numberFault(b []byte) string {
	const plain = 300 // digits without an exponent that cannot break any limit
	if len(b) <= plain && !hasExponent(b) {
		return ""
	}
	s := string(b)
	if f, err := strconv.ParseFloat(s, 64); err != nil && !math.IsInf(f, 0) {
		return "" // no number: the syntax check will say so
	} else if math.IsInf(f, 0) || math.Abs(f) == math.MaxFloat64 && aboveMaxFloat(s) {
		return "holds a number beyond 1e308 (" + clip(s) + ")"
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	exp := 0
	if exponent != "" {
		var err error
		// Zero takes any exponent in Go, but only so many digits of one in Postgres.
		if exp, err = strconv.Atoi(exponent); err != nil || exp > 1e9 || exp < -1e9 {
			return "holds a number whose exponent is out of range (" + clip(s) + ")"
		}
	}
	if len(fraction)-exp > maxDecimals {
		return "holds a number with more than " + strconv.Itoa(maxDecimals) + " decimal places (" + clip(s) + ")"
	}
	return ""
}

// aboveMaxFloat tells the numbers that parsing rounds down to the largest float64 from that float as it is written. Postgres
// compares exactly.
func aboveMaxFloat(s string) bool {
	exact, ok := new(big.Rat).SetString(s)
	most, _ := new(big.Rat).SetString("1.7976931348623157e308")
	return ok && exact.Abs(exact).Cmp(most) > 0
}

func hasExponent(b []byte) bool {
	for _, c := range b {
		if c == 'e' || c == 'E' {
			return true
		}
	}
	return false
}
