package node

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// process tells a process from all others that ever ran under its kernel. The zero value tells nothing.
type process struct {
	Boot  string `json:"boot"`  // of the kernel
	Space string `json:"space"` // of process numbers: containers have one each
	PID   int    `json:"pid"`
	Start string `json:"start"` // in ticks of the kernel's clock
}

// self is this process; zero where there is no /proc.
func self() process {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return process{}
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return process{}
	}
	start, _, err := stat(os.Getpid())
	if err != nil {
		return process{}
	}
	return process{Boot: string(bytes.TrimSpace(boot)), Space: space, PID: os.Getpid(), Start: start}
}

// gone reports whether p is surely not running any more, which is known only of processes that self could see. A space of process
// numbers has its own number for as long as a process lives in it: so if p lives, it lives in this one.
func (p process) gone(self process) bool {
	if self == (process{}) || p.Boot != self.Boot || p.Space != self.Space || p.PID <= 0 || p.Start == "" {
		return false
	}
	one, err := os.FindProcess(p.PID)
	if err != nil {
		return false
	}
	if err := one.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) {
		return true
	}
	// Somebody has the number: p, or one that came after it.
	start, dead, err := stat(p.PID)
	return err == nil && (dead || start != p.Start)
}

// stat is when a process started, and whether it has ended and only waits for its parent.
func stat(pid int) (start string, dead bool, err error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false, err
	}
	// The second field is a name in parentheses, which may hold anything.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 20 {
		return "", false, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(fields))
	}
	return fields[19], fields[0] == "Z" || fields[0] == "X", nil
}
