package nexus_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexuspg/nexus"
)

func TestVerdictsAreFoundThroughWraps(t *testing.T) {
	cause := errors.New("card declined")
	reject := &nexus.Verdict{Action: nexus.ActionReject, Reason: "declined"}
	for name, test := range map[string]struct {
		err  error
		want *nexus.Verdict
	}{
		"reject":               {nexus.Reject("declined"), reject},
		"retry":                {nexus.Retry(time.Hour), &nexus.Verdict{Action: nexus.ActionRetry, After: time.Hour}},
		"release":              {nexus.Release(time.Minute), &nexus.Verdict{Action: nexus.ActionRelease, After: time.Minute}},
		"wrapped":              {fmt.Errorf("order 7: %w", nexus.Reject("declined")), reject},
		"joined with a cause":  {errors.Join(cause, nexus.Reject("declined")), reject},
		"two wraps in one":     {fmt.Errorf("%w: %w", cause, nexus.Reject("declined")), reject},
		"of one delivery":      {nexus.At(&nexus.Delivery{}, fmt.Errorf("x: %w", nexus.Reject("declined"))), reject},
		"the first one counts": {errors.Join(nexus.Reject("declined"), nexus.Retry(time.Second)), reject},
		"a plain error":        {cause, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := errors.AsType[*nexus.Verdict](test.err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVerdictSaysWhatItAsksFor(t *testing.T) {
	for want, err := range map[string]error{
		"reject: no such sku": nexus.Reject("no such sku"),
		"retry after 1m30s":   nexus.Retry(90 * time.Second),
		"release after 1s":    nexus.Release(time.Second),
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAtNamesItsDelivery(t *testing.T) {
	cause := errors.New("no page")
	d := &nexus.Delivery{Event: nexus.Event{ID: 7, Type: "page.viewed"}, MessageID: 9}
	err := errors.Join(errors.New("first"), nexus.At(d, cause))

	at, ok := errors.AsType[*nexus.DeliveryError](err)
	if !ok || at.Delivery != d || !errors.Is(at, cause) {
		t.Fatalf("got %#v", at)
	}
	for _, part := range []string{"page.viewed", "event 7", "message 9", "no page"} {
		if !strings.Contains(at.Error(), part) {
			t.Errorf("%q does not mention %q", at, part)
		}
	}
	if got := nexus.At(nil, cause).Error(); got != "no page" {
		t.Errorf("without a delivery: %q", got)
	}
	if err := nexus.At(d, nil); err != nil {
		t.Errorf("a delivery that went well has the error %v", err)
	}
}
