package cli

import "github.com/nexuspg/nexus/internal/readmodel"

// printRecords prints a list. names are its columns, needed for an empty one.
func (s *session) printRecords(names []string, records []readmodel.Record) error {
	if s.format == asJSON {
		if records == nil {
			records = []readmodel.Record{}
		}
		return s.printJSON(records)
	}
	rows := make([][]string, len(records))
	for i, r := range records {
		rows[i] = r.Texts()
		if s.Width != nil {
			inWordsOfTime(names, rows[i], r.Now)
		}
	}
	return s.printTable(names, rows)
}

// printRecord prints one thing.
func (s *session) printRecord(r readmodel.Record) error {
	if s.format == asJSON {
		return s.printJSON(r)
	}
	return s.printFields(r.Names, r.Texts())
}
