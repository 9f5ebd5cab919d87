package lint

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// allowlist is what the handoff folder's pii-allowlist.json says.
type allowlist struct {
	problems []listProblem
	entries  []listEntry // the sound ones
	void     bool        // the root is wrong: no entry counts
}

type listProblem struct {
	span    report.Span
	message string
}

// listEntry is a sound entry; whether it has expired is judged with the clock.
type listEntry struct {
	value         string
	expires       time.Time // midnight UTC of the last valid day
	span, expSpan report.Span
}

const (
	// maxListProblems is how many problems of one allowlist are listed.
	maxListProblems = 1000
	// expiringDays is how soon an expiry is announced.
	expiringDays = 14
)

var (
	entryKeys      = [...]string{"value", "kind", "reason", "owner", "expires"}
	addressPattern = regexp.MustCompile(`^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$`)
)

// listReader walks over the tokens of the document. It keeps the entries and
// the problems, never a tree: the file may be as large as any handoff file.
type listReader struct {
	data   []byte
	places *placer
	list   allowlist

	rootOK  bool
	root    map[string]bool
	key     jsondoc.Token // of the member at hand, at depth 1 or 3
	inList  bool          // inside the array of "entries"
	entry   *listItem     // the entry at hand
	values  map[string]struct{}
	skipped int // problems beyond maxListProblems
}

type listItem struct {
	open    jsondoc.Token
	members map[string]jsondoc.Token
	wrong   bool
}

// parseAllowlist reads the document and collects every problem.
func parseAllowlist(data []byte) *allowlist {
	r := &listReader{data: data, places: newPlacer(data, 1), root: map[string]bool{}, values: map[string]struct{}{}}
	err := jsondoc.Scan(data, jsondoc.Options{MaxDepth: gate.MaxHandoffDepth, KeepEqualKeys: true}, r.token)
	var problem *jsondoc.Error
	switch {
	case errors.As(err, &problem):
		r.list.void = true
		r.list.problems = append(r.list.problems, listProblem{placeOf(data, problem), "it is not valid JSON: " + problem.Error()})
	case !r.rootOK:
		r.rootProblem("it must be an object with version and entries")
	default:
		for _, k := range []string{"version", "entries"} {
			if !r.root[k] {
				r.rootProblem(fmt.Sprintf("%q is missing at the top level", k))
			}
		}
	}
	if r.skipped > 0 {
		last := &r.list.problems[len(r.list.problems)-1]
		last.message += fmt.Sprintf(" (%d more problems are not listed)", r.skipped)
	}
	if r.list.void {
		r.list.entries = nil
	}
	return &r.list
}

func (r *listReader) rootProblem(message string) {
	r.list.void = true
	r.problem(report.Span{Line: 1}, message)
}

func (r *listReader) problem(span report.Span, message string) {
	if len(r.list.problems) >= maxListProblems {
		r.skipped++
		return
	}
	r.list.problems = append(r.list.problems, listProblem{span, message})
}

// at gives the place of a token; arrays and objects are marked where they open.
func (r *listReader) at(t jsondoc.Token) report.Span { return r.places.span(t.Off, t.End) }

func (r *listReader) text(t jsondoc.Token) string { return t.Text(r.data) }

func (r *listReader) token(t jsondoc.Token) error {
	switch t.Kind {
	case jsondoc.ObjectEnd, jsondoc.ArrayEnd:
		switch {
		case t.Depth == 2 && r.entry != nil:
			r.settle()
		case t.Depth == 1:
			r.inList = false
		}
		return nil
	case jsondoc.Key:
		r.member(t)
		return nil
	case jsondoc.Object, jsondoc.Array, jsondoc.String, jsondoc.Number, jsondoc.True, jsondoc.False, jsondoc.Null:
	}
	switch {
	case t.Depth == 0:
		r.rootOK = t.Kind == jsondoc.Object
	case t.Depth == 1 && r.rootOK:
		r.rootValue(t)
	case t.Depth == 2 && r.inList:
		if t.Kind == jsondoc.Object {
			r.entry = &listItem{open: t, members: map[string]jsondoc.Token{}}
		} else {
			r.problem(r.at(t), "an entry must be an object, not "+t.Kind.Article())
		}
	case t.Depth == 3 && r.entry != nil:
		if _, known := r.entry.members[r.text(r.key)]; known {
			r.entry.members[r.text(r.key)] = t
		}
	}
	return nil
}

