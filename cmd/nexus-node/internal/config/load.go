package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kelseyhightower/envconfig"
)

// Error is a setting with a value it cannot have, or without one it needs.
type Error struct {
	Name    string // the variable
	Value   string // as it was found; empty for secrets
	Accepts string // what the variable takes
	Missing bool   // not set at all, where a command needs it
}

func (e *Error) Error() string {
	switch {
	case e.Missing:
		return fmt.Sprintf("%s is not set; it takes %s", e.Name, e.Accepts)
	case e.Value == "":
		return fmt.Sprintf("%s has a value it cannot have; it takes %s", e.Name, e.Accepts)
	}
	return fmt.Sprintf("%s is %q; it takes %s", e.Name, e.Value, e.Accepts)
}

// Load reads the environment. The warnings are sentences for the log: what was found, but is not used as it stands. The
// error is an *[Error]; of several wrong values it names the first in the order of Config's fields.
func Load() (*Config, []string, error) {
	c := &Config{sources: map[string]string{}}
	if err := envconfig.Process(prefix, c); err != nil {
		return nil, nil, c.sentence(prefix, err)
	}
	for _, f := range fields(c) {
		if _, set := os.LookupEnv(f.name); set {
			c.sources[f.name] = f.name
		}
	}
	warnings, err := c.applyAliases()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	return c, append(warnings, unknown(c)...), nil
}

// sentence turns envconfig's complaint into an *Error. The value is left out where it is a secret, and envconfig's own
// words are dropped, since they name Go types.
func (c *Config) sentence(of string, err error) error {
	var bad *envconfig.ParseError
	if !errors.As(err, &bad) {
		return fmt.Errorf("reading the %s_ variables: %w", of, err)
	}
	for _, f := range fields(c) {
		if f.name == bad.KeyName {
			return f.wrong(bad.Value)
		}
	}
	return &Error{Name: bad.KeyName, Value: bad.Value, Accepts: aliasAccepts}
}

// unknown finds NEXUS_ variables that are no setting: a typing mistake would otherwise look like a default. Kubernetes sets
// NEXUS_PORT… and NEXUS_SERVICE_… for a service named nexus, and there are those that choose a server for dev and tests.
func unknown(c *Config) []string {
	var found []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, prefix+"_")
		if !ours || isField(c, name) {
			continue
		}
		if slices.ContainsFunc(passedOver, func(p string) bool { return strings.HasPrefix(rest, p) }) {
			continue
		}
		found = append(found, fmt.Sprintf("%s is set but is not a setting of nexus-node; `nexus-node config` lists them", name))
	}
	slices.Sort(found)
	return found
}

var passedOver = []string{"PORT", "SERVICE_", "TEST_", "PLATFORM"}

func isField(c *Config, name string) bool {
	return slices.ContainsFunc(fields(c), func(f field) bool { return f.name == name })
}

// NeedDatabase is nil if a database is configured.
func (c *Config) NeedDatabase() error { return c.need(EnvDatabaseURL, c.DatabaseURL) }

// NeedNamespace is nil if a namespace is configured.
func (c *Config) NeedNamespace() error { return c.need(EnvNamespace, c.Namespace) }

func (c *Config) need(name, value string) error {
	if value != "" {
		return nil
	}
	for _, f := range fields(c) {
		if f.name == name {
			return &Error{Name: name, Accepts: f.accepts, Missing: true}
		}
	}
	return nil
}
