package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// contentCommands are for scripts about what files hold. Their files are marked:
// «lint/pii» stands where that finding begins, «error lint/pii» gives a severity
// that is not the rule's only one, and «» stands where the finding ends, for who
// wants that checked too. «U+202E» is that character, «xFF» that byte; neither
// would be seen otherwise. «-» is nothing: it keeps the sample of a secret from
// being taken for one.
//
//	marked FILE PATH          writes PATH without its marks, which announce
//	                          findings there
//	manifest-with FILE [DIR]  writes the manifest that fits the handoff files and
//	                          puts the members in FILE at its end, spelled as
//	                          they are, their marks removed
//	announce FINDING          announces a finding that no mark can: "SEVERITY
//	                          RULE PATH", perhaps with ":LINE" and ":COLUMN"
//	forget [PATH]             forgets what was announced, or that of PATH
//	finds ARGS                does what "gate" does, and wants exactly what was
//	                          announced of the rules lint/, schema/ and tasks/;
//	                          an exit status of 1 if that has an error, else 0
//	nested FILE N TEXT        writes a JSON file: TEXT within N arrays
//	hidden TEXTS -- ARGS      runs the program in every format and wants none of
//	                          the texts in anything it writes: standard output,
//	                          standard error, report file
var contentCommands = map[string]func(*testscript.TestScript, bool, []string){
	"marked": marked, "manifest-with": manifestWith, "announce": announce, "forget": forget, "finds": finds, "hidden": hidden, "nested": nested,
}

// announced is the variable that holds what was announced, a line each.
const announced = "ANNOUNCED"

func marked(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2)
	path := unescape(ts, args[1])
	forget(ts, false, []string{path})
	write(ts, false, []string{args[1], ""})
	ts.Check(os.WriteFile(ts.MkAbs(path), unmark(ts, path, ts.ReadFile(args[0])), 0o644))
}

func manifestWith(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 2)
	manifest(ts, false, args[1:])
	file := filepath.Join(folder(ts, false, args[1:]), "MANIFEST.json")
	data, err := os.ReadFile(file)
	ts.Check(err)
	text := strings.TrimSuffix(string(data), "\n}\n") + ",\n" + strings.TrimSuffix(ts.ReadFile(args[0]), "\n") + "\n}\n"
	rel, err := filepath.Rel(ts.MkAbs("."), file)
	ts.Check(err)
	rel = filepath.ToSlash(rel)
	forget(ts, false, []string{rel})
	ts.Check(os.WriteFile(file, unmark(ts, rel, text), 0o644))
}

// unmark takes the marks out of a text and announces their findings at path.
func unmark(ts *testscript.TestScript, path, text string) []byte {
	var out []byte
	var open []string // findings of this text
	line, column := 1, 1
	for len(text) > 0 {
		mark, rest, found := strings.Cut(strings.TrimPrefix(text, "«"), "»")
		if !strings.HasPrefix(text, "«") || !found {
			r, n := utf8.DecodeRuneInString(text)
			out, text = append(out, text[:n]...), text[n:]
			column++
			if r == '\n' {
				line, column = line+1, 1
			}
			continue
		}
		text = rest
		switch point, isPoint := strings.CutPrefix(mark, "U+"); {
		case mark == "-":
		case mark == "":
			if len(open) == 0 {
				ts.Fatalf("%s:%d:%d: nothing to end", path, line, column)
			}
			open[len(open)-1] += "-" + strconv.Itoa(column)
		case isPoint:
			n, err := strconv.ParseUint(point, 16, 32)
			ts.Check(err)
			if out = utf8.AppendRune(out, rune(n)); len(out) > 3 || n != 0xfeff {
				column++ // The byte order mark at the start of a file counts as none.
			}
		case len(mark) == 3 && mark[0] == 'x':
			n, err := strconv.ParseUint(mark[1:], 16, 8)
			ts.Check(err)
			out = append(out, byte(n))
			column++
		default:
			severity, rule, both := strings.Cut(mark, " ")
			if !both {
				rule = severity
			}
			known := catalog.Find(rule)
			if known == nil {
				ts.Fatalf("%s:%d:%d: no rule %q", path, line, column, rule)
			}
			if !both {
				severity = string(known.Severity)
			}
			open = append(open, fmt.Sprintf("%s %s %s:%d:%d", severity, rule, path, line, column))
		}
	}
	for _, finding := range open {
		announce(ts, false, []string{finding})
	}
	return out
}

