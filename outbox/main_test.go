package outbox_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/nexuspg/nexus/internal/dbtest"
)

// The test binary runs itself again as a node that can be killed.
const (
	envChildURL  = "NEXUS_TEST_CHILD_URL"
	envChildMode = "NEXUS_TEST_CHILD_MODE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(envChildURL); url != "" {
		if err := child(url, os.Getenv(envChildMode)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dbtest.Main(m)
}
