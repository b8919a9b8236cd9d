package consume

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// finishTimeout bounds the end of a transaction. It has nothing to do with the handler's context, which may be over.
const finishTimeout = 30 * time.Second

var (
	errNotYours  = errors.New("the transaction belongs to the node: a handler may neither commit it nor roll it back")
	errEnded     = errors.New("the handler ended the node's transaction by a statement (commit or rollback); what it had written by then may be committed")
	errUndone    = errors.New("the handler ended the node's transaction by a statement (commit or rollback), which is rolled back; what it wrote after that may be committed")
	errSwallowed = errors.New("a statement failed inside the transaction and its error was not returned")
)

// handlerTx is the transaction as handlers get it: all but its end, which belongs to the loop.
type handlerTx struct {
	pgx.Tx
	touched bool // a handler tried to end it
}

// Commit refuses.
func (tx *handlerTx) Commit(context.Context) error {
	tx.touched = true
	return errNotYours
}

// Rollback refuses.
func (tx *handlerTx) Rollback(context.Context) error {
	tx.touched = true
	return errNotYours
}

// transaction is one that handlers run in.
type transaction struct {
	conn *pgxpool.Conn
	tx   *handlerTx
}

// begin opens a transaction for handlers, and runs also in the same round trip. A connection that died in the pool is found out here, so one more is tried.
func begin(ctx context.Context, pool *pgxpool.Pool, also string) (*transaction, error) {
	for try := 0; ; try++ {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return nil, db.Error(ctx, "begin", err)
		}
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: "begin; " + markSQL + "; " + also})
		if err == nil {
			return &transaction{conn: conn, tx: &handlerTx{Tx: tx}}, nil
		}
		conn.Release()
		if try == 1 || !db.Unavailable(err) {
			return nil, db.Error(ctx, "begin", err)
		}
	}
}

// A mark that ends with the transaction tells it from another one that a handler began after it. It goes with begin, and the
// look for it with the commit, so neither takes a round trip. Where the mark is gone the look fails: the setting is then
// empty, which is no integer.
const (
	markSQL = `set local nexus.handling = '1'`
	lookSQL = `select pg_catalog.current_setting('nexus.handling')::pg_catalog.int4`

	invalidText = "22P02"
)

// ended reports whether a handler has ended the transaction, as far as that is known on this side.
func (t *transaction) ended() bool {
	pg := t.conn.Conn().PgConn()
	return !pg.IsClosed() && pg.TxStatus() == 'I'
}

// commit settles the item as done and commits, in one round trip. ctx is the loop's. An error leaves open whether the
// transaction still is, and if the connection broke even whether it committed; the fence tells.
func (t *transaction) commit(ctx context.Context, s Source, it Item) error {
	if err := t.fault(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	b := &pgx.Batch{}
	marked := queueLook(b)
	s.QueueAck(b, it)
	b.Queue("commit")
	err := t.conn.SendBatch(ctx, b).Close()
	if !*marked {
		return errEnded
	}
	return db.Error(ctx, "ack", err)
}

// queueLook adds the look for the mark to b; the answer is there once b was read.
func queueLook(b *pgx.Batch) (marked *bool) {
	marked = new(bool)
	*marked = true
	b.Queue(lookSQL).QueryRow(func(row pgx.Row) error {
		var mark int32
		err := row.Scan(&mark)
		pg, ok := errors.AsType[*pgconn.PgError](err)
		*marked = !ok || pg.Code != invalidText
		return err
	})
	return marked
}

// fault is why the transaction cannot commit, as far as that is known on this side.
func (t *transaction) fault() error {
	switch pg := t.conn.Conn().PgConn(); {
	case t.tx.touched:
		return errNotYours
	case pg.IsClosed():
		return &nexus.Error{Op: "ack", Code: "08006", Message: "the connection was lost"}
	case t.ended():
		return errEnded
	case pg.TxStatus() == 'E':
		return errSwallowed
	}
	return nil
}

// close rolls back what is still open and gives the connection back. ctx is the loop's.
func (t *transaction) close(ctx context.Context) {
	if conn := t.conn.Conn(); !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(ctx, finishTimeout)
		defer cancel()
		// The pool throws a connection away that is not idle; no other use for the error.
		_, _ = conn.Exec(ctx, "rollback")
	}
	t.conn.Release()
}

// discard closes the connection for good: somebody severs it, perhaps only in a moment, and that must not hit its next user.
func (t *transaction) discard() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = t.conn.Hijack().Close(ctx)
}

// broken reports whether the connection under the handlers broke, which is nothing they can help. What they can help: a
// deadline of their own, which makes the driver close the connection, and sitting idle until the server ends the session.
func (t *transaction) broken(err error) (broken bool) {
	defer func() {
		if recover() != nil { // the methods of a handler's error run here
			broken = false
		}
	}()
	if !t.conn.Conn().IsClosed() || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || pg.Code != idleInTransaction
}

// idleInTransaction is the SQLSTATE of a session that the server ended because of idle_in_transaction_session_timeout.
const idleInTransaction = "25P03"

// sever closes a connection that somebody else is using, and tells the server to stop what it does for it.
func sever(conn *pgx.Conn) {
	pg := conn.PgConn()
	_ = pg.Conn().Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = pg.CancelRequest(ctx) // the server finds out about the socket by itself, only later
}
