package db

import (
	"maps"
	"slices"
)

// Callers says who may call what, with sorted roles.
func Callers() map[string][]string {
	all := maps.Clone(callers())
	maps.DeleteFunc(all, func(_ string, roles []string) bool { return len(roles) == 0 })
	for function, roles := range all {
		all[function] = slices.Sorted(slices.Values(roles))
	}
	return all
}
