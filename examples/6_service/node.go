package main

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexuspg/nexus/node"
	"github.com/nexuspg/nexus/schedule"
)

// nightly is when the report is due.
var nightly = schedule.Task{Name: "nightly-report", Cron: "30 2 * * *", Zone: "Europe/Berlin"}

// newNode is used by the program and by its tests.
func newNode(pool *pgxpool.Pool, metrics prometheus.Registerer, send sender) *node.Node {
	n := node.New(pool, node.Config{Namespace: namespace, Grace: 20 * time.Second, Registerer: metrics})
	node.OnT(n, OrderPlaced, confirm)
	node.OnT(n, ReportDue, report)
	node.OnLeasedT(n, MailRequested, mail(pool, send)) // 50 at once, which is the default of Config.LeasedWorkers
	n.Add(schedule.Declared{Owner: "shop", Tasks: []schedule.Task{
		schedule.TaskOf(ReportDue, Report{To: "boss@example.com"}, nightly),
	}})
	return n
}
