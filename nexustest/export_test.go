package nexustest

// AtMost lowers the bound of Work.
func (e *Env) AtMost(n int) { e.most = n }
