package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/cmd/nexus-node/internal/config"
)

// asDemo is the command line with which the test binary is the whole demo.
const asDemo = "be-demo"

// served are the handlers the test binary can serve as a node with, by the word on its command line.
var served = map[string]handlers{
	"be-node":           honest,
	"be-leaky-node":     {webhook: leaky, report: leakyReport, audit: leakyAudit, parcel: leakyParcel},
	"be-forgetful-node": {webhook: forgetful, report: forgetfulReport, audit: forgetfulAudit, parcel: forgetfulParcel},
	"be-dying-node":     {webhook: dying, report: report, audit: audit, parcel: tellOfParcel},
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if os.Args[1] == asDemo {
			beDemo()
		}
		if h, ok := served[os.Args[1]]; ok {
			beNode(h)
		}
	}
	goleak.VerifyTestMain(m)
}

func beNode(h handlers) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	exit(serve(ctx, os.Stdin, os.Getenv(config.EnvDatabaseURL), os.Args[2], log, h))
}

func beDemo() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	list, err := parse(written)
	if err != nil {
		exit(err)
	}
	// More events than there will be time for.
	exit(run(ctx, Options{Events: 1_000_000, Out: os.Stdout, NodeArgs: nodeArgs("be-node")}, list, "the test"))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func nodeArgs(word string) []string { return []string{os.Args[0], word} }

// leaky writes outside its transaction, so that a failed attempt keeps its effect.
func leaky(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error {
	if d.Type != flakyType {
		return aggregate(ctx, tx, d, node)
	}
	return outside(ctx, tx, `insert into demo.handled (event_uid, node, attempt) values ($1, $2, $3)`, d.UID, node, d.Attempt)
}

// leakyReport does the same and fails once.
func leakyReport(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error {
	if err := outside(ctx, tx, writeReport, d.UID, node, d.Attempt); err != nil {
		return err
	}
	if d.Attempt == 1 {
		return errors.New("the printer is out of paper")
	}
	return nil
}

// leakyAudit is as leaky for one type.
func leakyAudit(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error {
	if d.Type != forgottenType {
		return audit(ctx, tx, d, node)
	}
	if err := outside(ctx, tx, writeAudit, d.UID, node, d.Attempt); err != nil {
		return err
	}
	if d.Attempt == 1 {
		return errors.New("the auditor was not pleased")
	}
	return nil
}

// leakyParcel is as leaky for what it takes.
func leakyParcel(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error {
	p, err := changed(d)
	if err != nil || p.Status != arrived {
		return tellOfParcel(ctx, tx, d, node)
	}
	if err := outside(ctx, tx, writeTold, p.ID, node); err != nil {
		return err
	}
	if d.Attempt == 1 {
		return errors.New("nobody is at home")
	}
	return nil
}

// outside writes on a connection of its own.
func outside(ctx context.Context, tx pgx.Tx, sql string, args ...any) error {
	conn, err := pgx.ConnectConfig(ctx, tx.Conn().Config())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, sql, args...)
	return err
}

// forgetful says that it did what it did not do.
func forgetful(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error {
	if d.Type == forgottenType {
		return nil
	}
	return aggregate(ctx, tx, d, node)
}

func forgetfulAudit(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error {
	if d.Type == forgottenType {
		return nil
	}
	return audit(ctx, tx, d, node)
}

func forgetfulParcel(ctx context.Context, tx pgx.Tx, d *nexus.Delivery, node string) error {
	if p, err := changed(d); err != nil || p.ID == 1 {
		return err
	}
	return tellOfParcel(ctx, tx, d, node)
}

func forgetfulReport(context.Context, pgx.Tx, *nexus.Delivery, string) error { return nil }

const forgottenType = "github.issues.opened"

// dying takes its process along.
func dying(context.Context, pgx.Tx, *nexus.Delivery, string) error {
	_, _ = io.WriteString(os.Stderr, "my last words\n")
	exit(errors.New("out of luck"))
	return nil
}
