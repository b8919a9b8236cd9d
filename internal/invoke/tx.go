package invoke

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/db"
)

// finishTimeout bounds the end of a transaction. It has nothing to do with the handler's context, which may be over.
const finishTimeout = 30 * time.Second

// What handlers do to the transaction that they must not.
var (
	errNotYours  = errors.New("the transaction belongs to the node: a handler may neither commit it nor roll it back")
	ErrEnded     = errors.New("the handler ended the node's transaction by a statement (commit or rollback); what it had written by then may be committed")
	ErrUndone    = errors.New("the handler ended the node's transaction by a statement (commit or rollback), which is rolled back; what it wrote after that may be committed")
	errSwallowed = errors.New("a statement failed inside the transaction and its error was not returned")
)

// Tx is a transaction that handlers run in. Its fields but the first three belong to the goroutine that runs them, and then to the engine.
type Tx struct {
	conn    *pgxpool.Conn
	tx      pgx.Tx // the driver's
	session *Session

	touched  bool    // a handler tried to end it
	exposed  bool    // a handler has the connection
	Lasting  bool    // a handler may have left in the session what cannot be put back
	Dirty    bool    // a handler may have changed the session since it was last put back
	cause    string  // "; " and what says whose transaction it is, to what SQL emits in it
	outlived []*loan // whose statements did not end with the call: the connection is theirs
}

// Lend hands the transaction to one call of a handler. done takes it back.
func (t *Tx) Lend() (tx pgx.Tx, done func()) {
	if t == nil {
		return nil, func() {}
	}
	l := &loan{}
	return &handlerTx{tx: t.tx, loan: l}, func() {
		l.end()
		t.touched = t.touched || l.touched
		t.exposed = t.exposed || l.exposed
		t.Lasting = t.Lasting || l.lasting
		t.Dirty = t.Dirty || l.dirty || l.exposed
		if l.idle != nil {
			t.outlived = append(t.outlived, l)
			go Sever(t.conn.Conn())
		}
	}
}

