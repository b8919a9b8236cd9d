package post

import (
	"errors"
	"net/netip"
	"testing"
)

func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"100.127.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::ffff:100.64.0.1", "::ffff:198.18.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
		"fec0::1", "2001:db8::1", "2001::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1",
	} {
		if !private(netip.MustParseAddr(text)) {
			t.Errorf("%s passes for an address of the internet", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "172.32.0.1", "100.128.0.1", "193.0.0.1", "::ffff:1.1.1.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1"} {
		if private(netip.MustParseAddr(text)) {
			t.Errorf("%s passes for a private address", text)
		}
	}
}

func TestAllowedAddresses(t *testing.T) {
	t.Parallel()
	allow := judge([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::1/128")})
	for address, ok := range map[string]bool{
		"10.1.2.3:80": true, "10.2.2.3:80": false, "[::1]:80": true, "[::ffff:10.1.0.1]:80": true, "127.0.0.1:80": false, "1.1.1.1:443": true, "nonsense": false, "[fe80::1%lo]:80": false,
	} {
		if err := allow("tcp", address, nil); (err == nil) != ok || err != nil && !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
