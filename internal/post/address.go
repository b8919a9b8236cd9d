package post

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// ErrAddress is the error of a connection to an address that is not allowed.
var ErrAddress = errors.New("the address is private, and not allowed")

// special are the networks that are not the internet's, beyond those that netip knows: https://www.iana.org/assignments/iana-ipv4-special-registry and its twin for IPv6.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

// These hold an address of IPv4, which is where a packet ends.
var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// private reports whether an address is not one of the internet's.
func private(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	switch {
	case a.IsLoopback(), a.IsPrivate(), a.IsUnspecified(), a.IsMulticast(), a.IsLinkLocalUnicast(), a.IsInterfaceLocalMulticast():
		return true
	case nat64.Contains(a):
		b := a.As16()
		return private(netip.AddrFrom4([4]byte(b[12:])))
	case sixToFour.Contains(a):
		b := a.As16()
		return private(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// judge is the Control of a dialer: it sees the address that is about to be connected to.
func judge(allow []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %s", ErrAddress, address)
		}
		a := to.Addr().Unmap().WithZone("")
		if private(a) && !slices.ContainsFunc(allow, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return fmt.Errorf("%w: %s", ErrAddress, a)
		}
		return nil
	}
}
