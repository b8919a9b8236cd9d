package config

import (
	"fmt"
	"os"
	"time"

	"github.com/kelseyhightower/envconfig"
)

const (
	oldPrefix    = "CORE"
	aliasAccepts = "a whole number"
)

// aliases are the variables of nexus-core, in the units they had there. Nil is not set.
type aliases struct {
	DatabaseURL              *string `split_words:"true"`
	Namespace                *string `split_words:"true"`
	NodeID                   *string `split_words:"true"`
	IdlePollIntervalMS       *int    `split_words:"true"`
	VisibilityTimeoutSeconds *int    `split_words:"true"`
	BatchSize                *int    `split_words:"true"`
}

// applyAliases takes over what is set under an old name only, and warns where both names are set and differ.
func (c *Config) applyAliases() ([]string, error) {
	var old aliases
	if err := envconfig.Process(oldPrefix, &old); err != nil {
		return nil, c.sentence(oldPrefix, err)
	}
	var warnings []string
	note := func(w string) {
		if w != "" {
			warnings = append(warnings, w)
		}
	}
	note(alias(c, "CORE_DATABASE_URL", EnvDatabaseURL, old.DatabaseURL, &c.DatabaseURL))
	note(alias(c, "CORE_NAMESPACE", EnvNamespace, old.Namespace, &c.Namespace))
	note(alias(c, "CORE_NODE_ID", "NEXUS_NODE_ID", old.NodeID, &c.NodeID))
	note(alias(c, "CORE_IDLE_POLL_INTERVAL_MS", "NEXUS_IDLE_POLL_INTERVAL", scaled(old.IdlePollIntervalMS, time.Millisecond), &c.IdlePollInterval))
	note(alias(c, "CORE_VISIBILITY_TIMEOUT_SECONDS", "NEXUS_LEASE", scaled(old.VisibilityTimeoutSeconds, time.Second), &c.Lease))
	// The batch of nexus-core bounded what one node had in its hands, which is what its workers do here.
	note(alias(c, "CORE_BATCH_SIZE", "NEXUS_WORKERS", old.BatchSize, &c.Workers))
	return warnings, nil
}

func scaled(n *int, unit time.Duration) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * unit
	return &d
}

// alias returns the warning, or "". It names no values: two of the six may hold a password.
func alias[T comparable](c *Config, oldName, name string, old, current *T) string {
	if old == nil {
		return ""
	}
	if _, set := os.LookupEnv(name); !set {
		*current = *old
		c.sources[name] = oldName
		return ""
	}
	if *old == *current {
		return ""
	}
	return fmt.Sprintf("%s and %s are both set and differ; %s is used", name, oldName, name)
}
