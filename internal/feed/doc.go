// Package feed keeps an engine fed: it says when to claim, and lives through outages. It knows neither the source nor the handlers.
//
// # When to claim
//
// An engine asks [Feed.Begin] and then [Feed.Due] before each claim, and tells by [Feed.Claimed] what the claim brought. While claims bring
// something there is no pause. When nothing comes the pauses double up to Poll, and the feed asks emitters to wake it.
//
//	           claims bring nothing               asked emitters to call
//	busy ─────────────────────────▶ pausing ─────────────────────────▶ waiting
//	 ▲  no pause                      5 ms … Poll                        Poll, or a long rest
//	 │                                                                   while the lookout answers
//	 └──────────── a claim brings something, a wake-up, the lookout saw something ────┘
//
// The lookout is somebody who looks at the source for all who wait. Its answers count as fetches, since a claim would have been made.
//
// # Outages
//
// [Feed.Failed] is told of each exchange with the database that did not work. Claims then pause, longer each time, and the log has one line
// in a while. An exchange that times out looks the same as a server that is away: whoever keeps connections to it is told. [Feed.Recovered]
// ends it.
//
// # Locks
//
// A Feed has a lock of its own and calls nobody under it. Engines may call it while they hold theirs.
package feed
