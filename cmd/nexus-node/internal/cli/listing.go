package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"
)

// listing is what a command lists: rows in an order of which no two are equal, a page at a time. No list leaves rows out in silence:
// what there is more is said on stderr, with the flag that shows it.
type listing struct {
	what  string // for errors
	sql   string // a select without order and limit, with the columns names and keys
	args  []any
	names []string // the columns, for a list of nothing
	keys  []key    // in the order of the list
	desc  bool     // the last first
	order string   // in place of keys, where the next page begins nowhere: its place moves, and all rows are made for the first

	// Where an index has the first key alone, and that in order only within one type, or the like: a select of those, to which sql refers as e.
	// Left to itself the planner would sort all there is.
	each string
	// What takes long is looked up for the rows that are shown alone: a select from them, as p.
	shown string
}

// where narrows the list down; %d stands for the number of the argument.
func (l *listing) where(condition string, arg any) {
	l.args = append(l.args, arg)
	l.sql += fmt.Sprintf(" and "+condition, len(l.args))
}

// ofType narrows it down to the event type or pattern, if there is any, by the column that has the type.
func (l *listing) ofType(column, pattern string) {
	prefix, isPattern := strings.CutSuffix(pattern, "*")
	switch {
	case pattern != "" && !isPattern:
		l.where(column+" = $%d::text", pattern)
	case prefix != "":
		l.where("pg_catalog.starts_with("+column+", $%d::text)", prefix)
	}
}

// key is a column that the list is ordered by, with its type.
type key struct{ column, kind string }

// page says which rows are wanted.
type page struct {
	limit  int
	cursor string
}

// perPage is how many rows a list shows unless asked for more.
const perPage = 100

// countedRows bounds what is counted to say how many there are.
const countedRows = 10_000

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
	_, err := decodeCursor(cmd, p.cursor)
	return err
}

// printPage shows the rows of the list that the page wants.
func (s *session) printPage(cmd *cobra.Command, pool *pgxpool.Pool, l listing, p page) error {
	records, err := l.rows(cmd, pool, p)
	if err != nil {
		return err
	}
	more := p.limit > 0 && len(records) > p.limit
	if more {
		records = records[:p.limit]
	}
	all := 0
	if l.order != "" && p.limit > 0 {
		for i, r := range records { // the last column says how many there are
			last := len(r.names) - 1
			if _, err := fmt.Sscan(plain(r.values[last]), &all); err != nil {
				return err
			}
			records[i].names, records[i].values = r.names[:last], r.values[:last]
		}
	}
	if err := s.printRecords(l.names, records); err != nil || !more {
		return err
	}
	if l.order != "" {
		s.say(note{Text: fmt.Sprintf("%d shown, %s left; --limit 0 shows all", p.limit, thousands(all-p.limit)), Shown: p.limit, Left: all - p.limit})
		return nil
	}
	return s.sayMore(cmd, pool, l, p, records[len(records)-1])
}

// rows are those of the page, and one more if there is one.
func (l listing) rows(cmd *cobra.Command, pool *pgxpool.Pool, p page) ([]record, error) {
	columns, places, args, err := l.place(cmd, p.cursor)
	if err != nil {
		return nil, err
	}
	sql := "select l.*" + either(l.order != "" && p.limit > 0, ", pg_catalog.count(*) over () as all_rows", "") + " from (" + l.sql + ") l"
	if columns != nil {
		sql += " where (" + strings.Join(columns, ", ") + ")" + l.beyond() + "(" + strings.Join(places, ", ") + ")"
	}
	limit := ""
	if p.limit > 0 {
		args = append(args, p.limit+1)
		limit = fmt.Sprintf(" limit $%d::bigint", len(args))
	}
	if l.each != "" {
		sql = l.ofEach(sql, places, limit)
	}
	sql += l.ordered("l") + limit
	if l.shown != "" {
		sql = "select s.* from (with p as (" + sql + ") " + l.shown + ") s" + l.ordered("s")
	}
	return selectRecords(cmd.Context(), pool, l.what, sql, args...)
}

// ordered is the order of the list, of rows that are called so.
func (l listing) ordered(row string) string {
	if l.order != "" {
		return " order by " + l.order
	}
	var order []string
	for _, k := range l.keys {
		order = append(order, row+"."+k.column+either(l.desc, " desc", ""))
	}
	return " order by " + strings.Join(order, ", ")
}

