package pgmqueue

import (
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

// look says where a claim looks.
type look struct {
	want   *work.Want
	floor  int64 // look at ids from here on
	window int   // look at no more rows than this
	sweep  bool  // look by due time, ignoring floor
	sent   time.Time

	order  []int   // levels in the order of looking; nil: the queue has one
	floors []int64 // of these, in place of floor
	swept  []bool  // which of these are looked at from where they begin
}

// seen is what a claim has seen.
type seen struct {
	work.Got
	lowest    int64 // position of the first item, 0 if there is none
	highest   int64 // position of the last item, 0 if there is none
	looked    int   // rows looked at
	scannedTo int64 // position of the last row looked at, 0 if none was

	// Items that may have killed a process: those that were left, the lowest position among them, and of a batch the one taken too.
	alone     int
	leftAlone int64
	lone      bool // of a batch: nothing but one of those was looked for

	xact int64 // express: the number of the transaction

	limited bool // limits of the consumer left room for granted items
	granted int

	levels  int            // how many the consumer has; 0: it did not say
	windows []window       // of levels, in the order of looking
	buried  [maxLevels]int // of each level
	limit   int            // of a part: how many it could take at most
}

// window is what a claim has seen of one level.
type window struct {
	looked    int
	scannedTo int64
}
