package workflow_test

import "os"

// long reports whether tests of full size are wanted.
func long() bool { return os.Getenv("NEXUS_TEST_LONG") != "" }
