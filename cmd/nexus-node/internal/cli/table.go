package cli

import (
	"io"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// printTable prints rows under their header, in columns, fitted to the terminal if there is one. Without rows it prints the header alone,
// so that a pipe always gets the same first line.
func (s *session) printTable(header []string, rows [][]string) error {
	cells := append([][]string{header}, rows...)
	for _, row := range cells {
		for i := range row {
			if row[i] = printable(row[i]); row[i] == "" {
				row[i] = "-"
			}
		}
	}
	widths := s.fitted(cells)
	var b strings.Builder
	for _, row := range cells {
		var line strings.Builder
		for i, c := range row {
			c = cut(c, widths[i])
			line.WriteString(c)
			line.WriteString(strings.Repeat(" ", widths[i]-columns(c)+gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(s.Stdout, b.String())
	return err
}

const (
	gap       = 2  // between columns
	narrowest = 12 // what text is cut to at most
)

// whole is what loses its meaning when it is cut: numbers, ids, times, names of a word.
var whole = regexp.MustCompile(`^(-|[-+]?[0-9][0-9:.,TZ+-]*|[0-9a-f-]{36}|true|false)$`)

// fitted are the widths of the columns. At a terminal the widest text gives way, down to narrowest, until rows are on a line.
func (s *session) fitted(cells [][]string) []int {
	widths := make([]int, len(cells[0]))
	text := make([]bool, len(widths))
	total := -gap
	for i := range widths {
		for j, row := range cells {
			widths[i] = max(widths[i], columns(row[i]))
			text[i] = text[i] || i > 0 && j > 0 && !whole.MatchString(row[i]) // the first says what the row is of
		}
		total += widths[i] + gap
	}
	if s.Width == nil {
		return widths
	}
	for have := s.Width(); total > have; total-- {
		widest := -1
		for i, w := range widths {
			if text[i] && w > max(narrowest, columns(cells[0][i])) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break // no text is left to cut: the terminal wraps
		}
		widths[widest]--
	}
	return widths
}

// columns is how wide a terminal shows text that is printable.
func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// cut is text in so many columns at most, with an ellipsis if some of it is left out.
func cut(text string, most int) string {
	if columns(text) <= most {
		return text
	}
	n := 1 // of the ellipsis
	for i, r := range text {
		if n += columnsOf(r); n > most {
			return text[:i] + "…"
		}
	}
	return text
}
