package db

import (
	"encoding"
	"encoding/json"
	"reflect"
	"unicode/utf8"
)

// brokenUTF8 reports whether v holds a string that is not valid UTF-8 where json.Marshal would have found it. Marshal writes
// \ufffd for such bytes without a word, so the caller looks for that first and asks here whether it came from the value or
// from JSON that was there already. Types that write themselves are left alone: what they write is what they mean.
func brokenUTF8(v reflect.Value, depth int) bool {
	if !v.IsValid() || depth > maxNesting || writesItself(v) {
		return false
	}
	depth++
	switch v.Kind() {
	case reflect.String:
		return !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return brokenUTF8(v.Elem(), depth)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return false // base64
		}
		for i := range v.Len() {
			if brokenUTF8(v.Index(i), depth) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if brokenUTF8(it.Key(), depth) || brokenUTF8(it.Value(), depth) {
				return true
			}
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && brokenUTF8(field, depth) {
				return true
			}
		}
	}
	return false
}

func writesItself(v reflect.Value) bool {
	t := v.Type()
	for _, i := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(i) || v.CanAddr() && reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}
