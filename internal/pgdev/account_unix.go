//go:build unix

package pgdev

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// account is the OS user that the server's programs run as; nil credential means the present one.
type account struct {
	credential *syscall.Credential
}

// serverAccount is postgres if we are root, for PostgreSQL refuses root, and ourselves otherwise.
func serverAccount(p Platform) (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	lookup := hostAccount
	if p.Root != "" {
		lookup = func() (*syscall.Credential, error) { return accountIn(p.outside("/etc/passwd")) }
	}
	cred, err := lookup()
	if err != nil {
		return account{}, fmt.Errorf("the OS user postgres, as whom root starts PostgreSQL: %w; run: %s", err, p.installLine())
	}
	return account{cred}, nil
}

func hostAccount() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	cred, err := credential(u.Uid, u.Gid)
	if err != nil {
		return nil, err
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		id, err := strconv.ParseUint(g, 10, 32)
		if err != nil {
			return nil, err
		}
		cred.Groups = append(cred.Groups, uint32(id))
	}
	return cred, nil
}

// accountIn reads another system's passwd: its postgres has other numbers than ours.
func accountIn(passwd string) (*syscall.Credential, error) {
	f, err := os.Open(passwd)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Split(lines.Text(), ":"); len(fields) > 3 && fields[0] == "postgres" {
			return credential(fields[2], fields[3])
		}
	}
	return nil, errors.Join(lines.Err(), fmt.Errorf("no user postgres in %s", passwd))
}

func credential(uid, gid string) (*syscall.Credential, error) {
	u, err := strconv.ParseUint(uid, 10, 32)
	if err != nil {
		return nil, err
	}
	g, err := strconv.ParseUint(gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(u), Gid: uint32(g)}, nil
}

// own gives a path to the account.
func (a account) own(path string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(path, int(a.credential.Uid), int(a.credential.Gid))
}

// attributes make a process run as the account, inside root if there is one, and out of reach of the terminal's Ctrl-C, which would
// otherwise shut the server down under the tests that still use it.
func (a account) attributes(root string) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential, Chroot: root, Setsid: true}
}

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
