package cli

import (
	"fmt"
	"strings"
)

// fewSteps are told one by one.
const fewSteps = 10

// kinds are the folders of steps that an installation has hundreds of.
var kinds = []string{"migrations", "functions", "extensions", "views", "roles"}

// summary tells how many steps there are of which kind, in place of each, and names those that are of none.
func summary(steps []string) []string {
	if len(steps) <= fewSteps {
		return steps
	}
	count := map[string]int{}
	var others []string
	for _, step := range steps {
		kind, _, below := strings.Cut(step, "/")
		if !below || strings.Contains(kind, " ") {
			kind = ""
			others = append(others, step)
		}
		count[kind]++
	}
	var out []string
	for _, kind := range kinds {
		if n := count[kind]; n > 0 {
			out = append(out, fmt.Sprintf("%s %s", thousands(n), kind))
		}
	}
	if len(others) > fewSteps {
		others = append(others[:fewSteps], fmt.Sprintf("%s more", thousands(len(others)-fewSteps)))
	}
	return append(append(out, others...), "each by --verbose, or with -o json")
}
