// Package everycall calls every function of schema core, for tests that ask the same of all of them: who may, and what is said to
// arguments that make no sense. A [Place] is a namespace with something of each kind in it; a function gets its arguments by their
// names, so that one whose signature grows needs no change here as long as the new name has a value. A function that is in no list
// fails the test that asks for it.
package everycall
