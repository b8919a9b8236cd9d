package pgmqueue

import "github.com/nexuspg/nexus/internal/work"

// Ask says what to claim.
type Ask struct {
	Types       []string // patterns
	MaxAttempts []int    // for each pattern; 0: the consumer's
	Limit       int
	Floor       int64 // look at ids from here on
	Window      int   // look at no more rows than this
	Sweep       bool  // look by due time, ignoring Floor
	Alone       bool  // one of those that may have killed a process is welcome
}

// Found is what an exchange brought.
type Found struct {
	Items     []work.Item // in the order of the source
	Buried    int         // items that the claim itself gave up on, since the processes that had them died too often
	Lowest    int64       // position of the first item, 0 if there is none
	Highest   int64       // position of the last item, 0 if there is none
	Looked    int         // rows looked at
	ScannedTo int64       // position of the last row looked at, 0 if none was
	Bytes     int         // size of the largest item
	Outcomes  []work.Outcome

	// Items that may have killed a process: those that were left, the lowest position among them, and of a batch the one taken too.
	Alone     int
	LeftAlone int64

	// Of a batch only.
	Few   int  // items left where they are, since they were fewer than asked for
	Quiet bool // nothing speaks against express

	Xact int64 // express: the number of the transaction
}
