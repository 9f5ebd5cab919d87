package adopt

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
)

// members are the top-level members of a manifest, in the order in which they
// are written.
var members = []string{
	"aahp_version", "project", "last_session", "files", "quick_context", "token_budget", "next_task_id", "tasks", "cross_repo_ref",
}

// spelled is a value as a document spells it; the zero value is an absent one.
type spelled struct {
	src   []byte
	value *jsondoc.Value
}

func (s spelled) present() bool { return s.value != nil }

// previous is what an existing manifest hands on to the next one.
type previous struct {
	data     []byte // nil when there is none
	project  string // "" when none is on record
	nextTask string // the number as it is written; "" when absent
	tasks    spelled
	crossRef spelled
	session  spelled                   // last_session, when it is an object
	context  *string                   // quick_context, when it is a short enough string
	files    map[string]*jsondoc.Value // the recorded entries
	root     *jsondoc.Value            // nil when the file is of no use at all
	problems []string
}

// readPrevious reads a manifest and lists everything in it that must not be
// carried over (aahp-authoring.md 2.3). What a problem concerns is left out.
func readPrevious(data []byte) *previous {
	p := &previous{data: data, files: map[string]*jsondoc.Value{}}
	if !utf8.Valid(data) {
		return p.useless("not valid UTF-8")
	}
	doc, err := jsondoc.Parse(data, jsondoc.Options{KeepEqualKeys: true, KeepSurrogates: true})
	if err != nil {
		return p.useless("not valid JSON: " + reason(data, 0, err))
	}
	if doc.Root.Kind != jsondoc.Object {
		return p.useless("its top level is " + doc.Root.Kind.Article() + ", not an object")
	}
	p.root = doc.Root
	kept := map[string]spelled{}
	times := map[string]int{}
	for _, m := range doc.Root.Members {
		times[m.Key]++
		switch n := times[m.Key]; {
		case n == 2:
			p.problem("member named twice: " + ShowCut(sound(m.Key)))
		case n > 2:
		case !slices.Contains(members, m.Key):
			p.problem("unknown member: " + ShowCut(sound(m.Key)))
		default:
			// The strict reading of a value by itself is that of the whole
			// document with the object round it.
			_, err := jsondoc.Parse(data[m.Value.Off:m.Value.End], jsondoc.Options{MaxDepth: gate.MaxDepth - 1})
			if err != nil {
				p.problem(m.Key + ": " + reason(data, m.Value.Off, err))
				continue
			}
			kept[m.Key] = spelled{data, m.Value}
		}
	}
	for key, n := range times {
		if n > 1 {
			delete(kept, key)
		}
	}
	p.take(kept)
	return p
}

func (p *previous) useless(why string) *previous {
	p.problem(why)
	return p
}

func (p *previous) problem(what string) { p.problems = append(p.problems, what) }

// take takes over what is sound.
func (p *previous) take(kept map[string]spelled) {
	if v := kept["next_task_id"].value; v != nil && v.Kind != jsondoc.Null {
		if text, ok := wholeNumber(v); ok {
			p.nextTask = text
		} else {
			p.problem("next_task_id " + ShowCut(string(p.data[v.Off:v.End])) + " is not a whole number of zero or more")
		}
	}
	if v := kept["project"].value; v != nil {
		switch v.Kind {
		case jsondoc.String:
			p.project = v.Text
		case jsondoc.Null:
		default:
			p.problem("project is " + v.Kind.Article() + ", neither a string nor null")
		}
	}
	carried := func(key string) spelled {
		if s := kept[key]; s.present() && s.value.Kind != jsondoc.Null {
			return s
		}
		return spelled{}
	}
	p.tasks, p.crossRef = carried("tasks"), carried("cross_repo_ref")
	if s := kept["last_session"]; s.value.Is(jsondoc.Object) {
		p.session = s
	}
	if v := kept["quick_context"].value; v.Is(jsondoc.String) && utf8.RuneCountInString(v.Text) <= maxContext {
		p.context = &v.Text
	}
	if v := kept["files"].value; v.Is(jsondoc.Object) {
		for _, m := range v.Members {
			p.files[m.Key] = m.Value
		}
	}
}

var recordedTime = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$`)

// updated gives the time that is on record for a file that has not changed.
func (p *previous) updated(name, digest string) (string, bool) {
	entry := p.files[name]
	sum, at := entry.Get("checksum"), entry.Get("updated")
	if !sum.Is(jsondoc.String) || sum.Text != digest || !at.Is(jsondoc.String) || !recordedTime.MatchString(at.Text) {
		return "", false
	}
	return at.Text, true
}

// readManifest reads the manifest that is there. The error is one of reading,
// which nothing overrides.
func (f *Folder) readManifest() (*previous, error) {
	data, err := f.read(ManifestName, gate.MaxManifest)
	switch {
	case err == nil:
		return readPrevious(data), nil
	case isNone(err):
		return &previous{}, nil
	case errors.Is(err, errTooLarge):
		p := &previous{data: []byte{}}
		return p.useless(fmt.Sprintf("larger than the limit of %d MiB", gate.MaxManifest>>20)), nil
	}
	return nil, err
}

// wholeNumber gives the spelling of a whole number of zero or more; a string of
// digits is taken for the number.
func wholeNumber(v *jsondoc.Value) (text string, ok bool) {
	switch v.Kind {
	case jsondoc.String:
		if v.Text == "" || strings.Trim(v.Text, "0123456789") != "" {
			return "", false
		}
		if text = strings.TrimLeft(v.Text, "0"); text == "" {
			text = "0"
		}
		return text, true
	case jsondoc.Number:
		return v.Text, isWhole(v.Text)
	default:
		return "", false
	}
}

// isWhole tells whether the text of a JSON number stands for a whole number of
// zero or more, exactly: binary64 would take 0.99999999999999999999 for one.
func isWhole(text string) bool {
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = whole + fraction
	if strings.Trim(digits, "0") == "" {
		return true
	}
	if negative {
		return false
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil {
			return exponent[0] != '-' // beyond the length of any text
		}
	}
	zeros := len(digits) - len(strings.TrimRight(digits, "0"))
	return power >= len(fraction)-zeros
}

// reason says why the part of a document that begins at off cannot be read, and
// in which line of the document.
func reason(src []byte, off int, err error) string {
	why := err.Error()
	var e *jsondoc.Error
	if !errors.As(err, &e) {
		return why
	}
	if e.Problem == jsondoc.EqualKeys {
		why += ": " + ShowCut(e.Key)
	}
	return fmt.Sprintf("%s (line %d)", why, lines.New(src).Line(off+e.Offset))
}
