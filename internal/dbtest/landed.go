package dbtest

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// Landed is a database with an earlier version of Nexus, and with the real clock. The file is one that scripts/landed-schema made.
func Landed(t testing.TB, file string) *DB {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	// The one line that only psql understands.
	_, script, found := strings.Cut(string(text), "\\set ON_ERROR_STOP on\n")
	if !found {
		t.Fatalf("%s is no script of migrate dump", file)
	}
	server := URL(t)
	name := fmt.Sprintf("%s%d_%d_%d", clonePrefix, os.Getpid(), time.Now().UnixNano()%1e12, serial.Add(1))
	admin(t, server, "create database "+name+" template template0")
	t.Cleanup(func() { admin(t, server, "drop database if exists "+name+" with (force)") })
	db := open(t, server, name)
	db.Exec(script)
	return db
}
