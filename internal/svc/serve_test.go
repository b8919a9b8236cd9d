package svc_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nexuspg/nexus/internal/svc"
)

// holds: N1 (what a service meets in the data)
func TestWhatAServiceMeetsInTheDataEndsNoNode(t *testing.T) {
	t.Parallel()
	var tries int
	failed := make(chan error, 1)
	fatal := errors.New("fatal")
	h := &svc.Host{
		Handling: t.Context(), Logger: slog.New(slog.DiscardHandler), Fail: func(err error) { failed <- err },
		Patiently: func(ctx context.Context, f func(context.Context) error) error { return f(ctx) },
	}
	r := svc.Serve(h, func(context.Context) error {
		if tries++; tries <= 3 {
			return &pgconn.PgError{Code: []string{"54000", "22P05", "XX001"}[tries-1]}
		}
		return fatal
	})
	r.Start()
	if err := <-failed; !errors.Is(err, fatal) || tries != 4 {
		t.Errorf("ended with %v after %d", err, tries)
	}
	r.Stop(t.Context())
}
