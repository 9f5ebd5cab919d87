package trust

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func scan(text string) (rows []Row, headers int) {
	headers = Scan([]byte(text), func(r Row) { rows = append(rows, r) })
	return rows, headers
}

// TestScan shows what counts as a row, one rule of the reader at a time.
func TestScan(t *testing.T) {
	const head = "| Property | Status | Expires | Check |\n|---|:-:|---:|:--|\n"
	row := func(line int, label, status, expires, check string) Row {
		return Row{Line: line, Label: label, Status: status, Expires: expires, Check: check}
	}
	for _, tc := range []struct {
		name    string
		text    string
		rows    []Row
		headers int
	}{
		{"nothing at all", "", nil, 0},
		{"prose alone", "# Trust\n\nNothing here.\n", nil, 0},
		{
			"header, separator, row", head + "| Build | verified | 2026-01-01 | - |\n",
			[]Row{row(3, "Build", "verified", "2026-01-01", "")},
			1,
		},
		{
			"status is lower-cased, other cells are not", head + "| Build | VERIFIED | Soon | X |\n",
			[]Row{row(3, "Build", "verified", "Soon", "X")},
			1,
		},
		{
			"a dotted capital I is not an i", head + "| Build | VERİFİED | - | - |\n",
			[]Row{row(3, "Build", "verİfİed", "-", "")},
			1,
		},
		{
			"back-ticks round a check go", head + "| Build | verified | - | ` license-matches ` |\n",
			[]Row{row(3, "Build", "verified", "-", "license-matches")},
			1,
		},
		{
			"CRLF, and no line end at the last line", strings.ReplaceAll(head, "\n", "\r\n") + "| Build | verified | - | a |\r",
			[]Row{row(3, "Build", "verified", "-", "a")},
			1,
		},
		{
			"indented with blanks and tabs", " \t" + head + "\t| Build | verified | - | a |\n",
			[]Row{row(3, "Build", "verified", "-", "a")},
			1,
		},
		{
			"no closing bar: the last cell is read whole", "| Property | Status | Expires\n|---|---|---\n| Build | verified | 2026-01-01\n",
			[]Row{row(3, "Build", "verified", "2026-01-01", "")},
			1,
		},
		{
			"an escaped bar does not split", head + "| a \\| b | verified | - | x |\n| c | verified | - | y\\|\n",
			[]Row{row(3, "a \\| b", "verified", "-", "x"), row(4, "c", "verified", "-", "y\\|")},
			1,
		},
		{
			"cells missing at the end are empty", head + "| Build | verified |\n",
			[]Row{row(3, "Build", "verified", "", "")},
			1,
		},
		{"empty cells only are a separator", head + "| | | | |\n|\n| - | :- | -: | |\n", nil, 1},
		{"a colon alone is not a separator", head + "| : |\n", []Row{row(3, ":", "", "", "")}, 1},
		{"a row before any header is ignored", "| Build | verified | 2020-01-01 |\n" + head, nil, 1},
		{"a blank line ends a table", head + " \t\r\n| Build | verified | - | - |\n", nil, 1},
		{
			"a line of text does not", head + "Some words.\n| Build | verified | - | a |\n",
			[]Row{row(4, "Build", "verified", "-", "a")},
			1,
		},
		{
			"fences and comments hide nothing", "<!--\n```\n" + head + "| Build | verified | - | a |\n```\n-->\n",
			[]Row{row(5, "Build", "verified", "-", "a")},
			1,
		},
		{
			"a second header replaces all positions", head + "| Expires | Fact |\n| 2026-01-01 | Build |\n",
			[]Row{row(4, "2026-01-01", "", "2026-01-01", "")},
			2,
		},
		{
			"of equal names the last column counts", "| Status | Status | Check | CHECK |\n| a | Verified | x | y |\n",
			[]Row{row(2, "a", "verified", "", "y")},
			1,
		},
		{"a Check column alone is no header", "| Fact | Check |\n| Build | a |\n", nil, 0},
		{
			"blank after the last bar", "| Fact | Status | \n| Build | verified | \n",
			[]Row{row(2, "Build", "verified", "", "")},
			1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, headers := scan(tc.text)
			if !reflect.DeepEqual(rows, tc.rows) || headers != tc.headers {
				t.Errorf("got %d headers and %+v\nwant %d headers and %+v", headers, rows, tc.headers, tc.rows)
			}
		})
	}
}

var plainDelimiter = regexp.MustCompile(`^(:?-+:?)?$`)

// plainScan is a second reading of section 8.1, written to be compared with the
// specification and not to be fast.
func plainScan(text string) (rows []Row, headers int) {
	var positions map[string]int
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if n == len(lines)-1 && lines[n] == "" {
			break
		}
		if strings.Trim(line, " \t") == "" {
			positions = nil
			continue
		}
		line = strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(line, "|") {
			continue
		}
		pieces := []string{""}
		for i := range len(line) {
			if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
				pieces = append(pieces, "")
				continue
			}
			pieces[len(pieces)-1] += string([]byte{line[i]})
		}
		pieces = pieces[1:]
		if pieces[len(pieces)-1] == "" {
			pieces = pieces[:len(pieces)-1]
		}
		separator, found := true, map[string]int{}
		for i, p := range pieces {
			pieces[i] = strings.Trim(p, " \t")
			separator = separator && plainDelimiter.MatchString(pieces[i])
			for _, name := range []string{"status", "expires", "check"} {
				if len(pieces[i]) == len(name) && strings.EqualFold(pieces[i], name) {
					found[name] = i
				}
			}
		}
		_, hasStatus := found["status"]
		_, hasExpires := found["expires"]
		switch {
		case separator:
		case hasStatus || hasExpires:
			positions = found
			headers++
		case positions != nil:
			cell := func(name string) string {
				if i, ok := positions[name]; ok && i < len(pieces) {
					return pieces[i]
				}
				return ""
			}
			r := Row{Line: n + 1, Label: pieces[0], Expires: cell("expires")}
			status := []byte(cell("status"))
			for i, c := range status {
				if 'A' <= c && c <= 'Z' {
					status[i] = c + 32
				}
			}
			r.Status = string(status)
			r.Check = strings.Trim(strings.ReplaceAll(cell("check"), "`", ""), " \t")
			if r.Check == "-" {
				r.Check = ""
			}
			rows = append(rows, r)
		}
	}
	return rows, headers
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"", "|", "||", "\\|", "|\\", "| Status |\n| verified |",
		"| Property | Status | Expires | Check |\n|---|---|---|---|\n| a \\| b | Verified | 2026-01-01 | `x` |\r\n\r\n| c | verified |\n",
		"| status | EXPIRES\n|:-:|-\nwords\n\t| a | b\n", "| Status | | check | Status\n| | | - | `-`",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return // the plain reading is quadratic
		}
		rows, headers := scan(text)
		want, wantHeaders := plainScan(text)
		if headers != wantHeaders || !reflect.DeepEqual(rows, want) {
			t.Fatalf("got %d headers and %+v\nwant %d headers and %+v", headers, rows, wantHeaders, want)
		}
	})
}
