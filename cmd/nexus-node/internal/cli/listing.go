package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/internal/readmodel"
)

// No list leaves rows out in silence: what there is more is said on stderr, with the flag that shows it.

// page says which rows are wanted.
type page struct {
	limit  int
	cursor string
}

// perPage is how many rows a list shows unless asked for more.
const perPage = 100

func (p *page) addLimit(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.limit, "limit", perPage, "how many at most; 0: all")
}

func (p *page) add(cmd *cobra.Command) {
	p.addLimit(cmd)
	cmd.Flags().StringVar(&p.cursor, "cursor", "", "go on where the list before ended, which said this")
}

// check refuses what could be no page of this list.
func (p *page) check(cmd *cobra.Command) error {
	if p.limit < 0 {
		return usage(cmd, "--limit cannot be negative; 0 means all")
	}
	if p.cursor == "" {
		return nil
	}
	cursor, err := readmodel.ParseCursor(p.cursor)
	switch {
	case err != nil:
		return usage(cmd, "--cursor "+quote(p.cursor)+" does not come from a list")
	case cursor.List != listOf(cmd):
		return usage(cmd, "--cursor is one of "+quote(cursor.List))
	}
	return nil
}

// after is the place that the cursor names in this list; nil: the beginning.
func (p *page) after(cmd *cobra.Command, l readmodel.List) ([]string, error) {
	if p.cursor == "" {
		return nil, nil
	}
	cursor, err := readmodel.ParseCursor(p.cursor)
	if err != nil || len(cursor.Place) != len(l.Keys) {
		return nil, usage(cmd, "--cursor "+quote(p.cursor)+" does not come from this list")
	}
	return cursor.Place, nil
}

// newList is the command list of what is in a namespace, or in all, where nothing else chooses.
func (s *session) newList(short, example string, of func(namespace string) readmodel.List) *cobra.Command {
	var p page
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   short,
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.list(cmd, p, of) },
	}
	p.add(cmd)
	return cmd
}

// list is a command that only shows a page of what is in a namespace, or in all.
func (s *session) list(cmd *cobra.Command, p page, of func(namespace string) readmodel.List) error {
	if err := p.check(cmd); err != nil {
		return err
	}
	return s.amongVisible(cmd, func(c *client) error { return c.printPage(of(c.cfg.Namespace), p) })
}

// printPage shows the rows of the list that the page wants.
func (c *client) printPage(l readmodel.List, p page) error {
	after, err := p.after(c.cmd, l)
	if err != nil {
		return err
	}
	rows, err := l.Read(c.ctx(), c.pool, readmodel.Page{Limit: p.limit, After: after})
	if err != nil {
		return err
	}
	if err := c.printRecords(l.Names, rows.Records); err != nil || !rows.More {
		return err
	}
	if rows.Next == nil {
		left := rows.All - p.limit
		c.say(note{Text: fmt.Sprintf("%d shown, %s left; --limit 0 shows all", p.limit, thousands(left)), Shown: p.limit, Left: left})
		return nil
	}
	return c.sayMore(l, p, rows.Next)
}

// sayMore tells how many rows there are beyond the page, up to a bound, and how to see them.
func (c *client) sayMore(l readmodel.List, p page, next []string) error {
	left, err := l.Left(c.ctx(), c.pool, next)
	if err != nil {
		return err
	}
	cursor := readmodel.Cursor{List: listOf(c.cmd), Place: next}.String()
	c.say(note{
		Text:     fmt.Sprintf("%d shown, %s left; --cursor %s shows the next, --limit 0 all", p.limit, atMost(left, readmodel.CountedRows), cursor),
		Shown:    p.limit,
		Left:     min(left, readmodel.CountedRows),
		LeftMore: left > readmodel.CountedRows,
		Cursor:   cursor,
	})
	return nil
}

// atMost is a number that was counted no further than a bound.
func atMost(n, bound int) string {
	if n > bound {
		return fmt.Sprintf("more than %s", thousands(bound))
	}
	return thousands(n)
}

// thousands groups the digits of a number for people.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// listOf names the list that a cursor is of.
func listOf(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "nexus-node ") }
