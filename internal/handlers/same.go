package handlers

import "slices"

// Same reports whether both have the same handlers in the same order, so that what runs the one can go on for the other.
func (hs *Handlers) Same(o *Handlers) bool {
	return hs.retry == o.retry && slices.Equal(hs.list, o.list)
}

// Has reports whether h is one of them.
func (hs *Handlers) Has(h *Handler) bool { return slices.Contains(hs.list, h) }
