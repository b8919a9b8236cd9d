// Package mainjob does once what Nexus is for, and says what did not come out right: it emits, handles in each of the four modes,
// retries, buries, replays, delays and schedules. Tests run it in surroundings that may spoil it: beside other users of the
// database, under settings of roles, on a restored copy, in the middle of an upgrade.
//
// It needs two connection strings and no table of its own. A handler's effect is an event that it emits in its transaction, so the
// event log tells whether each delivery had its effect once. Whatever it writes outside of handlers it writes in a transaction
// that is explicitly read committed and read write, as a program does that cannot trust the settings of its role.
package mainjob
