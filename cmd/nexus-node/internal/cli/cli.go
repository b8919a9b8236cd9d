// Package cli is the command line of nexus-node: one file a subcommand, each a function that builds its cobra command on
// an [Env]. The commands parse and print; what they do is done by the public packages, and what they show is selected from
// the views of schema core.
//
// Words and verbs are those of SQL: core.replay_dead_letters is `dlq replay`. Whatever destroys something has --dry-run.
// Results go to stdout, as an aligned table or, with -o json, as JSON; all else goes to stderr. Exit codes are in exit.go.
package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
)

// Env is the world outside, so that tests can run commands without a process.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Width          func() int // how many columns the terminal has that stdout is; nil: stdout is not a terminal, and everything is printed whole
	StderrTerminal bool       // stderr is one: progress may be written over
	Config         func() (*config.Config, []string, error)
	Version        string
}

// Main runs one command line, without the program's name, and returns the exit code. The end of ctx is a request to stop.
func Main(ctx context.Context, env Env, args []string) int {
	root := newRoot(env)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return report(env, cmd, asked(root, args), err)
}

// asked is the format that the command line asks for, also where a mistake kept it from being read.
func asked(root *cobra.Command, args []string) string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg == "-o"+asJSON || arg == "-o="+asJSON || arg == "--output="+asJSON || (arg == "-o" || arg == "--output") && i+1 < len(args) && args[i+1] == asJSON {
			return asJSON
		}
	}
	return root.PersistentFlags().Lookup("output").Value.String()
}

// session is what a command has besides its own flags.
type session struct {
	Env
	format    string // -o
	namespace string // -n
	quick     bool   // somebody waits for a completion
}

func newRoot(env Env) *cobra.Command {
	s := &session{Env: env}
	root := group(&cobra.Command{
		Use:   "nexus-node",
		Short: "The Postgres you already run as your event bus",
		Long: `nexus-node runs a node of a namespace and does from a shell what the functions of schema core do from psql.

Settings come from the environment: ` + "`nexus-node config`" + ` lists them. A database is named by NEXUS_DATABASE_URL.`,
		Example: `  NEXUS_DATABASE_URL=postgres://me@localhost/app nexus-node doctor
  nexus-node emit -n shop order.placed '{"order": 7}'`,
	},
		newRun(s), newDev(s), newDemo(s), newDemoNode(s),
		newMigrate(s), newDoctor(s), newConfig(s), newVersion(s),
		newNamespace(s), newEmit(s), newRequest(s), newAt(s), newTask(s), newCron(s), newEvents(s), newQueue(s), newConsumer(s), newWebhook(s), newHandler(s), newWork(s), newIngress(s), newKV(s), newOutbox(s), newWorkflow(s), newTrigger(s), newTableWatch(s), newUnwatch(s), newWatched(s), newDLQ(s), newNode(s),
		newSweeps(s), newAudit(s),
	)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.PersistentFlags().VarP(&formatFlag{&s.format}, "output", "o", "how results are printed: table or json")
	root.PersistentFlags().StringVarP(&s.namespace, "namespace", "n", "", "the namespace (default $"+config.EnvNamespace+")")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, err.Error()) })
	checkArguments(root)
	complete(s, root)
	return root
}

// group makes a command that only holds others. Alone it is a mistake to name it: cobra would print help and succeed, and
// a script would take that for an answer.
func group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			cmd.SetOut(cmd.ErrOrStderr()) // stdout is for results
			_ = cmd.Help()
			return usage(cmd, "a command is missing")
		}
		message := "there is no command " + quote(args[0])
		if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
			message += "; did you mean " + strings.Join(like, " or ") + "?"
		}
		return usage(cmd, message)
	}
	cmd.SuggestionsMinimumDistance = 2
	return cmd
}
