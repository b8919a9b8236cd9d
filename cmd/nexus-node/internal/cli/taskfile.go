package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/schedule"
)

// taskFile is what `task apply` reads, as YAML or as JSON, which is YAML, too.
type taskFile struct {
	Owner     string      `yaml:"owner"`
	Namespace string      `yaml:"namespace"` // of tasks that name none
	Tasks     []taskEntry `yaml:"tasks"`
}

type taskEntry struct {
	Namespace    string       `yaml:"namespace"`
	Name         string       `yaml:"name"`
	Cron         string       `yaml:"cron"`
	Timezone     string       `yaml:"timezone"`
	Type         string       `yaml:"type"`
	Payload      yamlPayload  `yaml:"payload"`
	Misfire      string       `yaml:"misfire"`
	MisfireAfter yamlDuration `yaml:"misfire_after"`
	Backfill     int          `yaml:"backfill"`
	Overlap      string       `yaml:"overlap"`
	Jitter       yamlDuration `yaml:"jitter"`
	StartsAt     yamlTime     `yaml:"starts_at"`
	EndsAt       yamlTime     `yaml:"ends_at"`
}

const taskFileKeys = "keys of the file are owner, namespace and tasks; of a task namespace, name, cron, timezone, type, payload, misfire, misfire_after, " +
	"backfill, overlap, jitter, starts_at and ends_at"

var unknownKey = regexp.MustCompile(`field (.*) not found in type .*`)

// readTaskFile also returns the line that each task begins at. namespace is that of tasks for which the file names none.
func readTaskFile(name string, text []byte, namespace string) (d schedule.Declared, lines []int, err error) {
	bad := func(err error) (schedule.Declared, []int, error) {
		message := err.Error()
		var several *yaml.TypeError
		if errors.As(err, &several) {
			message = strings.Join(several.Errors, "; ")
		}
		message = unknownKey.ReplaceAllString(strings.TrimPrefix(message, "yaml: "), `there is no key "$1"`)
		return schedule.Declared{}, nil, &usageError{message: name + ": " + message, hint: taskFileKeys}
	}
	var file taskFile
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return bad(err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return bad(errors.New("there is more than one document in it"))
	}
	// An empty list deletes all tasks of the owner, so it has to be meant.
	var doc struct {
		Tasks yaml.Node `yaml:"tasks"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return bad(err)
	}
	if doc.Tasks.Kind != yaml.SequenceNode {
		return bad(errors.New(`there is no list "tasks"; [] deletes all tasks of the owner`))
	}
	for _, n := range doc.Tasks.Content {
		lines = append(lines, n.Line)
	}
	if file.Owner == "" {
		return bad(errors.New(`there is no "owner"; what this name no longer declares is deleted, so it stays the same`))
	}
	d.Owner = file.Owner
	if file.Namespace == "" {
		file.Namespace = namespace
	}
	for _, t := range file.Tasks {
		if t.Namespace == "" {
			t.Namespace = file.Namespace
		}
		d.Tasks = append(d.Tasks, schedule.Task{
			Namespace: nexus.Namespace(t.Namespace), Name: t.Name, Cron: t.Cron, Zone: t.Timezone, Type: t.Type, Payload: json.RawMessage(t.Payload),
			Misfire: schedule.Misfire(t.Misfire), MisfireAfter: time.Duration(t.MisfireAfter), Backfill: t.Backfill, Overlap: schedule.Overlap(t.Overlap),
			Jitter: time.Duration(t.Jitter), StartsAt: time.Time(t.StartsAt), EndsAt: time.Time(t.EndsAt),
		})
	}
	return d, lines, nil
}

var taskOfField = regexp.MustCompile(`^p_tasks\[([0-9]+)\]`)

// atLine says where in the file the task is that an error names.
func atLine(err error, name string, lines []int) error {
	var e *nexus.Error
	if !errors.As(err, &e) {
		return err
	}
	var n int
	if m := taskOfField.FindStringSubmatch(e.Field); m == nil {
		return err
	} else if _, scanErr := fmt.Sscan(m[1], &n); scanErr != nil || n < 1 || n > len(lines) {
		return err
	}
	located := *e
	located.Message = fmt.Sprintf("%s: line %d: %s", name, lines[n-1], e.Message)
	return &located
}

type yamlDuration time.Duration

func (d *yamlDuration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %q is not a duration, such as 90s or 5m", n.Line, n.Value)
	}
	*d = yamlDuration(v)
	return nil
}

type yamlTime time.Time

func (t *yamlTime) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.Parse(time.RFC3339Nano, n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %q is not a time with its offset, such as 2026-12-01T09:00:00Z", n.Line, n.Value)
	}
	*t = yamlTime(v)
	return nil
}

// yamlPayload is JSON in which numbers have the digits of the file.
type yamlPayload []byte

func (p *yamlPayload) UnmarshalYAML(n *yaml.Node) error {
	var b bytes.Buffer
	err := writeJSON(&b, n)
	*p = b.Bytes()
	return err
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				return fmt.Errorf("line %d: a key of the payload is not text", key.Line)
			}
			writeText(b, key.Value)
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		return writeScalar(b, n)
	default: // a few aliases could stand for gigabytes
		return fmt.Errorf("line %d: a payload holds no aliases", n.Line)
	}
	return nil
}

func writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Tag {
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			b.WriteString(n.Value)
			return nil
		}
		return fmt.Errorf("line %d: write the number %s as JSON does, or quote it", n.Line, n.Value)
	case "!!bool":
		var v bool
		if err := n.Decode(&v); err != nil {
			return err
		}
		fmt.Fprint(b, v)
	case "!!null":
		b.WriteString("null")
	case "!!str", "!!timestamp":
		writeText(b, n.Value)
	default:
		return fmt.Errorf("line %d: %s is nothing that JSON knows", n.Line, n.Tag)
	}
	return nil
}

func writeText(b *bytes.Buffer, text string) {
	encoded, _ := json.Marshal(text) // text always encodes
	b.Write(encoded)
}
