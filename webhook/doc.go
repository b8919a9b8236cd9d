// Package webhook POSTs events to URLs: a webhook is a named consumer with a queue of its own, whose events a node sends as CloudEvents 1.0 in structured mode, signed
// as Standard Webhooks says. Webhooks live in the database, where [Create] or core.create_webhook puts them; a node that was given a [Sender] runs all of its
// namespace, and learns within seconds of those that are created, altered and dropped while it runs.
//
// What the receiver answers decides: 2xx is delivered; 408, 425, 429, 3xx, 5xx and no answer are another attempt, by the consumer's retry policy or as Retry-After says;
// any other 4xx is a dead letter. A webhook that has failed for long, and one whose receiver answers 410, is paused until somebody resumes its consumer.
//
// Receivers check signatures with package signature, below this one, or with a library of Standard Webhooks.
package webhook
