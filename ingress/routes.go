package ingress

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// route is one trigger, as core_node.http_routes has it.
type route struct {
	ID     string `json:"id"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Sum    string `json:"token_hash"` // of its token, in hex; "": it is public
}

// table has the routes of one generation as a tree of segments.
type table struct {
	generation int64
	root       branch
	read       time.Time // when they began to be read
}

type branch struct {
	named  map[string]*branch
	any    *branch          // {name}
	routes map[string]route // by method
}

func newTable(generation int64, routes []byte, read time.Time) (*table, error) {
	var all []route
	if err := json.Unmarshal(routes, &all); err != nil {
		return nil, err
	}
	t := &table{generation: generation, read: read}
	for _, one := range all {
		at := &t.root
		for _, segment := range segments(one.Path) {
			at = at.grow(segment)
		}
		if at.routes == nil {
			at.routes = map[string]route{}
		}
		at.routes[one.Method] = one
	}
	return t, nil
}

func (b *branch) grow(segment string) *branch {
	if strings.HasPrefix(segment, "{") {
		if b.any == nil {
			b.any = &branch{}
		}
		return b.any
	}
	if b.named[segment] == nil {
		if b.named == nil {
			b.named = map[string]*branch{}
		}
		b.named[segment] = &branch{}
	}
	return b.named[segment]
}

// find has the routes of a path by method: of two that fit, that which names the first segment in which they differ.
func (b *branch) find(path []string) map[string]route {
	if len(path) == 0 {
		return b.routes
	}
	if next := b.named[path[0]]; next != nil {
		if found := next.find(path[1:]); found != nil {
			return found
		}
	}
	if b.any != nil && path[0] != "" {
		return b.any.find(path[1:])
	}
	return nil
}

// params are the segments that names of the route stand for.
func (r route) params(path []string) map[string]string {
	params := map[string]string{}
	for i, segment := range segments(r.Path) {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params[strings.TrimSuffix(name, "}")] = path[i]
		}
	}
	return params
}

func segments(path string) []string {
	if path == "/" || path == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(path, "/"), "/")
}

// asked are the segments of a request's path. A slash that is written %2F is no end of one.
func asked(u *url.URL) (path []string, ok bool) {
	path = segments(u.EscapedPath())
	for i, segment := range path {
		text, err := url.PathUnescape(segment)
		if err != nil || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return nil, false
		}
		path[i] = text
	}
	return path, true
}

func methods(found map[string]route) string {
	var all []string
	for method := range found {
		all = append(all, method)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
