package readmodel

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// List is what is shown a page at a time: rows in an order of which no two are equal.
type List struct {
	What  string // for errors
	SQL   string // a select without order and limit, with the columns Names and Keys
	Args  []any
	Names []string // the columns, for a list of nothing
	Keys  []Key    // in the order of the list
	Desc  bool     // the last first
	Order string   // in place of Keys, where the next page begins nowhere: its place moves, and all rows are made for the first

	// Where an index has the first key alone, and that in order only within one type, or the like: a select of those, to which SQL refers as e.
	// Left to itself the planner would sort all there is.
	Each string
	// What takes long is looked up for the rows that are shown alone: a select from them, as p.
	Shown string
}

// Key is a column that a list is ordered by, with its type.
type Key struct{ Column, Type string }

// Where narrows the list down; %d stands for the number of the argument.
func (l *List) Where(condition string, arg any) {
	l.Args = append(l.Args, arg)
	l.SQL += fmt.Sprintf(" and "+condition, len(l.Args))
}

// OfType narrows it down to an event type or pattern, if there is any, by the column that has the type.
func (l *List) OfType(column, pattern string) {
	if condition, arg := typeCondition(column, pattern); condition != "" {
		l.Where(condition, arg)
	}
}

// typeCondition compares a column with an event type or pattern, in a form that an index of the column serves; "" where all match.
func typeCondition(column, pattern string) (condition, arg string) {
	prefix, isPattern := splitPattern(pattern)
	switch {
	case pattern == "" || isPattern && prefix == "":
		return "", ""
	case isPattern:
		return "pg_catalog.starts_with(" + column + ", $%d::text)", prefix
	}
	return column + " = $%d::text", pattern
}

// splitPattern is what the types that a pattern matches begin with: "order." of "order.*", "" of "*".
func splitPattern(pattern string) (prefix string, isPattern bool) {
	if pattern == "*" || strings.HasSuffix(pattern, ".*") || strings.HasSuffix(pattern, ":*") {
		return strings.TrimSuffix(pattern, "*"), true
	}
	return pattern, false
}

// Page says which rows of a list are wanted.
type Page struct {
	Limit int      // how many at most; 0: all
	After []string // the Next of the page before
}

// Rows are those of one page.
type Rows struct {
	Records []Record
	More    bool     // there are more
	Next    []string // the place of the last row, if there are more and the list has Keys
	All     int      // how many the list has, if it has an Order and the page a Limit
}

// CountedRows bounds what [List.Left] counts.
const CountedRows = 10_000

// Read returns the rows of a page.
func (l List) Read(ctx context.Context, q Querier, p Page) (Rows, error) {
	sql, args := l.page(p)
	records, err := Select(ctx, q, l.What, sql, args...)
	if err != nil {
		return Rows{}, err
	}
	rows := Rows{Records: records}
	if rows.More = p.Limit > 0 && len(records) > p.Limit; rows.More {
		rows.Records = records[:p.Limit]
	}
	if l.Order != "" && p.Limit > 0 {
		for i, r := range rows.Records { // the last column says how many there are
			if _, err := fmt.Sscan(text(r.Values[len(r.Values)-1]), &rows.All); err != nil {
				return Rows{}, err
			}
			rows.Records[i] = r.WithoutLast()
		}
	}
	if rows.More && l.Order == "" {
		rows.Next, err = l.placeOf(rows.Records[p.Limit-1])
	}
	return rows, err
}

// page selects the rows of a page, and one more if there is one.
func (l List) page(p Page) (string, []any) {
	columns, places, args := l.place(p.After)
	count := ""
	if l.Order != "" && p.Limit > 0 {
		count = ", pg_catalog.count(*) over () as all_rows"
	}
	sql := "select l.*" + count + " from (" + l.SQL + ") l"
	if columns != nil {
		sql += " where (" + strings.Join(columns, ", ") + ")" + l.beyond() + "(" + strings.Join(places, ", ") + ")"
	}
	limit := ""
	if p.Limit > 0 {
		args = append(args, p.Limit+1)
		limit = fmt.Sprintf(" limit $%d::bigint", len(args))
	}
	if l.Each != "" {
		sql = l.ofEach(sql, places, limit)
	}
	sql += l.ordered("l") + limit
	if l.Shown != "" {
		sql = "select s.* from (with p as (" + sql + ") " + l.Shown + ") s" + l.ordered("s")
	}
	return sql, args
}

