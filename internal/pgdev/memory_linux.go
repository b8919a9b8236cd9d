package pgdev

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// roomInMemory is what has to be free before a cluster's folder goes there: several times what all tests together ever have in databases
// and in the write-ahead log.
const roomInMemory = 6 << 30

// memoryFolder is where folders are in memory, or "" where there is none with enough room. A database that is copied there takes a quarter
// of the processor time that it takes on a disk, and tests copy more than a thousand.
func memoryFolder() string {
	const shm, tmpfs = "/dev/shm", 0x01021994
	var fs syscall.Statfs_t
	if syscall.Statfs(shm, &fs) != nil || fs.Type != tmpfs || fs.Bavail*uint64(fs.Bsize) < roomInMemory || availableMemory() < roomInMemory { //nolint:gosec // a block's size is positive
		return ""
	}
	return shm
}

// mountMemory puts a chroot's folder into memory, since the server sees no other one there. It says whether it did.
func mountMemory(dir string) bool {
	return availableMemory() >= roomInMemory &&
		syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=0700,size="+strconv.Itoa(roomInMemory)) == nil
}

func unmountMemory(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }

// availableMemory is what the kernel says that new work can have, in bytes; 0 where it doesn't say.
func availableMemory() uint64 {
	f, err := os.Open(filepath.Join("/proc", "meminfo"))
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if amount, is := strings.CutPrefix(lines.Text(), "MemAvailable:"); is {
			kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(amount), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
