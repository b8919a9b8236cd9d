package nexustest

import "testing"

// AtMost lowers the bound of Work.
func (e *Env) AtMost(n int) { e.most = n }

// With is the environment with another test to tell.
func With(e *Env, t testing.TB) *Env {
	t.Helper()
	other := *e
	other.t = t
	return &other
}
