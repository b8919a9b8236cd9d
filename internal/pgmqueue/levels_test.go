package pgmqueue

import (
	"testing"
	"time"

	"github.com/nexuspg/nexus/internal/work"
)

// flood is a queue with levels that hold so many items: a claim takes them as core_private.find_due_by_level does.
type flood [maxLevels]int

func (q *flood) claim(w *walk, now time.Time, limit int) (took [maxLevels]int) {
	a := w.begin(now, &work.Want{Limit: limit, Woken: true}, limit, false)
	s, next := new(seen), map[int]int64{}
	for _, level := range a.order {
		if len(s.Items) == limit {
			break
		}
		n := min(q[level], limit-len(s.Items))
		for range n {
			next[level]++
			s.Items = append(s.Items, &delivery{msgID: int64(level)*levelSpan + next[level]})
		}
		q[level] -= n
		took[level] = n
		s.windows = append(s.windows, window{looked: n, scannedTo: int64(level)*levelSpan + next[level]})
	}
	w.end(now, a, s)
	return took
}

// Under a flood in all levels each gets its share, whatever a claim takes at once, and no more than that.
// holds: levels
func TestEachLevelKeepsItsShareUnderAFlood(t *testing.T) {
	for _, limit := range []int{1, 3, 50, 200} {
		w, q := new(walk), &flood{1e9, 1e9, 1e9, 1e9}
		w.have(maxLevels)
		var took [maxLevels]int
		total := 0
		for total < 100_000 {
			for level, n := range q.claim(w, time.Now(), limit) {
				took[level] += n
				total += n
			}
		}
		before := took[0]
		for level := 1; level < maxLevels; level++ {
			want := before / shares[level]
			if took[level] < want-2*limit || took[level] > want+2*limit {
				t.Errorf("with %d at once level %d got %d of %d, want one for each %d of the %d before it", limit, level+1, took[level], total, shares[level], before)
			}
			before += took[level]
		}
	}
}

// One by one: eight of the first level, then one of the second; what comes first does so as soon as it is there.
// holds: levels
func TestWhatComesFirstGoesFirst(t *testing.T) {
	w, q := new(walk), &flood{20, 20}
	w.have(2)
	order := ""
	for range 20 {
		order += []string{"", "1", "2"}[func() int {
			for level, n := range q.claim(w, time.Now(), 1) {
				if n > 0 {
					return level + 1
				}
			}
			return 0
		}()]
	}
	if want := "11111111211111111211"; order != want {
		t.Errorf("it goes %s, want %s", order, want)
	}
}

// What a level got while nothing waited before it is no debt, and a level in which nothing waits saves up nothing.
// holds: levels
func TestAnIdleLevelNeitherOwesNorSaves(t *testing.T) {
	w, q := new(walk), &flood{0, 1000}
	w.have(2)
	for range 500 {
		q.claim(w, time.Now(), 1)
	}
	q[0] = 1000
	got := 0
	for range 90 {
		got += q.claim(w, time.Now(), 1)[1]
	}
	if got != 10 {
		t.Errorf("after a time alone the lower level gets %d of 90, want 10", got)
	}
	q[1] = 0
	lookedFirst := 0
	for range 500 {
		if w.turns.waits[1] >= shares[1] {
			lookedFirst++
		}
		q.claim(w, time.Now(), 1)
	}
	if lookedFirst > 500/shares[1] {
		t.Errorf("%d of 500 claims begin with a level in which nothing waits", lookedFirst)
	}
	q[1] = 1000
	got = 0
	for range 90 {
		got += q.claim(w, time.Now(), 1)[1]
	}
	if got > 11 {
		t.Errorf("after a time of rest the lower level gets %d of 90, want 10", got)
	}
}

