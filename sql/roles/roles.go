// Package roles has the grants of Nexus for those who need no other SQL of it.
package roles

import _ "embed"

// Grants is the file of grants: which role may call which function, and read which view.
//
//go:embed grants.sql
var Grants string
