package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus"
)

// watching is for lists that are shown again and again.
type watching struct {
	on    bool
	every time.Duration
}

func (w *watching) add(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&w.on, "watch", "w", false, "show it again and again, until Ctrl-C")
	cmd.Flags().DurationVar(&w.every, "interval", 2*time.Second, "with --watch: how often")
}

func (w *watching) check(cmd *cobra.Command) error {
	if w.every <= 0 {
		return usage(cmd, "--interval must be above 0")
	}
	return nil
}

// watch shows something once, or until ctx ends, which is how it is to end. A database that goes away is waited for.
func (s *session) watch(ctx context.Context, w watching, show func() error) error {
	if !w.on {
		return show()
	}
	for ctx.Err() == nil {
		if s.Width != nil && s.format != asJSON {
			fmt.Fprint(s.Stdout, "\x1b[H\x1b[2J") // to the top of an empty screen
		}
		err := show()
		if errors.Is(err, nexus.ErrUnavailable) && ctx.Err() == nil {
			s.say(note{Warning: "the database is not available, waiting for it: " + err.Error()})
		} else if err != nil && ctx.Err() == nil { // asked to stop, it has shown what it was to show
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.every):
		}
	}
	return nil
}
