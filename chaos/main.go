package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == asWorker {
		beWorker()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := Options{Out: os.Stdout}
	var names string
	flag.Uint64Var(&o.Seed, "seed", 0, "what the plan is drawn from; 0: a random one, which is printed")
	flag.IntVar(&o.Rounds, "rounds", 10, "how many rounds")
	flag.IntVar(&o.Events, "events", 1500, "events of a round")
	flag.IntVar(&o.Strikes, "strikes", 16, "faults of a round")
	flag.DurationVar(&o.Length, "length", 25*time.Second, "how long the attack of a round lasts")
	flag.StringVar(&names, "faults", "", "only these kinds, with commas between: "+strings.Join(faultNames(), ","))
	flag.BoolVar(&o.NoKillers, "no-killers", false, "no events that kill their process")
	flag.StringVar(&o.Plant, "plant", "", "a bug to plant, which the checker has to find")
	flag.BoolVar(&o.Keep, "keep", false, "leave the server running after a breach")
	flag.BoolVar(&o.Verbose, "v", false, "tell which faults could not strike")
	flag.Parse()
	if names != "" {
		o.Faults = strings.Split(names, ",")
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1_000_000)
	}
	var err error
	if o.Worker, err = workerCommand(); err == nil {
		_, err = Run(ctx, o)
	}
	switch {
	case errors.Is(err, errBreach):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	}
}

// beWorker is the whole life of the process.
func beWorker() {
	if err := worker(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
