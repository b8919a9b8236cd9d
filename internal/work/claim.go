package work

import "time"

// Want says what an engine wants of a source. Where that looks for it is for the source to say.
type Want struct {
	Types       []string // patterns
	MaxAttempts []int    // for each pattern; 0: the consumer's
	Key         string   // names the patterns, where an engine claims now for these and now for others

	Limit   int
	AtLeast int // leave all where they are if there are fewer; of batches only
	Lease   time.Duration

	Alone bool // the node's turn is the engine's: one of those that may have killed a process is welcome
	Held  int  // items that the engine has in hand
	Woken bool // somebody called since the last claim
	Rare  bool // claims are far between, so each may look thoroughly
	Anew  bool // look from the start, wherever other claims have got to
}

// Got is what a claim brought.
type Got struct {
	Items    []Item // in the order of the source
	Buried   int    // items that the claim itself gave up on, since the processes that had them died too often
	Bytes    int    // size of the largest item
	Outcomes []Outcome
	More     bool // there is surely more, or it is not known yet that there is none

	Alone bool // there are items that may have killed a process, left or taken: see Source.TurnFree
	Few   bool // there were fewer items than wanted at least, and none was taken
	Quiet bool // nothing speaks against express

	HeldBack Hold          // why limits of the consumer left no room for more; "" if they did not
	HeldFor  time.Duration // until there may be room; 0: until something is settled
}

// Hold is what holds back claims of a consumer with limits.
type Hold string

// Holds.
const (
	HeldInFlight Hold = "max_in_flight"
	HeldRate     Hold = "rate"
	HeldLock     Hold = "lock" // another claim of the consumer is not through
)
