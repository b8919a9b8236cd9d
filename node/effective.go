package node

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus/internal/handlers"
)

const (
	mostWorkers = 10_000

	// defaultLeased is what a crash leaves to be run one at a time, see Config.LeasedWorkers, and still covers 250 calls of 200 ms a second.
	defaultLeased = 50
)

// asked is what handlers ask of the configuration.
type asked struct {
	holding, leased, express bool
	most, mostLeased         *Handler // that ask for workers
}

func ask(handlers []*Handler) (a asked) {
	for _, h := range handlers {
		of := &a.most
		if h.onLeased != nil || h.answer != nil {
			of, a.leased = &a.mostLeased, true
		} else {
			a.holding = true
		}
		if h.Workers > 0 && (*of == nil || h.Workers > (*of).Workers) {
			*of = h
		}
		a.express = a.express || h.Express || h.onBatch != nil && !h.Leased
	}
	return a
}

// effective completes the numbers of workers and refuses what nothing would come of, so that nobody goes on believing it.
func (s *plan) effective(pool *pgxpool.Pool, handlers []*Handler) error {
	if err := s.noneIdle(); err != nil {
		return err
	}
	a, conns := ask(handlers), connsOf(pool)
	switch {
	case len(handlers) == 0: // takes any configuration
	case s.Workers > 0 && !a.holding:
		return invalid("Config.Workers", fmt.Sprintf("Config.Workers is %d, but all handlers are OnLeased, which hold no connection", s.Workers),
			"set Config.LeasedWorkers in its place, or leave it out")
	case s.LeasedWorkers > 0 && !a.leased:
		return invalid("Config.LeasedWorkers", fmt.Sprintf("Config.LeasedWorkers is %d, but no handler is OnLeased", s.LeasedWorkers),
			"set Config.Workers in its place, or leave it out")
	case s.given.express && !a.express:
		return invalid("Config.Express", fmt.Sprintf("Config.Express is %s, but no handler is express", s.Express),
			"set Express on an On handler, make one OnBatch, or leave it out: it only says how long an express batch may take")
	}
	if err := s.enough(a, conns); err != nil {
		return err
	}
	if s.Workers == 0 {
		s.Workers = max(conns-1, 1)
		if a.most != nil {
			s.Workers = max(s.Workers, a.most.Workers)
		}
	}
	if s.LeasedWorkers == 0 {
		s.LeasedWorkers = defaultLeased
		if a.mostLeased != nil {
			s.LeasedWorkers = max(s.LeasedWorkers, a.mostLeased.Workers)
		}
	}
	return nil
}

// fit refuses handlers that the numbers of workers, as they were decided before, do not serve.
func (s *plan) fit(pool *pgxpool.Pool, handlers []*Handler) error {
	if err := s.noneIdle(); err != nil {
		return err
	}
	return s.enough(ask(handlers), connsOf(pool))
}

func connsOf(pool *pgxpool.Pool) int { return max(int(pool.Config().MaxConns), 1) }

// noneIdle refuses settings of handlers that another one leaves nothing to.
func (s *plan) noneIdle() error {
	all := make([]*handlers.Handlers, 0, len(s.consumers)+1)
	for _, c := range s.consumers {
		all = append(all, c.handlers)
	}
	if s.broadcasts != nil {
		all = append(all, s.broadcasts)
	}
	for _, hs := range all {
		err := hs.NoneIdle(s.Timeout)
		if idle, ok := errors.AsType[*handlers.Idle](err); ok {
			return invalid(fmt.Sprintf("Handler(%s).%s", idle.Handler, idle.Field), err.Error(), "give both the same, or leave one of them out")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enough refuses more workers than there can be. Numbers that are zero are not decided yet.
func (s *plan) enough(a asked, conns int) error {
	switch {
	case a.holding && s.Workers > conns:
		return invalid("Config.Workers", fmt.Sprintf("Config.Workers is %d, but each handler in a transaction takes a connection, and the pool has %d", s.Workers, conns),
			fmt.Sprintf("give the pool more (pool_max_conns=%d), or leave Workers out", s.Workers+1))
	case a.most != nil && s.Workers > 0 && a.most.Workers > s.Workers:
		return tooMany(a.most, fmt.Sprintf("Config.Workers is %d for all handlers", s.Workers), "raise Config.Workers, or lower this one")
	case a.most != nil && a.most.Workers > conns:
		return tooMany(a.most, fmt.Sprintf("each takes a connection, and the pool has %d", conns),
			fmt.Sprintf("give the pool more (pool_max_conns=%d), or make the handler OnLeased, which holds none", a.most.Workers+1))
	case a.mostLeased != nil && s.LeasedWorkers > 0 && a.mostLeased.Workers > s.LeasedWorkers:
		return tooMany(a.mostLeased, fmt.Sprintf("Config.LeasedWorkers is %d for all OnLeased handlers", s.LeasedWorkers), "raise Config.LeasedWorkers, or lower this one")
	}
	return nil
}

func tooMany(h *Handler, but, hint string) error {
	name := h.Name
	if name == "" {
		name = h.pattern
	}
	field := fmt.Sprintf("Handler(%s).Workers", name)
	return invalid(field, fmt.Sprintf("%s is %d, but %s", field, h.Workers, but), hint)
}