// ofEach is the select from each of the types, or whatever they are, as far as the page goes: the index alone says which value of the first key
// is the last on it, and only rows before that are read. Those that are equal in the first key come from there on, too.
func (l listing) ofEach(sql string, places []string, limit string) string {
	sql += either(len(places) > 0, " and ", " where ")
	from := "with e as materialized (" + l.each + ") select l.* from e"
	if limit == "" {
		return from + " cross join lateral (" + sql + "true) l"
	}
	first := "l." + l.keys[0].column
	by := " order by " + first + either(l.desc, " desc", "")
	past, key := "true", either(l.desc, "min", "max")+"("+first+")"
	if len(places) > 0 {
		past, key = first+l.beyond()+places[0], "coalesce("+key+", "+places[0]+")"
	}
	last := "select " + first + " from e cross join lateral (select " + first + " from (" + l.sql + ") l where " + past + by + limit + ") l" + by + limit
	// A row of its own: policies ask before conditions with a sub-select, which no index would serve then.
	last = "(select " + key + " as key from (" + last + ") l)"
	return from + " cross join " + last + " last cross join lateral (" + sql + first + either(l.desc, " >= ", " <= ") + "last.key" +
		by + " fetch first (" + strings.TrimPrefix(limit, " limit ") + ") rows with ties) l"
}

// place are the columns of the keys and what the cursor has of them.
func (l listing) place(cmd *cobra.Command, cursor string) (columns, places []string, args []any, err error) {
	args = slices.Clone(l.args)
	if cursor == "" {
		return nil, nil, args, nil
	}
	values, err := decodeCursor(cmd, cursor)
	if err != nil || len(values) != len(l.keys) {
		return nil, nil, nil, cmp.Or(err, usage(cmd, "--cursor "+quote(cursor)+" is none that this list has said"))
	}
	for i, k := range l.keys {
		args = append(args, values[i])
		columns = append(columns, "l."+k.column)
		places = append(places, fmt.Sprintf("$%d::text::%s", len(args), k.kind))
	}
	return columns, places, args, nil
}

func (l listing) beyond() string { return either(l.desc, " < ", " > ") }

// rest is a select of what comes after the cursor, in no order, to be counted. A part has the rows that differ in the first key, and one
// those that differ in the second, and so on: the first is in an index that need not have the second.
func (l listing) rest(cmd *cobra.Command, cursor string) (string, []any, error) {
	columns, places, args, err := l.place(cmd, cursor)
	if err != nil {
		return "", nil, err
	}
	var parts []string
	for i := range columns {
		var same []string
		for j := range i {
			same = append(same, columns[j]+" = "+places[j]+" and ")
		}
		part := "select from (" + l.sql + ") l where " + strings.Join(same, "") + columns[i] + l.beyond() + places[i]
		if l.each != "" {
			part = "select from (" + l.each + ") e cross join lateral (" + part + ") l"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " union all "), args, nil
}

// sayMore tells how many rows there are beyond the page, up to a bound, and how to see them.
func (s *session) sayMore(cmd *cobra.Command, pool *pgxpool.Pool, l listing, p page, last record) error {
	next, err := encodeCursor(cmd, l.keys, last)
	if err != nil {
		return err
	}
	sql, args, err := l.rest(cmd, next)
	if err != nil {
		return err
	}
	left, err := countRows(cmd.Context(), pool, l.what, sql, args...)
	if err != nil {
		return err
	}
	s.say(note{
		Text:     fmt.Sprintf("%d shown, %s left; --cursor %s shows the next, --limit 0 all", p.limit, atMost(left, countedRows), next),
		Shown:    p.limit,
		Left:     min(left, countedRows),
		LeftMore: left > countedRows,
		Cursor:   next,
	})
	return nil
}

// countRows counts the rows of a select, up to one more than countedRows.
func countRows(ctx context.Context, pool *pgxpool.Pool, what, sql string, args ...any) (int, error) {
	records, err := selectRecords(ctx, pool, what, fmt.Sprintf("select pg_catalog.count(*) as n from (select from (%s) r limit %d) c", sql, countedRows+1), args...)
	if err != nil {
		return 0, err
	}
	var n int
	_, err = fmt.Sscan(records[0].texts()[0], &n)
	return n, err
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

// A cursor is the place of a row in the order of one command's list. It is no secret: whoever has it sees what he may see anyhow.
func encodeCursor(cmd *cobra.Command, keys []key, last record) (string, error) {
	place := []string{listOf(cmd)}
	for _, k := range keys {
		i := slices.Index(last.names, k.column)
		if i < 0 {
			return "", fmt.Errorf("%s has no column %s", listOf(cmd), k.column)
		}
		place = append(place, plain(last.values[i]))
	}
	text, err := json.Marshal(place)
	return base64.RawURLEncoding.EncodeToString(text), err
}

func decodeCursor(cmd *cobra.Command, cursor string) ([]string, error) {
	var place []string
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, &place)
	}
	switch {
	case err != nil || len(place) < 2:
		return nil, usage(cmd, "--cursor "+quote(cursor)+" is none that a list has said")
	case place[0] != listOf(cmd):
		return nil, usage(cmd, "--cursor is one of "+quote(place[0]))
	}
	return place[1:], nil
}

// listOf names the list that a cursor is of.
func listOf(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "nexus-node ") }
