//go:build !unix

package pgdev

import "syscall"

// account is empty here: Platform.Check refuses to start clusters on such a system, and this file only lets programs that can also
// use a server by its URL be built for it.
type account struct{}

func serverAccount(p Platform) (account, error) { return account{}, p.Check() }

func (account) own(string) error { return nil }

func (account) attributes(string) *syscall.SysProcAttr { return nil }

func ownSession() *syscall.SysProcAttr { return nil }
