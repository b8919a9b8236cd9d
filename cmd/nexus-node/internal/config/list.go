package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Setting is one line of `nexus-node config`.
type Setting struct {
	Name    string `json:"name"`
	Value   string `json:"value"` // passwords replaced
	Default string `json:"default"`
	Source  string `json:"source"` // "default" or the variable it came from
	About   string `json:"about"`
	Accepts string `json:"accepts"`
}

// Settings lists every setting in the order of Config's fields.
func (c *Config) Settings() []Setting {
	var out []Setting
	for _, f := range fields(c) {
		value := fmt.Sprint(f.value.Interface())
		if f.secret {
			value = Redact(value)
		}
		source := "default"
		if s := c.sources[f.name]; s != "" {
			source = s
		}
		out = append(out, Setting{Name: f.name, Value: value, Default: f.def, Source: source, About: f.about, Accepts: f.accepts})
	}
	return out
}

const redacted = "xxxxx"

// shown are the keywords of a connection string whose values are no secrets. There are more that are: password, passwd, sslpassword,
// options, whatever a later library takes. So it is these that are shown, and no others.
var shown = []string{
	"host", "hostaddr", "port", "dbname", "database", "user", "application_name", "fallback_application_name", "connect_timeout",
	"sslmode", "sslrootcert", "sslsni", "sslnegotiation", "min_protocol_version", "max_protocol_version", "channel_binding",
	"target_session_attrs", "load_balance_hosts", "keepalives", "gssencmode", "krbsrvname", "client_encoding",
	"pool_max_conns", "pool_min_conns", "pool_min_idle_conns", "pool_max_conn_lifetime", "pool_max_conn_lifetime_jitter",
	"pool_max_conn_idle_time", "pool_health_check_period",
	"default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity",
	"search_path", "timezone", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
}

var (
	keyword = regexp.MustCompile(`^[A-Za-z_.]+$`)
	// The keywords of a connection string with their values, as the driver reads them.
	keywordValue = regexp.MustCompile(`(^\s*|\s+)([A-Za-z_.]+)(\s*=\s*)('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)(?:[^\s\\]|\\.)*|)`)
)

func isShown(key string) bool { return slices.Contains(shown, strings.ToLower(key)) }

// Redact leaves of a connection string what is known to be no secret. One that cannot be read for sure is hidden whole, because
// nobody can say where its password ends.
func Redact(connString string) string {
	if isURL(connString) {
		return redactURL(connString)
	}
	end := 0
	var b strings.Builder
	for _, m := range keywordValue.FindAllStringSubmatchIndex(connString, -1) {
		if m[0] != end || m[1] == m[0] {
			return redacted
		}
		end = m[1]
		b.WriteString(connString[m[0]:m[8]])
		if isShown(connString[m[4]:m[5]]) || m[8] == m[9] {
			b.WriteString(connString[m[8]:m[9]])
		} else {
			b.WriteString(redacted)
		}
	}
	if strings.TrimSpace(connString[end:]) != "" {
		return redacted
	}
	return b.String()
}

func redactURL(connString string) string {
	u, err := url.Parse(connString)
	if err != nil || isAmbiguous(connString) {
		return redacted
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), redacted)
	}
	if u.RawQuery == "" {
		return u.String()
	}
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		key, _, _ := strings.Cut(pair, "=")
		if !keyword.MatchString(key) {
			return redacted
		}
		if !isShown(key) {
			pairs[i] = key + "=" + redacted
		}
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.String()
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

// isAmbiguous reports whether a URL can be read in two ways because a password holds an @, /, ? or # as it is. Whoever takes it to
// end at the first of them has the rest of it for a host or a database, and says so in errors.
func isAmbiguous(connString string) bool {
	_, rest, _ := strings.Cut(connString, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	return strings.Count(rest[:end], "@") > 1 || strings.ContainsAny(path, "@") || strings.Contains(rest, "#") ||
		slices.ContainsFunc(strings.Split(query, "&"), func(pair string) bool {
			key, _, _ := strings.Cut(pair, "=")
			return strings.Contains(key, "@")
		})
}
