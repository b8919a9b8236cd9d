// Package app wires the parts of nexus-node together: it makes loggers, pools and nodes of settings and runs them. It
// parses no arguments and prints nothing for people; that is internal/cli.
package app
