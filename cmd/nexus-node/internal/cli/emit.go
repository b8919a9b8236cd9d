package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nexuspg/nexus/queue"
)

func newEmit(s *session) *cobra.Command {
	var (
		opts                    queue.EmitOptions
		producer, file          string
		headers                 []string
		causation, at, authored string
	)
	cmd := &cobra.Command{
		Use:   "emit TYPE [PAYLOAD]",
		Short: "Emit an event",
		Long: `Emit an event into the namespace. The payload is JSON: the second argument, or a file, or, where either is "-", what
comes on stdin. Without one it is {}.`,
		Example: `  nexus-node emit -n shop order.placed '{"order": 7}' --dedupe-key order-7
  nexus-node emit -n shop report.due --delay 90s --header trace=abc --tag nightly
  jq -c .order mail.json | nexus-node emit -n shop order.placed -`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			payload, err := s.payload(cmd, args[1:], file)
			if err != nil {
				return err
			}
			if opts.Headers, err = headerMap(cmd, headers); err != nil {
				return err
			}
			if opts.DeliverAt, err = timeFlag(cmd, "deliver-at", at); err != nil {
				return err
			}
			if opts.AuthoredAt, err = timeFlag(cmd, "authored-at", authored); err != nil {
				return err
			}
			if opts.CausationUID, err = uuidFlag(cmd, "causation-uid", causation); err != nil {
				return err
			}
			return s.inNamespace(cmd, func(c *client) error {
				e := queue.Emitter{Namespace: c.namespace(), Producer: producer}
				r, err := e.Emit(cmd.Context(), c.pool, args[0], payload, &opts)
				if err != nil {
					return err
				}
				return s.printReceipt(r)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", `read the payload from this file; "-" is stdin`)
	f.StringVar(&opts.DedupeKey, "dedupe-key", "", "a second event with this key is not written, its ids are those of the first")
	f.StringVar((*string)(&opts.DedupeWhile), "dedupe-while", "", "the dedupe key ends with its event: queued (when a node takes it) or pending (when it has been handled)")
	f.StringVar(&opts.OrderingKey, "ordering-key", "", "picks the lane in ordered consumers")
	f.StringVar(&at, "deliver-at", "", "not before this time, RFC 3339: 2026-11-28T09:00:00Z")
	f.DurationVar(&opts.Delay, "delay", 0, "not before this much later: 90s, 2h")
	f.StringArrayVar(&headers, "header", nil, "NAME=VALUE; may be repeated")
	f.StringVar(&producer, "producer", "", "recorded as the node that produced the event")
	f.StringVar(&opts.CorrelationID, "correlation-id", "", "what the event belongs to")
	f.StringVar(&causation, "causation-uid", "", "UID of the event that caused this one")
	f.IntVar(&opts.Priority, "priority", 0, "1 (first, the default) to 4 (last), for consumers with levels")
	f.BoolVar(&opts.Broadcast, "broadcast", false, "to each node of the namespace as well; not with a delay")
	f.StringVar(&authored, "authored-at", "", "when it happened, if not now, RFC 3339")
	f.StringArrayVar(&opts.Tags, "tag", nil, "a tag; may be repeated")
	return cmd
}

// payload reads it from where the command line says. Nothing is read from stdin unless asked for: in a script stdin may be
// anything, or stay open for ever.
func (s *session) payload(cmd *cobra.Command, arg []string, file string) (any, error) {
	body, err := s.bytes(cmd, "the payload", arg, file)
	if err != nil || body == nil {
		return nil, err
	}
	return json.RawMessage(body), nil
}

// bytes are those of an argument, a file or stdin; nil if none was given. what names them in errors.
func (s *session) bytes(cmd *cobra.Command, what string, arg []string, file string) ([]byte, error) {
	var body []byte
	var err error
	switch {
	case len(arg) == 1 && file != "":
		return nil, usage(cmd, what+" is given twice, as an argument and by --file")
	case len(arg) == 1 && arg[0] != "-":
		return []byte(arg[0]), nil
	case len(arg) == 1, file == "-":
		if body, err = io.ReadAll(s.Stdin); err != nil {
			return nil, fmt.Errorf("read %s from stdin: %w", what, err)
		}
	case file != "":
		if body, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("read %s: %w", what, err)
		}
	default:
		return nil, nil
	}
	return append([]byte{}, body...), nil
}

func headerMap(cmd *cobra.Command, pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	headers := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage(cmd, "--header is "+quote(pair)+"; it takes NAME=VALUE")
		}
		headers[name] = value
	}
	return headers, nil
}

// timeFlag wants an offset in every time, as the options in SQL do: a time without one means another hour on another machine.
func timeFlag(cmd *cobra.Command, name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return t, usage(cmd, "--"+name+" is "+quote(value)+"; it takes a time with its offset, such as 2026-11-28T09:00:00Z")
	}
	return t, nil
}

func (s *session) printReceipt(r queue.Receipt) error {
	out := struct {
		EventID   int64     `json:"event_id"`
		EventUID  uuid.UUID `json:"event_uid"`
		MessageID *int64    `json:"message_id"` // null while the event is delayed
		Duplicate bool      `json:"duplicate"`
	}{EventID: r.EventID, EventUID: r.EventUID, Duplicate: r.Duplicate}
	message := ""
	if r.MessageID != 0 {
		out.MessageID = &r.MessageID
		message = fmt.Sprint(r.MessageID)
	}
	if s.format == asJSON {
		return s.printJSON(out)
	}
	return s.printFields([]string{"event_id", "event_uid", "message_id", "duplicate"},
		[]string{fmt.Sprint(r.EventID), r.EventUID.String(), message, fmt.Sprint(r.Duplicate)})
}
