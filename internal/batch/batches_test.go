package batch

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/internal/engine"
	"github.com/nexuspg/nexus/internal/handlers"
	"github.com/nexuspg/nexus/internal/pgmqueue"
	"github.com/nexuspg/nexus/internal/places"
)

// What has to go alone and is left, since something else of the node has the turn, is looked for again when the turn is free, however far
// the walk has gone meanwhile.
// holds: alone-left
func TestBatchesComeBackForWhatTheyLeftAlone(t *testing.T) {
	hs, err := handlers.New([]*handlers.Handler{{Pattern: "*"}}, nexus.RetryPolicy{})
	if err != nil {
		t.Fatal(err)
	}
	b := New(engine.Config{Places: places.New(1), Poll: time.Second, Handlers: hs}, &pgmqueue.Deliveries{Queue: "q"}, time.Minute)
	now := time.Now()
	b.Turn.Take()
	walk := b.ask(now, 10)
	walk.Sweep = false
	b.learn(now, walk, pgmqueue.Found{Alone: 3, LeftAlone: 5, Looked: 100, ScannedTo: 104}, 0)
	now = now.Add(4 * time.Second)
	if a := b.ask(now, 10); a.Floor <= 5 {
		t.Fatalf("the walk goes on at %d: nothing was left behind", a.Floor)
	}
	b.nextAlone()
	if a := b.ask(now, 10); a.Floor > 5 {
		t.Errorf("the walk goes on at %d, beyond what was left", a.Floor)
	}
}
