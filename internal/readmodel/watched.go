package readmodel

// Watched lists watched tables, with what is in their way.
func Watched(namespace string) List {
	return List{
		What: "list watched tables",
		SQL: `select namespace, watch_id, table_name, collection, enabled, off_reason, principal_ok, missing, switched_off, altered, ops, columns, key, emit, replica
		   from core.watch_status where $1::text = '' or namespace = $1::text`,
		Args: []any{namespace},
		Names: []string{
			"namespace", "watch_id", "table_name", "collection", "enabled", "off_reason", "principal_ok", "missing", "switched_off", "altered", "ops", "columns", "key",
			"emit", "replica",
		},
		Keys: []Key{{"namespace", "text"}, {"watch_id", "bigint"}},
	}
}
