package sqlwork

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// Own runs the handlers of the namespace that the login of the pool owns, until nothing is due, limit events are done (0: any number), or ctx ends.
// What is claimed by then is run. A session that handlers ran in does not come back to the pool.
func Own(ctx context.Context, pool *pgxpool.Pool, ns nexus.Namespace, limit int, log *slog.Logger) (Counts, error) {
	s := &session{own: true, namespace: ns, log: log}
	defer s.drop()
	for ctx.Err() == nil && (limit == 0 || s.did.All() < limit) {
		most := atOnce
		if limit > 0 {
			most = min(most, limit-s.did.All())
		}
		b, err := s.nextOwn(ctx, pool, most)
		if err != nil || b == nil {
			return s.did, err
		}
		if err := s.run(context.WithoutCancel(ctx), b); err != nil {
			return s.did, err
		}
	}
	return s.did, ctx.Err()
}

// nextOwn claims, on the session there is, else on one of the pool, which gives it away only if there is something to run in it.
func (s *session) nextOwn(ctx context.Context, pool *pgxpool.Pool, limit int) (*batch, error) {
	if s.conn != nil && !s.conn.IsClosed() {
		return s.claim(ctx, limit)
	}
	borrowed, err := pool.Acquire(ctx)
	if err != nil {
		return nil, db.Error(ctx, "claim_own", err)
	}
	s.conn = borrowed.Conn()
	b, err := s.claim(ctx, limit)
	if err != nil || b == nil || len(b.ids) == 0 {
		s.conn = nil
		borrowed.Release()
		return b, err
	}
	s.conn = borrowed.Hijack()
	return b, nil
}