// member handles a key of the root or of an entry.
func (r *listReader) member(t jsondoc.Token) {
	r.key = t
	key := r.text(t)
	switch {
	case t.Depth == 1 && r.rootOK:
		if key != "version" && key != "entries" {
			r.rootProblem(fmt.Sprintf("unknown key %s at the top level", shownKey(key)))
		} else if r.root[key] {
			r.list.void = true
			r.problem(r.at(t), fmt.Sprintf("the key %q stands at the top level twice", key))
		}
		r.root[key] = true
	case t.Depth == 3 && r.entry != nil:
		if _, twice := r.entry.members[key]; twice {
			r.entry.wrong = true
			r.problem(r.at(t), fmt.Sprintf("the key %q stands in an entry twice", key))
			return
		}
		for _, k := range entryKeys {
			if k == key {
				r.entry.members[key] = jsondoc.Token{}
				return
			}
		}
		r.entry.wrong = true
		r.problem(r.at(r.entry.open), "unknown key "+shownKey(key)+" in an entry")
	}
}

// rootValue handles a value of the root.
func (r *listReader) rootValue(t jsondoc.Token) {
	switch r.text(r.key) {
	case "version":
		if t.Kind != jsondoc.Number || !isOne(r.text(t)) {
			r.list.void = true
			r.problem(r.at(t), "version must be the number 1")
		}
	case "entries":
		if t.Kind != jsondoc.Array {
			r.list.void = true
			r.problem(r.at(t), "entries must be an array, not "+t.Kind.Article())
			return
		}
		r.inList = true
	}
}

// isOne tells whether a JSON number spells the value 1.
func isOne(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && f == 1
}

// settle judges the entry that has just ended.
func (r *listReader) settle() {
	e := r.entry
	r.entry = nil
	complain := func(t jsondoc.Token, message string) {
		e.wrong = true
		r.problem(r.at(t), message)
	}
	texts := map[string]string{}
	for _, k := range entryKeys {
		t, there := e.members[k]
		switch {
		case !there:
			complain(e.open, fmt.Sprintf("%q is missing in an entry", k))
			continue
		case t.Kind != jsondoc.String:
			complain(t, fmt.Sprintf("%s must be a string, not %s", k, t.Kind.Article()))
			continue
		}
		text := r.text(t)
		switch {
		case strings.TrimSpace(text) == "":
			complain(t, k+" must not be blank")
			continue
		case strings.ContainsAny(text, "\r\n\t"):
			complain(t, k+" must not hold a line end or a tab")
			continue
		}
		texts[k] = text
	}
	if kind, ok := texts["kind"]; ok && kind != "email" {
		complain(e.members["kind"], `kind must be "email"`)
	}
	value, ok := texts["value"]
	if ok {
		if !addressPattern.MatchString(value) {
			complain(e.members["value"], "value must be one whole e-mail address: no wildcard, no domain, no expression")
		} else if _, twice := r.values[value]; twice {
			complain(e.members["value"], "the address "+maskAddress(value)+" stands in an earlier entry already")
		} else {
			r.values[value] = struct{}{}
		}
	}
	expires, ok := texts["expires"]
	day, dated := parseDay(expires)
	if ok && !dated {
		complain(e.members["expires"], "expires must be a date of the calendar, written YYYY-MM-DD")
	}
	if !e.wrong {
		r.list.entries = append(r.list.entries, listEntry{
			value: value, expires: day, span: r.at(e.members["value"]), expSpan: r.at(e.members["expires"]),
		})
	}
}

// parseDay reads YYYY-MM-DD in ASCII digits.
func parseDay(s string) (time.Time, bool) {
	if len(s) != len("2006-01-02") {
		return time.Time{}, false
	}
	t, err := time.Parse("2006-01-02", s)
	return t, err == nil && t.Year() > 0
}

// shownKey quotes an unknown key for a message, unless it holds a secret.
func shownKey(key string) string {
	if holdsSecret(key) {
		return "***"
	}
	return `"` + safetext.Clean(key) + `"`
}

// maskAddress shows an address as aahp-lint.md 5 says.
func maskAddress(a string) string {
	var c creds
	c.scanLine([]byte(a))
	at := strings.IndexByte(a, '@')
	if at < 1 {
		return "***"
	}
	for _, m := range c.found {
		if m.detector != addressDetector {
			return "***"
		}
	}
	return a[:1] + "***@" + safetext.Clean(a[at+1:])
}
