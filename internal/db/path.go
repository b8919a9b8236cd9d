package db

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// pathAt names the place of byte at in a JSON text, the way jsonpath does: $.user.tags[2]. It is only called once something
// is wrong, so it takes the slow decoder and lets the check itself stay simple.
func pathAt(b []byte, at int) string {
	var p path
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return p.String()
		}
		if p.step(tok); dec.InputOffset() > int64(at) {
			return p.String()
		}
		if d, ok := tok.(json.Delim); ok && (d == '{' || d == '[') {
			p = append(p, member{array: d == '[', index: -1, keyNext: d == '{'})
		}
	}
}

// path is the member that is being read at each open level, outermost first.
type path []member

type member struct {
	array   bool
	index   int    // in an array
	key     string // in an object
	keyNext bool   // the object's next token is a key
}

// step takes note of a token.
func (p *path) step(tok json.Token) {
	if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
		*p = (*p)[:len(*p)-1]
		return
	}
	if len(*p) == 0 {
		return
	}
	m := &(*p)[len(*p)-1]
	switch {
	case m.array:
		m.index++
	case m.keyNext:
		m.key, m.keyNext = tok.(string), false
	default:
		m.keyNext = true
	}
}

func (p path) String() string {
	const most = 200
	var s strings.Builder
	s.WriteByte('$')
	for _, m := range p {
		switch {
		case m.array:
			s.WriteString("[" + strconv.Itoa(m.index) + "]")
		case plainKey(m.key):
			s.WriteString("." + m.key)
		default:
			s.WriteString("[" + strconv.QuoteToASCII(clip(m.key)) + "]")
		}
		if s.Len() > most {
			s.WriteString("…")
			break
		}
	}
	return s.String()
}

func plainKey(key string) bool {
	for i, c := range key {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return key != "" && len(key) <= 80
}
