// Package lease keeps the leases of what an engine has in hand. It knows no source but by [Extender], and no engine but by [Held].
//
//	        a third of the lease has passed
//	taken ─────────────────────────────────▶ due ──▶ renewed ─▶ (taken)
//	                                          │
//	                                          ├──▶ lost: somebody else has it, or it is gone
//	                                          │
//	                                          └──▶ nobody answers until a tenth of the lease is left
//
// In both of the last two [Held.Lost] is called: whoever cannot renew must be done before somebody else may begin.
//
// All that is due goes in one statement, and there is one under way at a time. The ends of leases are reckoned by this process's clock, from
// before the statement was sent: so they are never later here than in the database.
package lease