func announce(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 1)
	ts.Setenv(announced, ts.Getenv(announced)+args[0]+"\n")
}

func forget(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 0, 1)
	var kept strings.Builder
	for line := range strings.Lines(ts.Getenv(announced)) {
		if len(args) == 1 && !strings.HasPrefix(strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)[2]+":", args[0]+":") {
			kept.WriteString(line)
		}
	}
	ts.Setenv(announced, kept.String())
}

func finds(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("the exit status follows from what was announced")
	}
	wanted := strings.Split(strings.TrimSuffix(ts.Getenv(announced), "\n"), "\n")
	wanted = slices.DeleteFunc(wanted, func(s string) bool { return s == "" })
	failing := slices.ContainsFunc(wanted, func(s string) bool { return strings.HasPrefix(s, "error ") })
	r, stderr := judged(ts, failing, args)
	var missing []string
	var others []report.Finding
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			for _, f := range l.Findings {
				group, _, _ := strings.Cut(f.Rule, "/")
				if group != "lint" && group != "schema" && group != "tasks" {
					continue
				}
				if i := slices.IndexFunc(wanted, func(w string) bool { return is(f, w) }); i >= 0 {
					wanted = slices.Delete(wanted, i, i+1)
				} else {
					others = append(others, f)
				}
			}
		}
	}
	for _, w := range wanted {
		missing = append(missing, "missing: "+w)
	}
	for _, f := range others {
		missing = append(missing, fmt.Sprintf("not announced: %s: %s", place(f, true), f.Message))
	}
	if len(missing) > 0 {
		ts.Fatalf("%s", strings.Join(missing, "\n"))
	}
	fmt.Fprint(ts.Stdout(), listing(r))
	fmt.Fprint(ts.Stderr(), stderr)
}

// is tells whether a finding is the announced one.
func is(f report.Finding, announced string) bool {
	return announced == place(f, false) || announced == place(f, true)
}

func place(f report.Finding, end bool) string {
	s := fmt.Sprintf("%s %s %s", f.Severity, f.Rule, f.Path)
	if f.Line > 0 {
		s += fmt.Sprintf(":%d", f.Line)
	}
	if f.Column > 0 {
		s += fmt.Sprintf(":%d", f.Column)
	}
	if end && f.EndColumn > 0 {
		s += fmt.Sprintf("-%d", f.EndColumn)
	}
	return s
}

func nested(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, 3)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("[", n)+args[2]+strings.Repeat("]", n)), 0o644))
}

func hidden(ts *testscript.TestScript, neg bool, args []string) {
	dash := slices.Index(args, "--")
	if neg || dash < 1 || dash == len(args)-1 {
		ts.Fatalf("usage: hidden TEXTS -- ARGS")
	}
	texts, args := args[:dash], args[dash+1:]
	for i := range texts {
		texts[i] = unescape(ts, texts[i])
	}
	file := reportFile(ts)
	for _, format := range []string{"text", "json", "sarif", "github"} {
		status, stdout, stderr := run(ts, append(slices.Clone(args), "--format", format, "--report", file, "--now", now))
		if status != 0 && status != 1 {
			ts.Fatalf("exit status %d\n%s", status, stderr)
		}
		for place, written := range map[string]string{"standard output": stdout, "standard error": stderr, "the report": ts.ReadFile(file)} {
			for _, t := range texts {
				if i := strings.Index(written, t); i >= 0 {
					ts.Fatalf("with --format %s, %s holds %q: …%s…", format, place, t, written[max(0, i-80):min(len(written), i+len(t)+40)])
				}
			}
		}
	}
}
