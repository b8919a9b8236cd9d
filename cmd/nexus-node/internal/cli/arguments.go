package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkArguments says in words of the command what is wrong with its arguments, and refuses flags that were given without a
// value, in every command.
func checkArguments(cmd *cobra.Command) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if check != nil {
			if err := check(cmd, args); err != nil {
				return usage(cmd, argumentFault(cmd.Use, args, err))
			}
		}
		return emptyFlag(cmd)
	}
	for _, child := range cmd.Commands() {
		checkArguments(child)
	}
}

// argumentFault names the argument that is missing or one too many. use is the line of cobra: "emit TYPE [PAYLOAD]".
func argumentFault(use string, args []string, err error) string {
	names := strings.Fields(use)[1:]
	if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "-") }); i >= 0 {
		names = names[:i]
	}
	for i, name := range names {
		if i >= len(args) && !strings.HasPrefix(name, "[") {
			return name + " is missing"
		}
	}
	if len(args) > len(names) {
		return quote(args[len(names)]) + " is one argument too many"
	}
	return err.Error()
}

// emptyFlag refuses a flag given as "". It comes of a variable that is not set, and means something else than no flag: an
// emit without its key, a filter that picks all. The namespace is another matter: none is every one.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = slices.Contains(list.GetSlice(), "")
		}
		if empty && f.Name != "namespace" && err == nil {
			err = usage(cmd, "--"+f.Name+" is empty; give it a value or leave it out")
		}
	})
	return err
}

// oneOf refuses a value that could match nothing. An empty one is a flag that was not given.
func oneOf(cmd *cobra.Command, flag, value string, known ...string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return usage(cmd, "--"+flag+" is "+quote(value)+"; it takes "+strings.Join(known, ", "))
}

var patternText = regexp.MustCompile(`^(\*|[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}|[A-Za-z0-9][A-Za-z0-9._:/-]{0,197}[.:]\*|[A-Za-z0-9][.:]\*)$`)

// typePattern refuses a --type that no event type can match.
func typePattern(cmd *cobra.Command, value string) error {
	if value == "" || patternText.MatchString(value) {
		return nil
	}
	return usage(cmd, "--type is "+quote(value)+`; it takes an event type, or a pattern: "prefix.*", "prefix:*" or "*"`)
}
