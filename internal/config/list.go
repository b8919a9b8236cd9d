package config

import (
	"fmt"
	"net/url"
	"regexp"
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

// passwordWord finds password=… and sslpassword=… among keyword=value words and in the query of a URL, quoted or not.
var passwordWord = regexp.MustCompile(`(?i)((?:ssl)?password\s*=\s*)('(?:[^'\\]|\\.)*'?|[^\s&]*)`)

// Redact hides the passwords of a connection string. What looks like a URL but cannot be read as one is hidden whole,
// because nobody can say where its password ends.
func Redact(connString string) string {
	if !strings.HasPrefix(connString, "postgres://") && !strings.HasPrefix(connString, "postgresql://") {
		return passwordWord.ReplaceAllString(connString, "${1}"+redacted)
	}
	u, err := url.Parse(connString)
	if err != nil {
		return redacted
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), redacted)
	}
	u.RawQuery = passwordWord.ReplaceAllString(u.RawQuery, "${1}"+redacted)
	return u.String()
}
