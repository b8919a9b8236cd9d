package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Options of a run.
type Options struct {
	Seed      uint64
	Rounds    int
	Events    int           // of a round, about
	Strikes   int           // faults of a round
	Length    time.Duration // of the attack of a round
	Faults    []string      // only these kinds; nil: all
	NoKillers bool          // no events that kill their process
	Plant     string        // a bug to plant
	Keep      bool          // leave the server running after a breach
	Verbose   bool
	Worker    []string // command line of a node process
	Out       io.Writer
}

// Result is what a run counted.
type Result struct {
	Rounds, Events, Effects, DeadLetters, Replayed, Deaths int

	Faults   map[string]int
	Breaches []breach
	Left     []string // what was left out, and why
}

// errBreach is the error of a run that found a breach.
var errBreach = errors.New("chaos: an invariant does not hold")

// Run attacks for so many rounds, or until a breach is found.
func Run(ctx context.Context, o Options) (result *Result, err error) {
	planted, err := plantNamed(o.Plant)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	tell := func(format string, args ...any) {
		fmt.Fprintf(o.Out, "%6.1fs  "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
	}
	result = &Result{Faults: map[string]int{}}
	first := rand.New(rand.NewPCG(o.Seed, 0))
	cron := first.IntN(2) == 0
	tell("seed %d; pg_cron %s", o.Seed, map[bool]string{true: "fires", false: "fires elsewhere"}[cron])
	s, err := startServer(ctx, cron)
	if err != nil {
		return nil, err
	}
	defer func() {
		if o.Keep && len(result.Breaches) > 0 && ctx.Err() == nil {
			if left, failed := s.cluster.KeepRunning(); failed == nil {
				fmt.Fprintf(o.Out, "the server stays up: %s\nstop it with: %s\n", s.cluster.URL(database), left.Stop)
			}
		}
		err = errors.Join(err, s.close(context.WithoutCancel(ctx)))
	}()
	if s.pooler == nil {
		result.Left = append(result.Left, "the pooler: there is no pgbouncer on the PATH")
	}
	if err := planted.set(ctx, s.owner); err != nil {
		return nil, err
	}
	for n := 1; n <= o.Rounds; n++ {
		a := &round{server: s, Options: o, number: n, planted: planted, tell: tell, counts: result.Faults}
		if planted != nil {
			a.Faults, a.NoKillers = planted.faults, !planted.killer
		}
		failure := a.play(ctx, rand.New(rand.NewPCG(o.Seed, uint64(n))))
		if err := ctx.Err(); err != nil {
			return result, err
		}
		result.Rounds++
		if failure != nil {
			result.Breaches = append(result.Breaches, breach{kind: "run", detail: failure.Error()})
		}
		found, err := check(ctx, s.owner, a.namespaces)
		if err != nil {
			return result, err
		}
		result.Breaches = append(result.Breaches, found...)
		counts, err := result.add(ctx, a)
		if err != nil {
			return result, err
		}
		tell("round %d: %s; %d breaches", n, counts, len(found))
		if len(result.Breaches) > 0 {
			break
		}
		if err := a.leftDead(ctx); err != nil {
			return result, err
		}
	}
	result.print(o)
	if len(result.Breaches) > 0 {
		return result, errBreach
	}
	return result, nil
}

// add counts what a round did.
func (r *Result) add(ctx context.Context, a *round) (string, error) {
	var events, effects, dead, replayed int
	err := a.owner.QueryRow(ctx, `select
		(select count(*) from core.event_log where namespace = any ($1)),
		(select count(*) from chaos.effects where ns = any ($1)),
		(select count(*) from core.dead_letters where namespace = any ($1)),
		(select count(*) from core.dead_letters where namespace = any ($1) and resolution = 'replayed')`, a.namespaces).
		Scan(&events, &effects, &dead, &replayed)
	r.Events += events
	r.Effects += effects
	r.DeadLetters += dead
	r.Replayed += replayed
	r.Deaths += len(a.fleet.deaths)
	return fmt.Sprintf("%d events, %d effects, %d dead letters, %d of them replayed, %d processes ended", events, effects, dead, replayed, len(a.fleet.deaths)), err
}

// of counts the breaches of a kind.
func (r *Result) of(kind string) int {
	n := 0
	for _, b := range r.Breaches {
		if b.kind == kind {
			n++
		}
	}
	return n
}

func (r *Result) print(o Options) {
	for i, b := range r.Breaches {
		if i == 20 {
			fmt.Fprintf(o.Out, "and %d more\n", len(r.Breaches)-i)
			break
		}
		fmt.Fprintf(o.Out, "BREACH  %s\n", b)
	}
	fmt.Fprintln(o.Out, "faults:")
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		fmt.Fprintf(o.Out, "  %-16s %d\n", name, r.Faults[name])
	}
	for _, left := range r.Left {
		fmt.Fprintf(o.Out, "left out: %s\n", left)
	}
	fmt.Fprintf(o.Out, "chaos: seed=%d rounds=%d events=%d effects=%d dead=%d replayed=%d processes=%d lost=%d doubled=%d ghosts=%d wrongly_dead=%d other=%d\n",
		o.Seed, r.Rounds, r.Events, r.Effects, r.DeadLetters, r.Replayed, r.Deaths, r.of(kindLost), r.of(kindDoubled), r.of(kindGhost), r.of(kindDead),
		len(r.Breaches)-r.of(kindLost)-r.of(kindDoubled)-r.of(kindGhost)-r.of(kindDead))
	if len(r.Breaches) > 0 {
		fmt.Fprintf(o.Out, "again: %s\n", o.line(r.Rounds))
	}
}

// line is how to do it again.
func (o Options) line(rounds int) string {
	line := fmt.Sprintf("make chaos SEED=%d ROUNDS=%d EVENTS=%d STRIKES=%d LENGTH=%s", o.Seed, rounds, o.Events, o.Strikes, o.Length)
	var flags []string
	if len(o.Faults) > 0 {
		flags = append(flags, "-faults "+strings.Join(o.Faults, ","))
	}
	if o.NoKillers {
		flags = append(flags, "-no-killers")
	}
	if o.Plant != "" {
		flags = append(flags, "-plant "+o.Plant)
	}
	if len(flags) > 0 {
		line += " FLAGS='" + strings.Join(flags, " ") + "'"
	}
	return line
}
