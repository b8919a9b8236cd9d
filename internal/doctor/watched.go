package doctor

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// lookWatched looks for watched tables whose changes come to nothing: who makes them notices nothing.
func lookWatched(ctx context.Context, pool *pgxpool.Pool) (finding, error) {
	type watch struct {
		Namespace, Table, Collection string
		ID                           int64
		Triggers, Off                string
		Allowed                      bool
		Options                      string
	}
	bad, err := records[watch](ctx, pool, `
		select w.namespace, w.table_name, w.collection, w.watch_id,
		       pg_catalog.concat_ws(', ', 'missing ' || nullif(pg_catalog.array_to_string(w.missing, ', '), ''),
		                            'disabled ' || nullif(pg_catalog.array_to_string(w.switched_off, ', '), ''),
		                            'altered ' || nullif(pg_catalog.array_to_string(w.altered, ', '), '')),
		       coalesce(w.off_reason, ''), w.principal_ok,
		       pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
		           'ops', nullif(w.ops, '{}'), 'columns', nullif(w.columns, '{}'), 'key', nullif(w.key, '{}'), 'unchanged', nullif(w.unchanged, false),
		           'emit', nullif(w.emit, false), 'replica', nullif(w.replica, false)))::text
		  from core.watch_status w
		 where not w.enabled or not w.principal_ok or w.missing <> '{}' or w.switched_off <> '{}' or w.altered <> '{}'
		 order by w.watch_id limit 100`)
	if err != nil {
		return finding{}, err
	}
	if len(bad) == 0 {
		return ok("all as they were made"), nil
	}
	var found []string
	var lines mend
	for _, w := range bad {
		name := w.Namespace + "/" + w.Table
		if w.Triggers != "" {
			found = append(found, fmt.Sprintf("%s: triggers %s", name, w.Triggers))
			lines = append(lines, statement("select core.watch_table(%s, %s, %s, %s); -- as its owner, who may produce",
				literal(w.Namespace), literal(w.Table), literal(w.Collection), literal(w.Options)))
		}
		switch {
		case !w.Allowed:
			found = append(found, name+": who watched it may not produce")
			lines = append(lines, advice("core.hand_over_triggers gives it to a role that may produce; core.switch_watch(%d, true) has it go on", w.ID))
		case w.Off != "":
			found = append(found, name+" is off: "+w.Off)
			lines = append(lines, statement("select core.switch_watch(%d, true); -- as a member of nexus_operator", w.ID))
		}
	}
	return warn(lines, "%s", some(found)), nil
}
