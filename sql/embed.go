// Package nexussql holds the SQL of Nexus and the order in which it is applied. It reads no database; package migrate does
// the applying.
//
// The tree has five parts. What is stored (schemas, tables, indexes) changes by numbered migrations that are never edited
// once released. What is computed (functions and views) has one file a thing, applied again whenever the file's hash
// changes. Roles come first and grants last. A file may begin with directives, comment lines such as
//
//	-- owner: nexus_scheduler
package nexussql

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sort"
	"strconv"
	"strings"
)

//go:embed all:migrations all:functions all:extensions all:views roles/*.sql
var tree embed.FS

// File is one SQL file.
type File struct {
	Path       string            // below sql/, with forward slashes
	Body       string            // normalised: LF, no blanks at the end of lines, one LF at the end
	SHA256     string            // of Body, in hex
	Directives map[string]string // by name; nil if there are none
	Version    int               // number of a migration, 0 for every other file
}

// Name is the file's name without folder and ending.
func (f File) Name() string {
	name := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
	return strings.TrimSuffix(name, ".sql")
}

// Owner is the role that owns what the file creates.
func (f File) Owner() string {
	if owner := f.Directives["owner"]; owner != "" {
		return owner
	}
	return "nexus_owner"
}

// NewFile makes a File of a path below sql/ and its text.
func NewFile(path, text string) File {
	f := File{Path: path, Body: normalise(text)}
	sum := sha256.Sum256([]byte(f.Body))
	f.SHA256 = hex.EncodeToString(sum[:])
	f.Directives = directives(f.Body)
	if strings.HasPrefix(path, "migrations/") {
		number, _, _ := strings.Cut(f.Name(), "_")
		f.Version, _ = strconv.Atoi(number)
	}
	return f
}

// Migrations returns the numbered migrations in order of their numbers.
func Migrations() []File {
	files := glob("migrations/*.sql")
	sort.SliceStable(files, func(i, j int) bool { return files[i].Version < files[j].Version })
	return files
}

// Functions returns the function files, those that name an extension's schema last. Their order means nothing: bodies are
// not checked while they are applied.
func Functions() []File {
	return append(glob("functions/*/*.sql"), glob("extensions/*/*.sql")...)
}

// Views returns the view files in order of their names, which is the order in which views may use each other.
func Views() []File { return glob("views/*.sql") }

// CreateRoles returns the file that creates the roles. It runs before everything else, as the installer.
func CreateRoles() File { return read("roles/create_roles.sql") }

// Grants returns the file that holds every grant. It runs after everything else, as nexus_owner.
func Grants() File { return read("roles/grants.sql") }

// glob returns the files of a pattern in order of their paths. The patterns are constants, and an embedded file cannot
// fail to be read.
func glob(pattern string) []File {
	paths, err := fs.Glob(tree, pattern)
	if err != nil {
		panic(err)
	}
	files := make([]File, len(paths))
	for i, path := range paths {
		files[i] = read(path)
	}
	return files
}

func read(path string) File {
	text, err := tree.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return NewFile(path, string(text))
}

// normalise removes what an editor or a checkout may change without anyone meaning it.
func normalise(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// directives reads the comment lines at the head of a file that name a directive; other comment lines there are prose.
func directives(body string) map[string]string {
	var found map[string]string
	for _, line := range strings.Split(body, "\n") {
		comment, ok := strings.CutPrefix(line, "--")
		if !ok {
			break
		}
		name, value, ok := strings.Cut(strings.TrimSpace(comment), ":")
		if !ok || name != "owner" {
			continue
		}
		if found == nil {
			found = make(map[string]string)
		}
		found[name] = strings.TrimSpace(value)
	}
	return found
}