// ordered is the order of the list, of rows that are called so.
func (l List) ordered(row string) string {
	if l.Order != "" {
		return " order by " + l.Order
	}
	var order []string
	for _, k := range l.Keys {
		order = append(order, row+"."+k.Column+l.direction())
	}
	return " order by " + strings.Join(order, ", ")
}

// ofEach is the select from each of the types, or whatever they are, as far as the page goes: the index alone says which value of the first key
// is the last on it, and only rows before that are read. Those that are equal in the first key come from there on, too.
func (l List) ofEach(sql string, places []string, limit string) string {
	more := " where "
	if len(places) > 0 {
		more = " and "
	}
	sql += more
	from := "with e as materialized (" + l.Each + ") select l.* from e"
	if limit == "" {
		return from + " cross join lateral (" + sql + "true) l"
	}
	first := "l." + l.Keys[0].Column
	by := " order by " + first + l.direction()
	furthest, upTo := "max", " <= "
	if l.Desc {
		furthest, upTo = "min", " >= "
	}
	past, key := "true", furthest+"("+first+")"
	if len(places) > 0 {
		past, key = first+l.beyond()+places[0], "coalesce("+key+", "+places[0]+")"
	}
	last := "select " + first + " from e cross join lateral (select " + first + " from (" + l.SQL + ") l where " + past + by + limit + ") l" + by + limit
	// A row of its own: policies ask before conditions with a sub-select, which no index would serve then.
	last = "(select " + key + " as key from (" + last + ") l)"
	return from + " cross join " + last + " last cross join lateral (" + sql + first + upTo + "last.key" +
		by + " fetch first (" + strings.TrimPrefix(limit, " limit ") + ") rows with ties) l"
}

// place are the columns of the keys and what a place has of them, with all arguments.
func (l List) place(after []string) (columns, places []string, args []any) {
	args = slices.Clone(l.Args)
	if len(after) == 0 {
		return nil, nil, args
	}
	for i, k := range l.Keys {
		args = append(args, after[i])
		columns = append(columns, "l."+k.Column)
		places = append(places, fmt.Sprintf("$%d::text::%s", len(args), k.Type))
	}
	return columns, places, args
}

// placeOf is the place of a row in the order of the list.
func (l List) placeOf(r Record) (place []string, err error) {
	for _, k := range l.Keys {
		i := slices.Index(r.Names, k.Column)
		if i < 0 {
			return nil, fmt.Errorf("%s: there is no column %s", l.What, k.Column)
		}
		place = append(place, text(r.Values[i]))
	}
	return place, nil
}

func (l List) beyond() string {
	if l.Desc {
		return " < "
	}
	return " > "
}

func (l List) direction() string {
	if l.Desc {
		return " desc"
	}
	return ""
}

// Left counts the rows beyond a place, up to one more than [CountedRows].
func (l List) Left(ctx context.Context, q Querier, after []string) (int, error) {
	sql, args := l.rest(after)
	sql = fmt.Sprintf("select pg_catalog.count(*) as n from (select from (%s) r limit %d) c", sql, CountedRows+1)
	records, err := Select(ctx, q, l.What, sql, args...)
	if err != nil {
		return 0, err
	}
	var n int
	_, err = fmt.Sscan(records[0].Texts()[0], &n)
	return n, err
}

// rest is a select of what comes after a place, in no order, to be counted. A part has the rows that differ in the first key, and one
// those that differ in the second, and so on: the first is in an index that need not have the second.
func (l List) rest(after []string) (string, []any) {
	columns, places, args := l.place(after)
	var parts []string
	for i := range columns {
		var same []string
		for j := range i {
			same = append(same, columns[j]+" = "+places[j]+" and ")
		}
		part := "select from (" + l.SQL + ") l where " + strings.Join(same, "") + columns[i] + l.beyond() + places[i]
		if l.Each != "" {
			part = "select from (" + l.Each + ") e cross join lateral (" + part + ") l"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " union all "), args
}
