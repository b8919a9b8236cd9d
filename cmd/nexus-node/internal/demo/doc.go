// Package demo does Nexus's main job on real input and counts what came of it: GitHub webhooks are emitted in transactions that
// also write a business row, two node processes aggregate them, one of which is killed half way; a handler fails and recovers,
// poison is buried, one dead letter is replayed after a fix and one discarded. Meanwhile tasks in three zones and an interval fire
// through pg_cron and the nodes; of two one-shots one fires and one is cancelled. A second consumer is added late and gets all from
// the beginning, a webhook is delivered to a receiver that is busy at first and checks signatures, and in a namespace without nodes
// pg_cron alone runs a handler in SQL. A watched table has triggers call a handler and a webhook, a dead letter of theirs is claimed,
// edited and replayed, and requests are answered.
//
// What it claims at the end (handled, lost, doubled) is counted from the business tables alone. The tables have no unique key
// that could hide a double effect.
package demo
