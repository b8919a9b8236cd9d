package migrate

import (
	"regexp"
	"slices"
	"strings"

	nexussql "github.com/nexuspg/nexus/sql"
)

// What files created once and create no more is dropped: a function is known by its name and the types of its arguments, so a
// new argument leaves the old function beside the new one, and calls of that name become ambiguous. The bookkeeping says what
// is Nexus's own. Whatever else lies in the schemas is somebody else's, and is only named.

// sortOut tells what is retired from what is somebody else's.
func (s *state) sortOut(there []definition, want schema) {
	known, wanted := map[string]bool{}, map[string]bool{}
	for _, o := range s.objects {
		for _, signature := range o.Signatures {
			known[signature] = true
		}
	}
	for _, f := range slices.Concat([]nexussql.File{bookkeeping}, want.functions, want.views) {
		signatures := commented(f)
		if o, ok := s.objects[f.Path]; ok && (o.SHA256 == f.SHA256 || signatures == nil) {
			signatures = o.Signatures
		}
		for _, signature := range signatures {
			wanted[signature] = true
		}
	}
	for _, d := range there {
		switch {
		case wanted[d.Signature]:
		case known[d.Signature]:
			s.retired = append(s.retired, d.Signature)
		default:
			s.orphans = append(s.orphans, d.Signature)
		}
	}
}

var comment = regexp.MustCompile(`comment on (?:function|procedure|view) ((?:core|core_node|core_private)\.[a-z0-9_]+(?:\([^)]*\))?) is`)

// commented are the signatures that a file creates, as its comments name them; nil if it has none.
func commented(f nexussql.File) []string {
	var signatures []string
	for _, signature := range named(comment, f.Body) {
		name, types, isFunction := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
		if !isFunction {
			signatures = append(signatures, name)
			continue
		}
		var full []string
		for _, t := range strings.Split(types, ",") {
			t = strings.TrimSpace(t)
			bare, array := strings.CutSuffix(t, "[]")
			if long, ok := longNames[bare]; ok {
				t = long
				if array {
					t += "[]"
				}
			}
			full = append(full, t)
		}
		signatures = append(signatures, name+"("+strings.Join(full, ", ")+")")
	}
	return signatures
}

// longNames are types as the server prints them.
var longNames = map[string]string{
	"timestamptz": "timestamp with time zone",
	"timestamp":   "timestamp without time zone",
	"int":         "integer",
	"int4":        "integer",
	"int8":        "bigint",
	"int2":        "smallint",
	"bool":        "boolean",
	"float8":      "double precision",
}
