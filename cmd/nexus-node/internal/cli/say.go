package cli

import "fmt"

// note is what is said beside a result, on stderr: a line for people, an object on a line with -o json.
type note struct {
	Text     string `json:"note,omitempty"`
	Warning  string `json:"warning,omitempty"` // in place of Text
	Done     int    `json:"done,omitempty"`
	Shown    int    `json:"shown,omitempty"`
	Left     int    `json:"left,omitempty"`
	LeftMore bool   `json:"left_is_at_least,omitempty"` // it was counted no further
	Cursor   string `json:"cursor,omitempty"`
}

func (s *session) say(n note) {
	if s.format != asJSON {
		fmt.Fprintln(s.Stderr, either(n.Warning != "", "warning:", "note:"), printable(n.Text+n.Warning))
		return
	}
	if encoded, err := encodeLine(n); err == nil {
		fmt.Fprintf(s.Stderr, "%s\n", encoded)
	}
}
