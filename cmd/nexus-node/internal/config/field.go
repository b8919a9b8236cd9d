package config

import (
	"reflect"
	"strings"
	"unicode"
)

const prefix = "NEXUS"

// field is one setting as its struct field describes it.
type field struct {
	name, def, about, accepts string
	secret                    bool
	value                     reflect.Value
}

func fields(c *Config) []field {
	v := reflect.ValueOf(c).Elem()
	var out []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		out = append(out, field{
			name:    prefix + "_" + words(f.Name),
			def:     f.Tag.Get("default"),
			about:   f.Tag.Get("about"),
			accepts: f.Tag.Get("accepts"),
			secret:  f.Tag.Get("secret") == "true",
			value:   v.Field(i),
		})
	}
	return out
}

// words is DATABASE_URL for DatabaseURL: envconfig's split_words.
func words(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		startsWord := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && !unicode.IsUpper(runes[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

func (f field) wrong(value string) *Error {
	if f.secret {
		value = ""
	}
	return &Error{Name: f.name, Value: value, Accepts: f.accepts}
}
