package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/nexuspg/nexus"
)

// journal is a file that one process appends to. It outlives the process, however that ends, and needs no database.
type journal struct{ file *os.File }

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &journal{f}, err
}

// The kinds of lines.
const (
	kindBegin = "begin"
	kindEnd   = "end"
	kindKill  = "kill" // the last word of a process that an event kills
)

// write appends a line a delivery, all in one piece.
func (j *journal) write(kind string, m mode, batch []*nexus.Delivery, verdict func(int) string) {
	var b strings.Builder
	at := time.Now().UnixMicro()
	for i, d := range batch {
		fmt.Fprintf(&b, "%d,%s,%s,%d,%d,%d,%s,%d,%s\n", at, kind, d.UID, d.MessageID, d.Attempt, d.Deferrals, m, os.Getpid(), verdict(i))
	}
	if _, err := j.file.WriteString(b.String()); err != nil {
		panic(err) // without its journal nothing can be judged
	}
}

func (j *journal) begin(m mode, batch ...*nexus.Delivery) {
	j.write(kindBegin, m, batch, func(int) string { return "" })
}

func (j *journal) end(m mode, d *nexus.Delivery, err error) {
	j.write(kindEnd, m, []*nexus.Delivery{d}, func(int) string { return verdictOf(err) })
}

func verdictOf(err error) string {
	var v *nexus.Verdict
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &v):
		return string(v.Action)
	case errors.Is(err, errScripted):
		return "failed"
	}
	// The database went away under it, or its context ended.
	return "broken"
}

// loadJournals puts the files of a folder into the table.
func loadJournals(ctx context.Context, conn *pgx.Conn, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return err
	}
	var rows [][]any
	for _, path := range files {
		if err := readJournal(path, func(row []any) { rows = append(rows, row) }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	columns := []string{"at", "kind", "uid", "msg_id", "attempt", "deferrals", "mode", "pid", "verdict"}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"chaos", "journal"}, columns, pgx.CopyFromRows(rows))
	return err
}

func readJournal(path string, each func([]any)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		numbers := make([]int64, 5)
		for i, at := range []int{0, 3, 4, 5, 7} {
			if numbers[i], err = strconv.ParseInt(fields[at], 10, 64); err != nil {
				return err
			}
		}
		uid, err := uuid.Parse(fields[2])
		if err != nil {
			return err
		}
		each([]any{time.UnixMicro(numbers[0]), fields[1], [16]byte(uid), numbers[1], numbers[2], numbers[3], fields[6], numbers[4], fields[8]})
	}
}
