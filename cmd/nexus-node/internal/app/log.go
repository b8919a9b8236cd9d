package app

import (
	"io"
	"log/slog"

	"github.com/rs/zerolog"
)

// Logger writes JSON lines of at least the given level: debug, info, warn or error.
func Logger(w io.Writer, level string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger()
}

// Slog is what packages are given: they know slog, and zerolog writes.
func Slog(z zerolog.Logger) *slog.Logger { return slog.New(zerolog.NewSlogHandler(z)) }
