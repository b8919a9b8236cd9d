package invoke

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// ErrOutlives says that a transaction cannot go on, since its connection is in use.
var ErrOutlives = errors.New("a statement of the handler was still running when the handler returned")

// loan is the node's transaction in the hands of one call of a handler, until that returns.
type loan struct {
	mu      sync.Mutex
	over    bool
	using   int           // statements under way
	idle    chan struct{} // closed when the last statement that outlived the call is through; nil if none did
	touched bool          // the handler tried to end the transaction
	dirty   bool          // it may have changed the session
	lasting bool          // it may have left there what cannot be put back
	exposed bool          // it has seen what the loan does not guard: the connection
}

// enter begins a statement; "" is one of the driver's own.
func (l *loan) enter(sql string) error {
	harmless := sql == "" || plain(sql)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return pgx.ErrTxClosed
	}
	l.using++
	if !harmless {
		l.dirty = true
		l.lasting = l.lasting || lasts(sql)
	}
	return nil
}

func (l *loan) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.using--
	if l.using == 0 && l.idle != nil {
		close(l.idle)
	}
}

// end takes the transaction back. What is left of the call, in goroutines of its own, finds it closed.
func (l *loan) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.using > 0 {
		l.idle = make(chan struct{})
	}
}

func (l *loan) touch() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return pgx.ErrTxClosed
	}
	l.touched = true
	return errNotYours
}

// expose reports whether the loan may hand out what it does not guard.
func (l *loan) expose() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exposed = l.exposed || !l.over
	return !l.over
}

// handlerTx is the transaction as handlers get it: for as long as the call takes, and without its end, which belongs to the loop.
// nested is a savepoint of the handler's, whose end is the handler's.
type handlerTx struct {
	tx     pgx.Tx
	loan   *loan
	nested bool
}

// Begin makes a savepoint.
func (tx *handlerTx) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := tx.loan.enter(""); err != nil {
		return nil, err
	}
	defer tx.loan.leave()
	inner, err := tx.tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &handlerTx{tx: inner, loan: tx.loan, nested: true}, nil
}

// Commit refuses, unless tx is a savepoint.
func (tx *handlerTx) Commit(ctx context.Context) error {
	if !tx.nested {
		return tx.loan.touch()
	}
	if err := tx.loan.enter(""); err != nil {
		return err
	}
	defer tx.loan.leave()
	return tx.tx.Commit(ctx)
}

// Rollback refuses, unless tx is a savepoint.
func (tx *handlerTx) Rollback(ctx context.Context) error {
	if !tx.nested {
		return tx.loan.touch()
	}
	if err := tx.loan.enter(""); err != nil {
		return err
	}
	defer tx.loan.leave()
	return tx.tx.Rollback(ctx)
}

// Exec implements [pgx.Tx].
func (tx *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := tx.loan.enter(sql); err != nil {
		return pgconn.CommandTag{}, err
	}
	defer tx.loan.leave()
	return tx.tx.Exec(ctx, sql, args...)
}

// Query implements [pgx.Tx].
func (tx *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := tx.loan.enter(sql); err != nil {
		return closedRows{}, err
	}
	defer tx.loan.leave()
	return tx.tx.Query(ctx, sql, args...) //nolint:sqlclosecheck // whoever asked closes the rows
}

// QueryRow implements [pgx.Tx].
func (tx *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if tx.loan.enter(sql) != nil {
		return closedRows{}
	}
	defer tx.loan.leave()
	return tx.tx.QueryRow(ctx, sql, args...)
}

// CopyFrom implements [pgx.Tx].
func (tx *handlerTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	if err := tx.loan.enter(""); err != nil {
		return 0, err
	}
	defer tx.loan.leave()
	return tx.tx.CopyFrom(ctx, table, columns, rows)
}

// SendBatch implements [pgx.Tx].
func (tx *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	odd := ""
	for _, q := range b.QueuedQueries {
		if !plain(q.SQL) && (odd == "" || lasts(q.SQL)) {
			odd = q.SQL
		}
	}
	if tx.loan.enter(odd) != nil {
		return pgx.FailedBatchResults(b, pgx.ErrTxClosed)
	}
	defer tx.loan.leave()
	return tx.tx.SendBatch(ctx, b)
}

// Prepare implements [pgx.Tx]. The statement stays with the connection, which is thrown away afterwards.
func (tx *handlerTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	if err := tx.loan.enter("prepare"); err != nil {
		return nil, err
	}
	defer tx.loan.leave()
	return tx.tx.Prepare(ctx, name, sql)
}

// LargeObjects implements [pgx.Tx]. They reach around the loan, so the connection is thrown away afterwards.
func (tx *handlerTx) LargeObjects() pgx.LargeObjects {
	if !tx.loan.expose() {
		return pgx.LargeObjects{}
	}
	return tx.tx.LargeObjects()
}

// Conn returns the connection, nil once the call is over. Whoever keeps it reaches around the loan, so it is thrown away afterwards.
func (tx *handlerTx) Conn() *pgx.Conn {
	if !tx.loan.expose() {
		return nil
	}
	return tx.tx.Conn()
}

// closedRows are those of a transaction that is over.
type closedRows struct{}

func (closedRows) Close()                                       {}
func (closedRows) Err() error                                   { return pgx.ErrTxClosed }
func (closedRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (closedRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (closedRows) Next() bool                                   { return false }
func (closedRows) Scan(...any) error                            { return pgx.ErrTxClosed }
func (closedRows) Values() ([]any, error)                       { return nil, pgx.ErrTxClosed }
func (closedRows) RawValues() [][]byte                          { return nil }
func (closedRows) Conn() *pgx.Conn                              { return nil }
func (closedRows) TypeMap() *pgtype.Map                         { return nil }
