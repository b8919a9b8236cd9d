package main

import (
	"fmt"
	"math/rand/v2"
)

// script is what the handlers of an event do. It is the event's payload.
type script struct {
	N     int64  `json:"n"`               // which one it is, for people
	Do    string `json:"do"`              // one of the deeds
	Times int    `json:"times,omitempty"` // at how many attempts, or releases
	MS    int    `json:"ms,omitempty"`    // how long it takes
}

// The deeds.
const (
	doOK      = "ok"
	doSlow    = "slow"    // takes its time
	doHang    = "hang"    // takes its time and does not look at its context
	doFail    = "fail"    // fails, and then succeeds
	doLate    = "late"    // writes its effect before it fails
	doPanic   = "panic"   // panics, and then succeeds
	doRelease = "release" // gives itself back more often than it has attempts, and then succeeds
	doReject  = "reject"  // is given up at once
	doStuck   = "stuck"   // fails until it is mended, so it is buried and has to be replayed
	doKill    = "kill"    // kills its process
	doChain   = "chain"   // emits another event in its transaction
)

const (
	maxAttempts = 5 // of every handler

	rejection = "chaos says no"

	reasonLost = "not acknowledged (process lost)"
)

// replayed are the reasons of dead letters that operators replay: those that may have passed.
var replayed = []string{"error", "panic"}

// killsForGood says that no attempt will survive it.
func (s script) killsForGood() bool { return s.Do == doKill && s.Times >= maxAttempts }

// want is what has to come of it in the end: an effect, or a dead letter of this reason.
func (s script) want() string {
	switch {
	case s.Do == doReject:
		return rejection
	case s.killsForGood():
		return reasonLost
	}
	return wantEffect
}

const wantEffect = "effect"

// mode is how a type is handled.
type mode string

const (
	modeOn      mode = "on"
	modeExpress mode = "express"      // On with Express
	modeBatch   mode = "batch"        // OnBatch
	modeLeased  mode = "leased"       // OnLeased, whose effect is written on another connection
	modeAck     mode = "ack"          // OnLeased, whose effect commits with the ack
	modeLeasedB mode = "leased batch" // OnBatch with Leased
)

// prefixes of event types, by what handles them. Those of "mixed" change their mode with each version that is deployed.
var prefixes = []struct {
	prefix string
	mode   mode
}{
	{"on", modeOn}, {"express", modeExpress}, {"batch", modeBatch}, {"leased", modeLeased}, {"ack", modeAck}, {"leasedbatch", modeLeasedB}, {"mixed", ""},
}

// modeOf is the mode of a prefix in a version.
func modeOf(prefix string, version int) mode {
	for _, p := range prefixes {
		if p.prefix == prefix && p.mode != "" {
			return p.mode
		}
	}
	return []mode{modeOn, modeBatch, modeAck, modeExpress, modeLeasedB}[version%5]
}

func someType(r *rand.Rand) string {
	return fmt.Sprintf("%s.e%d", prefixes[r.IntN(len(prefixes))].prefix, r.IntN(3))
}

// someScript draws what an event does. Killers are drawn elsewhere: there are few.
func someScript(r *rand.Rand) script {
	switch p := r.IntN(100); {
	case p < 45:
		return script{Do: doOK}
	case p < 57:
		return script{Do: doRelease, Times: maxAttempts + 1 + r.IntN(5), MS: 20 + r.IntN(200)}
	case p < 67:
		return script{Do: doFail, Times: 1 + r.IntN(maxAttempts-2)}
	case p < 73:
		return script{Do: doLate, Times: 1}
	case p < 77:
		return script{Do: doPanic, Times: 1}
	case p < 82:
		return script{Do: doReject}
	case p < 86:
		return script{Do: doStuck}
	case p < 94:
		return script{Do: doSlow, MS: 20 + r.IntN(180)}
	case p < 95:
		return script{Do: doHang, MS: 500 + r.IntN(2000)}
	default:
		return script{Do: doChain}
	}
}
