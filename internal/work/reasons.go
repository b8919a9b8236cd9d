package work

// The reasons of failures that no handler chose. Dead letters are grouped by them.
const (
	ReasonError   = "error"
	ReasonPanic   = "panic"
	ReasonTimeout = "timeout"
	ReasonDecode  = "decode"
	ReasonCommit  = "commit"
	ReasonEnded   = "transaction ended"
)
