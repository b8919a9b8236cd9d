package main

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// proxy stands between node processes and the server, and misbehaves as networks do.
type proxy struct {
	addr     string
	server   string
	listener net.Listener
	all      sync.WaitGroup

	mu    sync.Mutex
	flows sync.Cond
	stuck [2]bool // no bytes pass, by direction
	delay time.Duration
	ended bool
	open  map[net.Conn]bool
	aim   int // how many settlements are to be cut off from their answers
}

// The directions of traffic.
const (
	toServer = 0
	toClient = 1
)

func startProxy(ctx context.Context, server string) (*proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{addr: listener.Addr().String(), server: server, listener: listener, open: map[net.Conn]bool{}}
	p.flows.L = &p.mu
	p.all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.carry(client) })
		}
	})
	return p, nil
}

// set stops or lets go each direction, and makes each piece wait for a while.
func (p *proxy) set(stuckToServer, stuckToClient bool, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = [2]bool{stuckToServer, stuckToClient}
	p.delay = delay
	p.flows.Broadcast()
}

// aimAt cuts off the next n settlements from their answers: the server does them, and nobody hears of it.
func (p *proxy) aimAt(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aim = n
}

// hit says whether this settlement is one of those.
func (p *proxy) hit() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aim == 0 {
		return false
	}
	p.aim--
	return true
}

// cut ends all connections, without a word to either side of what was under way.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close()
	}
	clear(p.open)
	p.flows.Broadcast()
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.cut()
	p.all.Wait()
}

// hold notes a connection that cut is to end; false when all is over.
func (p *proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		_ = c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	delete(p.open, c)
	p.flows.Broadcast()
	p.mu.Unlock()
}

func (p *proxy) carry(client net.Conn) {
	if !p.hold(client) {
		return
	}
	defer p.drop(client)
	upstream, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	if !p.hold(upstream) {
		return
	}
	defer p.drop(upstream)
	var both sync.WaitGroup
	l := &link{}
	both.Go(func() { p.copy(upstream, client, toServer, l) })
	both.Go(func() { p.copy(client, upstream, toClient, l) })
	both.Wait()
}

func (p *proxy) copy(to, from net.Conn, way int, l *link) {
	defer p.drop(to)
	defer p.drop(from)
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !p.pass(way, from) {
				return
			}
			if way == toServer && l.settles(buf[:n]) && p.hit() {
				l.deaf.Store(true)
			}
			if way == toClient && l.deaf.Load() {
				return // it was done
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while the traffic stands still; false when the connection was cut meanwhile.
func (p *proxy) pass(way int, c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.delay; d > 0 {
		p.mu.Unlock()
		timer := time.NewTimer(d)
		<-timer.C
		p.mu.Lock()
	}
	for p.stuck[way] && !p.ended && p.open[c] {
		p.flows.Wait()
	}
	return p.open[c] && !p.ended
}

// link is what is known of one connection.
type link struct {
	statements [][]byte    // names of prepared statements that settle
	deaf       atomic.Bool // the client gets no more answers
}

// settles says whether the client has a prepared statement executed that settles. The names are those that pgx gives: a chunk that
// prepares one holds its text, and later ones its name alone. What is cut in two by a chunk's end goes unnoticed.
func (l *link) settles(chunk []byte) bool {
	for _, call := range []string{"core_node.settle", "core.ack("} {
		if i := bytes.Index(chunk, []byte(call)); i >= 0 {
			if name := lastName(chunk[:i]); name != nil {
				l.statements = append(l.statements, name)
			}
			return false
		}
	}
	for _, name := range l.statements {
		if bytes.Contains(chunk, name) {
			return true
		}
	}
	return false
}

func lastName(b []byte) []byte {
	i := bytes.LastIndex(b, []byte("stmtcache_"))
	if i < 0 {
		return nil
	}
	name := b[i:]
	if end := bytes.IndexByte(name, 0); end > 0 {
		name = name[:end]
	}
	return bytes.Clone(name)
}
