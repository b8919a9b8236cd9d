package node_test

import (
	"errors"
	"testing"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/dbtest"
	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/schedule"
)

func TestDeclaredBecomesTrueWhenTheNodeRuns(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	if _, err := (schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Namespace: ns, Name: "old", Cron: "* * * * *", Type: "x"}}}).Apply(t.Context(), db.Pool, false); err != nil {
		t.Fatal(err)
	}
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 2 * * *", Type: "day.closed"}}})
	start(t, n)
	db.Wait("select array_agg(namespace || '/' || name) = '{shop/close-day}' from core.scheduled_tasks")
}

func TestAServiceThatFailsEndsTheNode(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	n := node.New(db.Pool, node.Config{Namespace: ns})
	n.Add(schedule.Declared{Owner: "billing", Tasks: []schedule.Task{{Name: "close-day", Cron: "30 25 * * *", Type: "day.closed"}}})
	err := n.Run(t.Context())
	var e *nexus.Error
	if !errors.As(err, &e) || e.Code != nexus.CodeCron {
		t.Errorf("Run: %v, want what is wrong with the expression", err)
	}
	if got := dbtest.Get[string](db, "select state from core.nodes"); got != "stopped" {
		t.Errorf("the node is %s", got)
	}
}
