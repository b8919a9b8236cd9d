package cli

import (
	"fmt"
	"strings"
)

// progress says on stderr how far a long verb is: at a terminal on one line that is written over, with the total where one is known; else
// a line for each batch, as the verb words it.
type progress struct {
	*session
	total int // 0: not known
	wrote int // how wide the line is
}

// at is called after each batch: so many of the total are behind, and text says more.
func (p *progress) at(done int, text string) {
	switch {
	case p.format == asJSON || !p.StderrTerminal:
		p.say(note{Text: text, Done: done})
		return
	case p.total > 0:
		text = fmt.Sprintf("%3d%% of %s: %s", min(100, done*100/p.total), atMost(p.total, mostLetters-1), text)
	}
	fmt.Fprint(p.Stderr, "\r"+text+strings.Repeat(" ", max(0, p.wrote-len(text))))
	p.wrote = len(text)
}

// end leaves the line.
func (p *progress) end() {
	if p.wrote > 0 {
		fmt.Fprintln(p.Stderr)
	}
}
