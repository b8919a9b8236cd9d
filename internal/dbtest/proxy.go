package dbtest

import (
	"net"
	"net/url"
	"sync"
)

// Proxy stands between a pool and the server. It can stall, as a network does that drops packets without a word: connections stay
// open, and nothing goes through.
type Proxy struct {
	URL string // of the ordinary login, through the proxy

	mu    sync.Mutex
	flows sync.Cond
	stuck bool
	deaf  bool // answers of the server do not get through
	conns map[net.Conn]struct{}
	ended bool
}

// Proxy starts one, until the test ends.
func (db *DB) Proxy() *Proxy {
	db.t.Helper()
	u, err := url.Parse(db.URL)
	if err != nil {
		db.t.Fatal(err)
	}
	server := u.Host
	listener, err := new(net.ListenConfig).Listen(db.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		db.t.Fatal(err)
	}
	u.Host = listener.Addr().String()
	p := &Proxy{URL: u.String(), conns: map[net.Conn]struct{}{}}
	p.flows.L = &p.mu
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.carry(client, server) })
		}
	})
	db.t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		p.Stall(false)
		all.Wait()
	})
	return p
}

// Stall stops all traffic, or lets it go on.
func (p *Proxy) Stall(stuck bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = stuck
	p.flows.Broadcast()
}

// Deafen keeps the server's answers back, or lets them through: what is asked is done, and who asked does not hear of it.
func (p *Proxy) Deafen(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = deaf
	p.flows.Broadcast()
}

// Cut ends all connections; answers that were kept back never arrive.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
		delete(p.conns, c)
	}
	p.flows.Broadcast()
}

func (p *Proxy) carry(client net.Conn, server string) {
	defer client.Close()
	if !p.pass() {
		return
	}
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer upstream.Close()
	p.mu.Lock()
	p.conns[client] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
	}()
	var both sync.WaitGroup
	copying := func(to, from net.Conn, answers bool) {
		defer to.Close()
		buf := make([]byte, 16<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				if !p.pass() || answers && !p.heard(client) {
					return
				}
				if _, err := to.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				p.pass() // a goodbye stands still too
				return
			}
		}
	}
	both.Go(func() { copying(upstream, client, false) })
	both.Go(func() { copying(client, upstream, true) })
	both.Wait()
}

// pass waits while the traffic stands still; false at the end of the test.
func (p *Proxy) pass() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.stuck && !p.ended {
		p.flows.Wait()
	}
	return !p.ended
}

// heard waits while answers are kept back; false if the connection was cut meanwhile, or at the end of the test.
func (p *Proxy) heard(client net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.deaf && !p.ended {
		if _, alive := p.conns[client]; !alive {
			return false
		}
		p.flows.Wait()
	}
	return !p.ended
}
