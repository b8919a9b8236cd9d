package db

import (
	"slices"
	"strings"
)

// Callers is the list of who may call what, with sorted roles.
func Callers() map[string][]string {
	all := map[string][]string{}
	for _, c := range callers {
		for _, function := range strings.Fields(c.functions) {
			all[function] = slices.Sorted(slices.Values(c.roles))
		}
	}
	return all
}
