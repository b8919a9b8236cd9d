package demo

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

const (
	packageName    = "@octokit/webhooks-examples"
	packageVersion = "7.6.1"
	packedName     = "octokit-webhooks-examples-" + packageVersion + ".tgz"
	indexPath      = "package/api.github.com/index.json"
)

// written stands in where npm is absent: a few payloads of the same shape.
//
//go:embed webhooks.json
var written []byte

// webhook is one payload with the event type it is emitted as.
type webhook struct {
	Type    string
	Payload json.RawMessage
}

// webhooks returns the payloads, from npm's package if it can be had, and says where they came from.
func webhooks(ctx context.Context, cacheDir string) (list []webhook, source string, err error) {
	raw, fetchErr := packaged(ctx, cacheDir)
	if fetchErr == nil {
		list, err = parse(raw)
		return list, packageName + " " + packageVersion, err
	}
	list, err = parse(written)
	return list, fmt.Sprintf("a small written set (%s could not be fetched: %v)", packageName, fetchErr), err
}

// fetchFor bounds what npm takes, which without a network tries for minutes.
const fetchFor = time.Minute

// packaged returns the index of the package, fetched by npm, which checks its integrity, and kept in cacheDir.
func packaged(ctx context.Context, cacheDir string) ([]byte, error) {
	archive := filepath.Join(cacheDir, packedName)
	if _, err := os.Stat(archive); err != nil {
		if err := fetch(ctx, archive); err != nil {
			return nil, err
		}
	}
	index, err := fromArchive(archive)
	if err != nil {
		// A broken file must not fail every later run.
		return nil, errors.Join(err, os.Remove(archive))
	}
	return index, nil
}

// fetch puts the whole archive in place or nothing, whoever else fetches it at the same time.
func fetch(ctx context.Context, archive string) error {
	if err := os.MkdirAll(filepath.Dir(archive), 0o750); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(archive), "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	ctx, cancel := context.WithTimeout(ctx, fetchFor)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "pack", "--silent", packageName+"@"+packageVersion)
	npm.Dir = work
	npm.WaitDelay = time.Second // helpers of npm may hold its output open
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack: %w: %.200s", err, out)
	}
	return os.Rename(filepath.Join(work, packedName), archive)
}

func fromArchive(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", indexPath, filepath.Base(path), err)
		}
		if h.Name == indexPath {
			return io.ReadAll(t)
		}
	}
}

// parse names each payload github.<event>.<action>, or github.<event> where it has no action.
func parse(raw []byte) ([]webhook, error) {
	var events []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(raw, &events); err != nil {
		return nil, fmt.Errorf("webhook examples: %w", err)
	}
	var list []webhook
	for _, e := range events {
		for _, payload := range e.Examples {
			var p struct {
				Action string `json:"action"`
			}
			_ = json.Unmarshal(payload, &p) // an action that is no string is none
			name := "github." + e.Name
			if p.Action != "" {
				name += "." + p.Action
			}
			list = append(list, webhook{name, payload})
		}
	}
	slices.SortStableFunc(list, func(a, b webhook) int { return cmp.Compare(a.Type, b.Type) })
	if len(list) == 0 {
		return nil, errors.New("webhook examples: there are none")
	}
	return list, nil
}
