package readmodel

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// Cursor is the place of a row in the order of one list, as text for people to give back. It is no secret: its holder sees what he may
// see anyhow.
type Cursor struct {
	List  string // which list it is of
	Place []string
}

func (c Cursor) String() string {
	text, _ := json.Marshal(append([]string{c.List}, c.Place...)) // strings always encode
	return base64.RawURLEncoding.EncodeToString(text)
}

var errCursor = errors.New("it is no cursor")

// ParseCursor reads what [Cursor.String] wrote.
func ParseCursor(text string) (Cursor, error) {
	var parts []string
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return Cursor{}, err
	}
	if err := json.Unmarshal(decoded, &parts); err != nil {
		return Cursor{}, err
	}
	if len(parts) < 2 {
		return Cursor{}, errCursor
	}
	return Cursor{parts[0], parts[1:]}, nil
}