// A sweep looks at each level from where it begins. A flood ends it in the first one, so a lower one is looked at so when it has its turn.
// holds: levels
func TestEachLevelIsSwept(t *testing.T) {
	w, q := new(walk), &flood{1e9, 1e9, 1e9}
	w.have(3)
	now := time.Now()
	for range 100 { // each gets a floor
		q.claim(w, now, 1)
	}
	now = now.Add(2 * lateCommit)
	a := w.begin(now, &work.Want{Limit: 1}, 1, false)
	if !a.sweep || a.floors[0] != 0 || a.floors[1] != levelSpan || a.floors[2] != 2*levelSpan {
		t.Fatalf("a sweep %v looks from %v", a.sweep, a.floors)
	}
	w.end(now, a, &seen{windows: []window{{looked: 1, scannedTo: 1}}, Got: work.Got{Items: []work.Item{&delivery{msgID: 1}}}})
	swept := map[int]int{}
	for range 20 {
		now = now.Add(sweepMax / 10)
		for range 100 {
			a := w.begin(now, &work.Want{Limit: 1, Woken: true}, 1, false)
			level := a.order[0]
			if a.floors[0] == int64(level)*levelSpan {
				swept[level]++
			}
			id := int64(level)*levelSpan + 1000
			w.end(now, a, &seen{windows: []window{{looked: 1, scannedTo: id}}, Got: work.Got{Items: []work.Item{&delivery{msgID: id}}}})
		}
	}
	if swept[0] != 0 || swept[1] < 2 || swept[1] > 3 || swept[2] < 2 || swept[2] > 3 {
		t.Errorf("in the time of two sweeps levels are swept %v times in their turns", swept)
	}
}

// Levels come and go while a node runs: it hears of it, and begins each anew. What is left of a level that there was counts for the last one.
// holds: levels
func TestTheNumberOfLevelsIsLearned(t *testing.T) {
	w := new(walk)
	now := time.Now()
	want := &work.Want{Limit: 1}
	a := w.begin(now, want, 1, false)
	if a.floors != nil || a.sweep {
		t.Fatal("it goes by levels, or by due time, before it knows of any")
	}
	if !w.end(now, a, &seen{levels: 3}) {
		t.Error("it does not look again")
	}
	if a = w.begin(now, want, 1, false); len(a.floors) != 3 {
		t.Fatalf("it looks at %d levels, want 3", len(a.floors))
	}
	w.end(now, a, &seen{levels: 2, windows: []window{{}, {}, {}}})
	a = w.begin(now, &work.Want{Limit: 9, Woken: true}, 9, false)
	s := &seen{windows: []window{{}, {looked: 1, scannedTo: 3*levelSpan + 5}}, Got: work.Got{Items: []work.Item{&delivery{msgID: 3*levelSpan + 5}}}}
	if parts := s.parts(a.order, 9); len(parts[1].Items) != 1 {
		t.Errorf("the last level has %d items, want the one that was left", len(parts[1].Items))
	}
	w.end(now, a, s)
	now = now.Add(2 * lateCommit)
	a = w.begin(now, &work.Want{Limit: 9, Woken: true}, 9, false)
	if len(a.floors) != 2 || a.floors[1] != levelSpan {
		t.Errorf("the floors are %v, want the last one where its level begins", a.floors)
	}
	w.end(now, a, &seen{levels: 1, windows: []window{{}, {}}})
	if a = w.begin(now, want, 1, false); a.floors != nil {
		t.Error("one level has floors")
	}
}

// Claims that were sent before another number of levels was known come back after it: they looked at other levels than there are now, and the
// walk learns nothing from them.
// holds: levels
func TestAClaimOfOtherLevelsTeachesNothing(t *testing.T) {
	for _, change := range [][2]int{{1, 2}, {2, 1}, {3, 2}, {4, 1}, {0, 2}, {2, 4}} {
		from, to := change[0], change[1]
		w, now := new(walk), time.Now()
		w.have(from)
		want := &work.Want{Limit: 10}
		sent := []look{w.begin(now, want, 10, false), w.begin(now, want, 10, false)}
		for i, a := range sent {
			s := found(3, levelSpan+2, 3*levelSpan+5)
			s.levels, s.Items = to, []work.Item{&delivery{msgID: 3}, &delivery{msgID: levelSpan + 2}, &delivery{msgID: 3*levelSpan + 5}}
			for range a.order {
				s.windows = append(s.windows, window{looked: 1, scannedTo: 3*levelSpan + 5})
			}
			if !w.end(now, a, s) {
				t.Errorf("%d to %d levels: after claim %d it does not look again", from, to, i+1)
			}
		}
		if w.sweep.under {
			t.Errorf("%d to %d levels: the sweep counts as under way", from, to)
		}
		want.Woken = true
		a := w.begin(now.Add(2*lateCommit), want, 10, false)
		if to == 1 && (a.floors != nil || a.floor != 0) || to > 1 && len(a.floors) != to {
			t.Errorf("%d to %d levels: it looks from %d, %v", from, to, a.floor, a.floors)
		}
		for n, floor := range a.floors {
			if floor != int64(a.order[n])*levelSpan {
				t.Errorf("%d to %d levels: it looks from %v", from, to, a.floors)
			}
		}
	}
}
