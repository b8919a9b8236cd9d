// Package readmodel reads views, tables and the functions that answer with rows, for programs that show them to people: the command line
// and what else displays a Nexus.
//
// A [Record] is a row with its columns in order, and its values stay the JSON that Postgres wrote. A [List] is what is shown a page
// at a time: a select whose rows have an order, with the conditions that somebody asked for. Nothing here is written to the database.
// Verbs are in the public packages.
package readmodel
