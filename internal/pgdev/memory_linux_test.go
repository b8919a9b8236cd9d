package pgdev

import (
	"context"
	"syscall"
	"testing"
)

func TestClustersForTestsAreInMemory(t *testing.T) {
	t.Parallel()
	if memoryFolder() == "" {
		t.Skip("this machine has too little free memory, or none that is a folder")
	}
	stat := func(dir string) (fs syscall.Statfs_t) {
		t.Helper()
		if err := syscall.Statfs(dir, &fs); err != nil {
			t.Fatal(err)
		}
		return fs
	}
	c, err := StartForTests(t.Context(), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if stat(c.Dir()).Type != stat("/dev/shm").Type {
		if c.platform.Root == "" {
			t.Errorf("%s is on a disk", c.Dir())
		} else {
			t.Logf("%s is on a disk: whoever runs this may not mount", c.Dir())
		}
	}
	if err := c.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if exists(c.Dir()) {
		t.Errorf("%s is left", c.Dir())
	}
}
