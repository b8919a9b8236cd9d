// Command chaos attacks a Nexus of its own for some rounds and then judges what came of it.
//
// A round has two namespaces, node processes in every mode of handlers (some through a proxy that stalls, delays and cuts, one
// through a pooler), and emitters. Each event carries the script that its handlers follow: succeed, fail, panic, reject, release, be
// slow, hang, kill their process. Meanwhile faults strike, drawn from the seed: processes are killed, frozen, stopped, replaced by
// another version, or change their handlers while they run; levels of consumers change; the server crashes and restarts; connections are cut while an answer is under way; tables are locked. When they end,
// all is healed and has to come to rest within a bounded time.
//
// The checker then reads two things only. One is what the program's own side wrote down: rows that emitters wrote in the emitting
// transaction, rows that handlers wrote in theirs, and a journal, a file of each process, that tells of every call of a handler
// whatever became of the database. The other is the tables and views that Nexus shows to users. The tables have no unique key that could
// hide a double effect.
//
// What it leaves out: a standby that is promoted (a claim whose commit is lost stands for it), a full disk, a clock that jumps.
//
// The plan comes from the seed, so that a run can be done again; what meets what is up to the machine.
package main
