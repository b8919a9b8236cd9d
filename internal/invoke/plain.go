package invoke

import "strings"

// plain reports whether a statement of a handler cannot have changed the session: it only reads or writes rows, and calls nothing that
// is not known here. To be wrong about one that changes nothing costs a round trip between two events of one transaction.
func plain(sql string) bool {
	first, before, last := "", "", "" // words: the statement's, the one before the last, the last
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case strings.HasPrefix(sql[i:], "--"):
			end := strings.IndexByte(sql[i:], '\n')
			if end < 0 {
				return first != ""
			}
			i += end
		case strings.HasPrefix(sql[i:], "/*"), c == '$' && i+1 < len(sql) && (sql[i+1] < '0' || sql[i+1] > '9'):
			return false // comments nest and dollars quote: not worth it
		case c == '\'', c == '"':
			end := strings.IndexByte(sql[i+1:], c)
			if end < 0 || strings.IndexByte(sql[i+1:i+1+end], '\\') >= 0 {
				return false // what a backslash means is a setting
			}
			if c == '"' {
				before, last = last, "\""+sql[i+1:i+1+end]
			}
			i += end + 2
		case c == ';':
			return strings.TrimSpace(sql[i+1:]) == "" && rows[first]
		case c == '(':
			if last != "" && !calls[last] && before != "into" && before != "as" && !strings.HasPrefix(last, "core.") {
				return false
			}
			before, last = "", ""
			i++
		case wordy(c):
			start := i
			for i < len(sql) && (wordy(sql[i]) || sql[i] == '.') {
				i++
			}
			before, last = last, strings.ToLower(sql[start:i])
			if last == "temp" || last == "temporary" {
				return false // select into
			}
			if first == "" {
				first = last
				if !rows[first] {
					return false
				}
			}
		case c == ' ', c == '\n', c == '\t', c == '\r':
			i++
		default:
			before, last = "", ""
			i++
		}
	}
	return rows[first]
}

func wordy(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

var (
	// rows are the words that begin a statement about rows.
	rows = words(`select insert update delete merge with values table`)

	// calls may stand before a parenthesis: words of the language, types, and functions that leave nothing behind.
	calls = words(`select from where and or not in any all some exists values as on using when then else case by set is between like
over filter within returning conflict key union except intersect distinct limit offset with lateral join into
array row cast coalesce nullif greatest least extract
numeric decimal varchar char time timestamp timestamptz interval bit
now clock_timestamp statement_timestamp transaction_timestamp date_trunc date_part to_char to_timestamp to_date make_interval age
count sum min max avg array_agg string_agg jsonb_agg json_agg jsonb_object_agg bool_and bool_or every row_number rank lag lead
lower upper length octet_length char_length md5 sha256 encode decode concat concat_ws format replace substring substr trim btrim ltrim rtrim
left right split_part position strpos starts_with regexp_replace translate repeat lpad rpad quote_literal
abs round floor ceil ceiling trunc mod power sqrt sign random
to_jsonb to_json jsonb_build_object json_build_object jsonb_build_array jsonb_set jsonb_array_elements jsonb_array_elements_text jsonb_each
jsonb_each_text jsonb_extract_path_text jsonb_typeof jsonb_array_length jsonb_to_recordset jsonb_to_record jsonb_populate_record row_to_json
array_append array_length cardinality unnest generate_series array_to_string string_to_array
gen_random_uuid uuid_generate_v4 nextval currval hashtext hashtextextended pg_sleep pg_advisory_xact_lock pg_try_advisory_xact_lock pg_notify
txid_current pg_current_xact_id pg_backend_pid current_setting`)

	// lasting are the words that begin a statement whose traces nothing but the end of the connection removes.
	lasting = words(`declare prepare execute deallocate load listen discard`)
)

// lasts reports whether a statement may leave behind what cannot be put back.
func lasts(sql string) bool {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(sql)), " ")
	return lasting[strings.TrimSuffix(word, ";")]
}