// Begin opens a transaction for handlers, and runs also in the same round trip; claiming says that it claims as well. A connection that
// died in the pool is found out here, so one more is tried. What SQL emits in it is caused by the delivery that ctx carries, if it does.
func Begin(ctx context.Context, pool *pgxpool.Pool, session *Session, claiming bool, also string) (*Tx, error) {
	d, _ := nexus.DeliveryFrom(ctx)
	cause := causeSQL(d)
	for try := 0; ; try++ {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return nil, db.Error(ctx, "begin", err)
		}
		var tx pgx.Tx
		if err = session.ready(ctx, conn.Conn()); err == nil {
			tx, err = conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: session.beginSQL(claiming, strings.TrimPrefix(cause, "; ")+"; "+also)})
		}
		if err == nil {
			return &Tx{conn: conn, tx: tx, session: session, cause: cause}, nil
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

// Ended reports whether a handler has ended the transaction, as far as that is known on this side.
func (t *Tx) Ended() bool {
	if t.outlived != nil {
		return false
	}
	pg := t.conn.Conn().PgConn()
	return !pg.IsClosed() && pg.TxStatus() == 'I'
}

// Commit adds what ack adds and commits, in one round trip. ctx is the engine's. An error leaves open whether the transaction still is,
// and if the connection broke even whether it committed; the fence tells.
func (t *Tx) Commit(ctx context.Context, ack func(*pgx.Batch)) error {
	if err := t.Fault(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	if err := t.putBack(ctx); err != nil {
		return err
	}
	return t.Finish(ctx, "ack", ack)
}

// Finish commits behind what add adds, all in one round trip, if the transaction still is the one that began. op names the call in errors.
func (t *Tx) Finish(ctx context.Context, op string, add func(*pgx.Batch)) error {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	b := &pgx.Batch{}
	marked := t.queueLook(b)
	add(b)
	b.Queue("commit")
	err := t.conn.SendBatch(ctx, b).Close()
	if !*marked {
		return ErrEnded
	}
	return db.Error(ctx, op, err)
}

// Exec runs a statement of the engine's between calls of handlers. ctx is the engine's.
func (t *Tx) Exec(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	_, err := t.conn.Exec(ctx, sql)
	return err
}

// Replaced reports whether err says that the transaction is not the one that began: a handler ended that, and began another one.
func Replaced(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == noSavepoint || pg.Code == invalidText)
}

// ReadOnly reports whether err, of the end of a transaction, says that it may not write. It began as one that writes, which no standby
// allows: so it is its handler that had it read only.
func ReadOnly(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code == "25006"
}

// noSavepoint is the SQLSTATE of a savepoint that is not there.
const noSavepoint = "3B001"

// Between is what puts the session back inside the transaction, but for the limit of express; 0: none.
func (t *Tx) Between(limit time.Duration) string { return t.session.betweenSQL(limit) + t.cause }

// CausedBy notes whose transaction it is, where that is known after it began; what claimed has told the database.
func (t *Tx) CausedBy(d *nexus.Delivery) { t.cause = causeSQL(d) }

func causeSQL(d *nexus.Delivery) string {
	if cause := db.Cause(d); cause != "" {
		return "; set local nexus.cause = " + literal(cause)
	}
	return ""
}

// Forgive forgets that a handler tried to end it, whose attempt is undone.
func (t *Tx) Forgive() { t.touched = false }

// Outlived reports whether statements of a handler outlived its call: the connection is theirs.
func (t *Tx) Outlived() bool { return t.outlived != nil }

// Conn is under the transaction.
func (t *Tx) Conn() *pgx.Conn { return t.conn.Conn() }

// putBack puts the session back that a handler may have changed, before anything is parsed in it. What was deferred to the commit
// happens before, as the handler meant it.
func (t *Tx) putBack(ctx context.Context) error {
	if !t.Dirty {
		return nil
	}
	_, err := t.conn.Exec(ctx, "set constraints all immediate; "+t.session.betweenSQL(0))
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == invalidText {
		return ErrEnded
	}
	return db.Error(ctx, "ack", err)
}

// queueLook adds the look for the mark to b, whose answer is there once b was read, and what puts the session back.
func (t *Tx) queueLook(b *pgx.Batch) (marked *bool) {
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

// Fault is why the transaction cannot commit, as far as that is known on this side.
func (t *Tx) Fault() error {
	switch pg := t.conn.Conn().PgConn(); {
	case t.outlived != nil:
		return ErrOutlives
	case t.touched:
		return errNotYours
	case pg.IsClosed():
		return &nexus.Error{Op: "ack", Code: "08006", Message: "the connection was lost"}
	case t.Ended():
		return ErrEnded
	case pg.TxStatus() == 'E':
		return errSwallowed
	}
	return nil
}

// Close rolls back what is still open and gives the connection back. ctx is the engine's.
func (t *Tx) Close(ctx context.Context) {
	if t.outlived != nil {
		t.Discard()
		return
	}
	if conn := t.conn.Conn(); !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(ctx, finishTimeout)
		defer cancel()
		// The pool throws a connection away that is not idle; no other use for the error.
		_, _ = conn.Exec(ctx, rollbackSQL)
	}
	if t.exposed || t.Lasting {
		t.Discard()
		return
	}
	t.conn.Release()
}

// Lost reports whether the connection is gone.
func (t *Tx) Lost() bool { return t.outlived != nil || t.conn.Conn().IsClosed() }

// Discard closes the connection for good: somebody severs it, perhaps only in a moment, or may go on using it, and that must not hit
// its next user.
func (t *Tx) Discard() {
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

func (t *Tx) hangUp() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = t.conn.Hijack().Close(ctx)
}

// Broken reports whether the connection under the handlers broke, which is nothing they can help. What they can help: a
// deadline of their own, which makes the driver close the connection, and sitting idle until the server ends the session.
func (t *Tx) Broken(err error) (broken bool) {
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

// Sever closes a connection that somebody else is using, and tells the server to stop what it does for it.
func Sever(conn *pgx.Conn) {
	pg := conn.PgConn()
	_ = pg.Conn().Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = pg.CancelRequest(ctx) // the server finds out about the socket by itself, only later
}
