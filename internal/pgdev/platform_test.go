package pgdev

import (
	"strings"
	"testing"
)

func TestMissingBinariesNameTheLineToRun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		platform Platform
		want     string
	}{
		"on this machine": {Platform{Name: "A", BinDir: "/nonexistent"}, "run: make install-deps"},
		"in a chroot":     {Platform{Name: "B", Root: "/nonexistent", BinDir: "/bin"}, "run: make install-deps PLATFORM=B"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for from, err := range map[string]error{"Check": test.platform.Check(), "Find": findErr(test.platform), "Start": startErr(t, test.platform)} {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: err = %v; want it to hold %q", from, err, test.want)
				}
			}
		})
	}
}

func findErr(p Platform) error {
	_, err := firstUsable([]Platform{p})
	return err
}

func startErr(t *testing.T, p Platform) error {
	t.Helper()
	_, err := Start(t.Context(), Options{Platform: p})
	return err
}

func TestFindTakesTheNamedPlatform(t *testing.T) {
	usable, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(PlatformVariable, usable.Name)
	if got, err := Find(); err != nil || got != usable {
		t.Errorf("Find() = %v, %v; want %v", got, err, usable)
	}
	t.Setenv(PlatformVariable, "C")
	if _, err := Find(); err == nil || !strings.Contains(err.Error(), `"C"`) {
		t.Errorf("Find() of an unknown platform: %v", err)
	}
}

func TestInsideAndOutside(t *testing.T) {
	t.Parallel()
	chroot := Platform{Root: "/srv/b/"}
	if got := chroot.outside("/usr/bin"); got != "/srv/b/usr/bin" {
		t.Errorf("outside = %s", got)
	}
	if got := chroot.inside("/srv/b/tmp/x"); got != "/tmp/x" {
		t.Errorf("inside = %s", got)
	}
	if got := (Platform{}).inside("/tmp/x"); got != "/tmp/x" {
		t.Errorf("inside of this machine = %s", got)
	}
}
