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

// effective completes the numbers of workers and refuses what nothing would come of, so that nobody goes on believing it.
func (s *settled) effective(pool *pgxpool.Pool, registered []*Handler) error {
	if err := s.handlers.NoneIdle(s.Timeout); err != nil {
		if idle, ok := errors.AsType[*handlers.Idle](err); ok {
			return invalid(fmt.Sprintf("Handler(%s).%s", idle.Handler, idle.Field), err.Error(), "give both the same, or leave one of them out")
		}
		return err
	}
	conns := max(int(pool.Config().MaxConns), 1)
	if len(registered) == 0 {
		s.Workers, s.LeasedWorkers = max(s.Workers, 1), max(s.LeasedWorkers, 1)
		return nil
	}
	var holding, leased, express bool
	var most, mostLeased *Handler // that ask for workers
	for _, h := range registered {
		of := &most
		if h.leased != nil {
			of, leased = &mostLeased, true
		} else {
			holding = true
		}
		if h.Workers > 0 && (*of == nil || h.Workers > (*of).Workers) {
			*of = h
		}
		express = express || h.Express || h.batch != nil && !h.Leased
	}
	switch {
	case s.Workers > 0 && !holding:
		return invalid("Config.Workers", fmt.Sprintf("Config.Workers is %d, but all handlers are OnLeased, which hold no connection", s.Workers),
			"set Config.LeasedWorkers in its place, or leave it out")
	case s.LeasedWorkers > 0 && !leased:
		return invalid("Config.LeasedWorkers", fmt.Sprintf("Config.LeasedWorkers is %d, but no handler is OnLeased", s.LeasedWorkers),
			"set Config.Workers in its place, or leave it out")
	case s.given.express && !express:
		return invalid("Config.Express", fmt.Sprintf("Config.Express is %s, but no handler is express", s.Express),
			"set Express on an On handler, make one OnBatch, or leave it out: it only says how long an express batch may take")
	case s.Workers > conns:
		return invalid("Config.Workers", fmt.Sprintf("Config.Workers is %d, but each handler in a transaction takes a connection, and the pool has %d", s.Workers, conns),
			fmt.Sprintf("give the pool more (pool_max_conns=%d), or leave Workers out", s.Workers+1))
	case most != nil && s.Workers > 0 && most.Workers > s.Workers:
		return tooMany(most, fmt.Sprintf("Config.Workers is %d for all handlers", s.Workers), "raise Config.Workers, or lower this one")
	case most != nil && most.Workers > conns:
		return tooMany(most, fmt.Sprintf("each takes a connection, and the pool has %d", conns),
			fmt.Sprintf("give the pool more (pool_max_conns=%d), or make the handler OnLeased, which holds none", most.Workers+1))
	case mostLeased != nil && s.LeasedWorkers > 0 && mostLeased.Workers > s.LeasedWorkers:
		return tooMany(mostLeased, fmt.Sprintf("Config.LeasedWorkers is %d for all OnLeased handlers", s.LeasedWorkers), "raise Config.LeasedWorkers, or lower this one")
	}
	if s.Workers == 0 {
		s.Workers = max(conns-1, 1)
		if most != nil {
			s.Workers = max(s.Workers, most.Workers)
		}
	}
	if s.LeasedWorkers == 0 {
		s.LeasedWorkers = defaultLeased
		if mostLeased != nil {
			s.LeasedWorkers = max(s.LeasedWorkers, mostLeased.Workers)
		}
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
