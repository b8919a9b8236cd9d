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
	"github.com/nexuspg/nexus/internal/work"
)

// finishTimeout bounds the end of a transaction. It has nothing to do with the handler's context, which may be over.
const finishTimeout = 30 * time.Second

var (
	errNotYours  = errors.New("the transaction belongs to the node: a handler may neither commit it nor roll it back")
	errEnded     = errors.New("the handler ended the node's transaction by a statement (commit or rollback); what it had written by then may be committed")
	errUndone    = errors.New("the handler ended the node's transaction by a statement (commit or rollback), which is rolled back; what it wrote after that may be committed")
	errSwallowed = errors.New("a statement failed inside the transaction and its error was not returned")
)

// transaction is one that handlers run in. Its fields but the first three belong to the goroutine that runs them, and then to the loop.
type transaction struct {
	conn    *pgxpool.Conn
	tx      pgx.Tx // the driver's
	session *Session

	touched  bool    // a handler tried to end it
	exposed  bool    // a handler has the connection
	lasting  bool    // a handler may have left in the session what cannot be put back
	dirty    bool    // a handler may have changed the session since it was last put back
	outlived []*loan // whose statements did not end with the call: the connection is theirs
}

// lend hands the transaction to one call of a handler. done takes it back.
func (t *transaction) lend() (tx pgx.Tx, done func()) {
	if t == nil {
		return nil, func() {}
	}
	l := &loan{}
	return &handlerTx{tx: t.tx, loan: l}, func() {
		l.end()
		t.touched = t.touched || l.touched
		t.exposed = t.exposed || l.exposed
		t.lasting = t.lasting || l.lasting
		t.dirty = t.dirty || l.dirty || l.exposed
		if l.idle != nil {
			t.outlived = append(t.outlived, l)
			go sever(t.conn.Conn())
		}
	}
}

// begin opens a transaction for handlers, and runs also in the same round trip; claiming says that it claims as well. A connection that
// died in the pool is found out here, so one more is tried.
func (cfg *Config) begin(ctx context.Context, claiming bool, also string) (*transaction, error) {
	for try := 0; ; try++ {
		conn, err := cfg.Pool.Acquire(ctx)
		if err != nil {
			return nil, db.Error(ctx, "begin", err)
		}
		var tx pgx.Tx
		if err = cfg.Session.ready(ctx, conn.Conn()); err == nil {
			tx, err = conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: cfg.Session.beginSQL(claiming, also)})
		}
		if err == nil {
			return &transaction{conn: conn, tx: tx, session: cfg.Session}, nil
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

	// With the last look goes what every transaction owes the next user of its session, and the ack its login.
	lastLookSQL = lookSQL + `, case when pg_catalog.current_setting('role') operator(pg_catalog.<>) $1::pg_catalog.text
  then pg_catalog.set_config('role', $1::pg_catalog.text, false) end, pg_catalog.pg_advisory_unlock_all() is null`

	rollbackSQL = `rollback; select pg_catalog.pg_advisory_unlock_all()`

	invalidText = "22P02"
)

// ended reports whether a handler has ended the transaction, as far as that is known on this side.
func (t *transaction) ended() bool {
	if t.outlived != nil {
		return false
	}
	pg := t.conn.Conn().PgConn()
	return !pg.IsClosed() && pg.TxStatus() == 'I'
}

// commit settles the item as done and commits, in one round trip. ctx is the loop's. An error leaves open whether the
// transaction still is, and if the connection broke even whether it committed; the fence tells.
func (t *transaction) commit(ctx context.Context, s Source, it work.Item) error {
	if err := t.fault(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	if err := t.putBack(ctx); err != nil {
		return err
	}
	b := &pgx.Batch{}
	marked := t.queueLook(b)
	s.QueueAck(b, it)
	b.Queue("commit")
	err := t.conn.SendBatch(ctx, b).Close()
	if !*marked {
		return errEnded
	}
	return db.Error(ctx, "ack", err)
}

// putBack puts the session back that a handler may have changed, before anything is parsed in it. What was deferred to the commit
// happens before, as the handler meant it.
func (t *transaction) putBack(ctx context.Context) error {
	if !t.dirty {
		return nil
	}
	_, err := t.conn.Exec(ctx, "set constraints all immediate; "+t.session.betweenSQL(0))
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == invalidText {
		return errEnded
	}
	return db.Error(ctx, "ack", err)
}

// queueLook adds the look for the mark to b, whose answer is there once b was read, and what puts the session back.
func (t *transaction) queueLook(b *pgx.Batch) (marked *bool) {
	marked = new(bool)
	*marked = true
	b.Queue(lastLookSQL, t.session.role).QueryRow(func(row pgx.Row) error {
		var mark int32
		var role *string
		var locks bool
		err := row.Scan(&mark, &role, &locks)
		pg, ok := errors.AsType[*pgconn.PgError](err)
		*marked = !ok || pg.Code != invalidText
		return err
	})
	return marked
}

// fault is why the transaction cannot commit, as far as that is known on this side.
func (t *transaction) fault() error {
	switch pg := t.conn.Conn().PgConn(); {
	case t.outlived != nil:
		return errOutlives
	case t.touched:
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
	if t.outlived != nil {
		t.discard()
		return
	}
	if conn := t.conn.Conn(); !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(ctx, finishTimeout)
		defer cancel()
		// The pool throws a connection away that is not idle; no other use for the error.
		_, _ = conn.Exec(ctx, rollbackSQL)
	}
	if t.exposed || t.lasting {
		t.discard()
		return
	}
	t.conn.Release()
}

// lost reports whether the connection is gone.
func (t *transaction) lost() bool { return t.outlived != nil || t.conn.Conn().IsClosed() }

// discard closes the connection for good: somebody severs it, perhaps only in a moment, or may go on using it, and that must not hit
// its next user.
func (t *transaction) discard() {
	if t.outlived != nil {
		go func() {
			for _, l := range t.outlived {
				<-l.idle // soon, since the connection is severed
			}
			t.hangUp()
		}()
		return
	}
	t.hangUp()
}

func (t *transaction) hangUp() {
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
	if t.outlived != nil || !t.conn.Conn().IsClosed() || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
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
