package config

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Validate returns an *[Error] for the first value that is out of its range. Names of namespaces and nodes are judged by
// the database alone.
func (c *Config) Validate() error {
	_, err := c.AllowedNetworks()
	ok := map[string]bool{
		EnvDatabaseURL:                              c.DatabaseURL == "" || isConnString(c.DatabaseURL),
		"NEXUS_WAKE_URL":                            c.WakeURL == "" || isConnString(c.WakeURL),
		"NEXUS_SQL_HANDLERS_URL":                    c.SQLHandlersURL == "" || isConnString(c.SQLHandlersURL),
		"NEXUS_WORKERS":                             between(c.Workers, 0, 10_000),
		"NEXUS_IDLE_POLL_INTERVAL":                  between(c.IdlePollInterval, 10*time.Millisecond, time.Hour),
		"NEXUS_LEASE":                               between(c.Lease, time.Second, 12*time.Hour),
		"NEXUS_HANDLER_TIMEOUT":                     c.HandlerTimeout < 0 || between(c.HandlerTimeout, time.Millisecond, 720*time.Hour),
		"NEXUS_GRACE":                               between(c.Grace, 0, time.Hour),
		"NEXUS_WEBHOOKS":                            c.Webhooks == "on" || c.Webhooks == "off",
		"NEXUS_WEBHOOK_ALLOW":                       err == nil,
		"NEXUS_MAX_TRIGGER_DEPTH":                   between(c.MaxTriggerDepth, 0, 1000),
		"NEXUS_TRIGGER_RETRY_MAX_ATTEMPTS":          between(c.TriggerRetryMaxAttempts, -1, 1_000_000),
		"NEXUS_TRIGGER_RETRY_BACKOFF":               slices.Contains([]string{"", "exponential", "linear", "constant"}, c.TriggerRetryBackoff),
		"NEXUS_TRIGGER_RETRY_BASE_MS":               between(c.TriggerRetryBaseMs, 0, 86_400_000),
		"NEXUS_DEAD_LETTER_RETENTION_DAYS":          between(c.DeadLetterRetentionDays, 0, 36_500),
		"NEXUS_ABANDONED_EXECUTIONS_RETENTION_DAYS": between(c.AbandonedExecutionsRetentionDays, 0, 36_500),
		"NEXUS_POOL_MAX_CONNS":                      between(c.PoolMaxConns, 0, 1000),
		"NEXUS_CONNECT_TIMEOUT":                     between(c.ConnectTimeout, 100*time.Millisecond, 5*time.Minute),
		"NEXUS_INGRESS":                             c.Ingress == "off" || c.Ingress == "on" && c.HTTPAddress != "",
		"NEXUS_HTTP_ADDRESS":                        c.HTTPAddress == "" || isAddress(c.HTTPAddress),
		"NEXUS_TRIGGER_ADDRESS":                     c.TriggerAddress == "" || isAddress(c.TriggerAddress) && c.TriggerAddress != c.HTTPAddress,
		"NEXUS_LOG_LEVEL":                           slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel),
	}
	for _, f := range fields(c) {
		if good, judged := ok[f.name]; !judged || good {
			continue
		}
		bad := f.wrong(fmt.Sprint(f.value.Interface()))
		if source := c.sources[f.name]; source != "" {
			bad.Name = source
		}
		return bad
	}
	return nil
}

func between[T int | time.Duration](v, low, high T) bool { return low <= v && v <= high }

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func isConnString(s string) bool {
	if isURL(s) && isAmbiguous(s) {
		return false
	}
	_, err := pgxpool.ParseConfig(s)
	return err == nil
}

// AllowedNetworks are the private networks that webhooks may reach.
func (c *Config) AllowedNetworks() (all []netip.Prefix, err error) {
	for text := range strings.SplitSeq(c.WebhookAllow, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
