package trust

import (
	"regexp"
	"strings"
)

// Row is one row of a trust table (aahp-verify.md 8.1). Its strings share the
// memory of the text they were read from.
type Row struct {
	Line    int    // 1-based line of the register
	Label   string // the first cell, trimmed
	Status  string // lower-cased; "" without the column or the cell
	Expires string // the cell, trimmed; "" without the column or the cell
	Check   string // without back-ticks, trimmed; "" for none and for "-"
}

// columns are the positions of the three columns that matter; -1 is absent.
type columns struct{ status, expires, check int }

// Scan reads the tables of a trust register and calls visit for every row, in
// order. It gives the number of table headers seen: 0 means that the text has
// no trust table, whatever else it holds. It knows nothing of Markdown but
// lines that begin with a bar, so a fence or a comment hides no row, and it
// cannot fail: every text has a reading.
func Scan(text []byte, visit func(Row)) (headers int) {
	rest := string(text)
	var cols columns
	table := false // a header was seen since the last blank line
	for line := 1; rest != ""; line++ {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		l = strings.TrimLeft(strings.TrimSuffix(l, "\r"), " \t")
		if l == "" {
			table = false
			continue
		}
		if l[0] != '|' {
			continue
		}
		row, header, kind := read(l, cols)
		switch {
		case kind == separator:
		case kind == heading:
			table, cols = true, header
			headers++
		case table:
			row.Line = line
			visit(row)
		}
	}
	return headers
}

type lineKind uint8

const (
	separator lineKind = iota
	heading
	values
)

// read splits one table line, which begins with a bar, and says what it is. It
// looks at each cell once and keeps only the cells that matter, so a line of a
// million bars costs its length and no memory.
func read(line string, cols columns) (row Row, header columns, kind lineKind) {
	header = columns{-1, -1, -1}
	check := ""
	rest := line[1:]
	for i := 0; rest != ""; i++ {
		n := bar(rest)
		cell := rest
		if n < 0 {
			rest = ""
		} else {
			cell, rest = rest[:n], rest[n+1:]
		}
		cell = strings.Trim(cell, " \t")
		if kind == separator && !isDelimiter(cell) {
			kind = values
		}
		switch lower(cell) {
		case "status":
			header.status, kind = i, heading
		case "expires":
			header.expires, kind = i, heading
		case "check":
			header.check = i
		}
		if i == 0 {
			row.Label = cell
		}
		if i == cols.status {
			row.Status = lower(cell)
		}
		if i == cols.expires {
			row.Expires = cell
		}
		if i == cols.check {
			check = cell
		}
	}
	check = strings.Trim(strings.ReplaceAll(check, "`", ""), " \t")
	if check != "-" {
		row.Check = check
	}
	return row, header, kind
}

// bar finds the first bar that splits; a backslash before it makes it text.
func bar(s string) int {
	for from := 0; ; {
		n := strings.IndexByte(s[from:], '|')
		if n < 0 {
			return -1
		}
		n += from
		if n == 0 || s[n-1] != '\\' {
			return n
		}
		from = n + 1
	}
}

// isDelimiter tells whether a cell is empty or dashes with optional colons.
func isDelimiter(cell string) bool {
	if cell == "" {
		return true
	}
	cell = strings.TrimPrefix(cell, ":")
	cell = strings.TrimSuffix(cell, ":")
	return cell != "" && strings.Trim(cell, "-") == ""
}

// lower changes A to Z only. Full Unicode mapping adds nothing to words that
// are ASCII, and Go's would read a dotted capital I as an "i".
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] >= 'A' && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// provenance is a line of a table that names the column (aahp-governance.md 5). \b
// is ASCII here.
var provenance = regexp.MustCompile(`(?im)^\|.*\bProvenance\b.*\|`)

// NamesProvenance tells whether a table of a register has a column Provenance, which
// says what each property rests on.
func NamesProvenance(register []byte) bool { return provenance.Match(register) }
