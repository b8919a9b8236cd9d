package readmodel

// Keys lists what a collection of the key-value store holds, by the bytes of its keys; prefix "": all. Values may be large.
func Keys(namespace, collection, prefix string, values bool) List {
	l := List{
		What:  "list keys",
		Args:  []any{namespace, collection},
		Names: []string{"namespace", "key", "value", "version", "updated_at", "expires_at"},
		Keys:  []Key{{"key", "text"}},
	}
	columns := "namespace, key, value, version, updated_at, expires_at"
	if !values {
		columns = "namespace, key, version, updated_at, expires_at"
		l.Names = []string{"namespace", "key", "version", "updated_at", "expires_at"}
	}
	l.SQL = `select ` + columns + ` from core.kv where collection = $2::text and ($1::text = '' or namespace = $1::text)`
	if namespace == "" {
		l.Keys = []Key{{"namespace", "text"}, {"key", "text"}}
	}
	if prefix != "" {
		l.Where("pg_catalog.starts_with(key, $%d::text)", prefix)
	}
	return l
}
