package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nexuspg/nexus"
)

// Names that this machine may have but no task may: fixed offsets in disguise, and words for "here".
var (
	noPlace   = []string{"factory", "localtime", "local", "posixrules", "zulu", "uct", "universal", "greenwich", "cet", "eet", "met", "wet", "est", "mst", "hst"}
	noZone    = regexp.MustCompile(`^(posix|right|systemv)/|^[^/]*[0-9][^/]*$|^[./]|\.\.`)
	shortName = regexp.MustCompile(`^[a-z]{3,5}$|^[a-z]{3,5}[-+]?[0-9]|^[-+]?[0-9]`)
	plainName = regexp.MustCompile(`^[ -~]{1,100}$`)
)

func checkZone(name string) error {
	if name == "" {
		return nil
	}
	folded := lower(name)
	if folded == "utc" || folded == "gmt" {
		return nil
	}
	if !slices.Contains(noPlace, folded) && !noZone.MatchString(folded) && utf8.ValidString(name) {
		if known(name) || known(capitals(folded)) {
			return nil
		}
		if !known("Europe/London") {
			return nil // no zone data here: the database will judge
		}
	}
	message := "there is no such time zone"
	if plainName.MatchString(name) {
		message = fmt.Sprintf(`there is no time zone "%s"`, name)
	}
	hint := `Use an IANA name, such as "Europe/Berlin", "America/New_York" or "UTC".`
	if shortName.MatchString(folded) {
		hint = `Abbreviations and offsets know no summer time: name a place, such as "Europe/Berlin" or "America/New_York", or "UTC".`
	}
	return &nexus.Error{Op: "check", Code: nexus.CodeTimezone, Field: "timezone", Message: message, Hint: hint}
}

func known(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil
}

// capitals spells most names as files are named, where these tell case apart.
func capitals(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i == 0 || strings.ContainsRune("/_-", rune(name[i-1])) {
			b.WriteString(strings.ToUpper(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
