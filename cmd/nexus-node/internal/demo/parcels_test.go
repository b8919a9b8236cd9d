package demo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestJudgeOfParcels(t *testing.T) {
	t.Parallel()
	good := func() *Parcels {
		return &Parcels{Told: parcels, Posted: parcels, Mended: 1, Answered: parcels}
	}
	if err := good().judge(); err != nil {
		t.Errorf("what is right is called wrong: %v", err)
	}
	for name, spoil := range map[string]func(p *Parcels){
		"a change came to nobody":                    func(p *Parcels) { p.Lost = 1 },
		"an effect is there two times":               func(p *Parcels) { p.Doubled = 1 },
		"a signature is bad":                         func(p *Parcels) { p.Refused = 1 },
		"the dead letter lost its payload":           func(p *Parcels) { p.Mended = 0 },
		"a request was answered wrong or not at all": func(p *Parcels) { p.Answered-- },
	} {
		p := good()
		spoil(p)
		if err := p.judge(); !errors.Is(err, ErrWrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// parcelsOf reads the fourth line from the end.
func parcelsOf(t *testing.T, out string) *Parcels {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) < 4 {
		t.Fatal("there is no line of the parcels")
	}
	p := &Parcels{}
	line := lines[len(lines)-4]
	_, err := fmt.Sscanf(line, "parcels: told=%d posted=%d mended=%d answered=%d lost=%d doubled=%d refused=%d",
		&p.Told, &p.Posted, &p.Mended, &p.Answered, &p.Lost, &p.Doubled, &p.Refused)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return p
}
