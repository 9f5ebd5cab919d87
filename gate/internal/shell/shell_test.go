package shell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/internal/shell"
)

// show writes a script in one line: a command as its text, compound commands with
// their lists, and the operators between.
func show(s *shell.Script) string {
	if s.TooDeep {
		return "too deep"
	}
	return list(s.List)
}

func list(l *shell.List) string {
	var items []string
	for _, a := range l.Items {
		text := ""
		for i, p := range a.Pipelines {
			if i > 0 {
				text += " " + a.Operators[i-1] + " "
			}
			if p.Not {
				text += "! "
			}
			for j, c := range p.Commands {
				if j > 0 {
					text += " | "
				}
				text += command(c)
			}
		}
		if a.Background {
			text += " &"
		}
		items = append(items, text)
	}
	return strings.Join(items, "; ")
}

func command(c *shell.Command) string {
	names := map[shell.Kind]string{
		shell.Group: "group", shell.Subshell: "subshell", shell.If: "if", shell.Loop: "loop", shell.Case: "case", shell.Function: "function",
	}
	roles := map[shell.Role]string{
		shell.Body: "", shell.Condition: "cond ", shell.Branch: "then ", shell.Else: "else ", shell.Substitution: "subst ",
	}
	if name, ok := names[c.Kind]; ok {
		var parts []string
		for _, l := range c.Lists {
			parts = append(parts, roles[l.Role]+list(l))
		}
		return strings.TrimSpace(name+" "+c.Keyword) + "{" + strings.Join(parts, " / ") + "}"
	}
	text := ""
	for _, a := range c.Assigns {
		text += a.Name + "=" + string(a.Value) + " "
	}
	if c.Looked {
		text += "looked:"
	}
	return strings.TrimSpace("<" + strings.TrimSpace(text+c.Text) + ">")
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"lines and separators", "a b\nc; d && e || f | g & h", "<a b>; <c>; <d> && <e> || <f> | <g> &; <h>"},
		{"joined lines", "a \\\n  --level ci\nb", "<a --level ci>; <b>"},
		{"comments", "a # b\n# c; d\ne#f", "<a>; <e#f>"},
		{"quotes", `a "b; c" 'd && e' f\;g`, `<a "b; c" 'd && e' f\;g>`},
		{"a comment sign in quotes", `a "# b" '# c'`, `<a "# b" '# c'>`},
		{"an expression is opaque", "a ${{ b && '}}' || c }} d", "<a ${{ b && '}}' || c }} d>"},
		{"an expression in single quotes", "a '${{ f('x') }}' && b", "<a '${{ f('x') }}'> && <b>"},
		{"an open expression", "a ${{ b && c", "<a ${{ b && c>"},
		{"redirections", "a >b 2>&1 &>c; d>e <f; g 2>/dev/null|h", "<a >b 2>&1 &>c>; <d >e <f>; <g 2>/dev/null> | <h>"},
		{"here-documents", "cat <<A <<-'B' && d\nx; y\nA\n\tz $(w)\n\tB\ne", "<cat <<A <<-'B'> && <d>; <e>"},
		{"a here-string", "a <<<b\nc", "<a <<<b>; <c>"},
		{"a here-document without end", "a <<E\nb\nc", "<a <<E>"},
		{"pipe with errors, continued", "a |&\n b |\n\n c", "<a> | <b> | <c>"},
		{"operators at line ends", "a ||\n\n b &&\n c", "<a> || <b> && <c>"},
		{"substitution", `a "$(b && c)" d`, `<a "$()" d>`},
		{"groups", "{ a; b; } || (c; d)", "group{<a>; <b>} || subshell{<c>; <d>}"},
		{"if", "if a; then b; elif ! c; then d; else e; fi && f", "if{cond <a> / then <b> / cond ! <c> / then <d> / else <e>} && <f>"},
		{"if over lines", "if a\nthen\n  b\nfi\nc", "if{cond <a> / then <b>}; <c>"},
		{"loops", "while a; do b; done; for x in y z; do c; done; until d; do e; done", "loop while{cond <a> / <b>}; loop for{<c>}; loop until{cond <d> / <e>}"},
		{"for with arithmetic", "for ((i=0; i<3; i++)); do a; done", "loop for{<a>}"},
		{"case", "case $x in\n a|b) c;;\n (d) e; f ;;\n *) g\nesac\nh", "case{then <c> / then <e>; <f> / then <g>}; <h>"},
		{"functions", "f() { a; }\nfunction g { b; }\nf", "function f{group{<a>}}; function g{group{<b>}}; <f>"},
		{"test", "[[ a && b || c ]] && d; [ e ] || f", "<[[ a && b || c ]]> && <d>; <[ e ]> || <f>"},
		{"arithmetic", "(( a << 2 )) && b $(( c << 3 ))\nd", "<(())> && <b $(())>; <d>"},
		{"parameters", `a ${b:-$(c)} ${d#e} "${f}" g`, `<a ${b:-$()} ${d#e} "${f}" g>`},
		{"arrays", "a=(b 'c d' $(e))\nf", "<a=()>; <f>"},
		{"what is before a command", "A=1 env -i B=2 sudo -u root exec time command c d", "<A=1 B=2 c d>"},
		{"looked up", "command -v a", "<looked:a>"},
		{"assignment alone", "a=b\nc=$(d)", "<a=b>; <c=$()>"},
		{"time and not", "! time -p a", "! <a>"},
		{"backticks", "a `b \\`c\\``", "<a $()>"},
		{"process substitution", "a <(b) > >(c)", "<a $() >$()>"},
		{"windows line ends", "a\r\nb \r\n", "<a>; <b>"},
		{"nothing", "", ""},
		{"only a comment", "# a", ""},
		{"what is malformed", "fi; a ) b; done }", "<fi>; <a>; <b>; <done }>"},
		{"an open quote", "a 'b\nc", "<a 'b\nc>"},
		{"open constructs", "if a; then b", "if{cond <a> / then <b>}"},
		{"nested beyond measure", strings.Repeat("(", 60) + "a", "<(())>"},
		{"nested groups beyond measure", strings.Repeat("{ ", 60) + "a", "too deep"},
		{"nested substitutions beyond measure", strings.Repeat("a$(", 60) + "a", "too deep"},
		{"nested parameters beyond measure", strings.Repeat("${", 60) + "a", "too deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := show(shell.Parse(tt.text, shell.Options{})); got != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.text, got, tt.want)
			}
		})
	}
}

// PowerShell has braces in the middle of what would be a command, and no fi.
func TestParseFlat(t *testing.T) {
	for text, want := range map[string]string{
		"if ($a) { b } else { c; d }\ne": "<>; subshell{<$a>}; if{then <b>}; <>; if{then <c>; <d>}; <e>",
		"a | b; c && d":                  "<a> | <b>; <c> && <d>",
		"} a":                            "<a>",
		"a `\n  b\nc ^\r\n  d":           "<a b>; <c d>",
		"a `$b `n c":                     "<a `$b `n c>",
		"a <# b\nc #> d\n<# e":           "<a d>",
		"$a = @'\nb\n'@\nc":              "<$a = @''>; <c>",
		"a @\"\r\nb\r\n\"@; c":           "<a @''>; <c>",
		"a @\"\nb":                       "<a @''>",
		"if exist a b\nelse c":           "<if exist a b>; <else c>",
	} {
		if got := show(shell.Parse(text, shell.Options{Flat: true})); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// Commands are numbered as they begin, those of a substitution before the command
// that it stands in; lines count where a command ends.
func TestNumbersAndLines(t *testing.T) {
	s := shell.Parse("a \"x\ny\" || {\n b\n}\nc=$(d) \\\n e", shell.Options{})
	var got []string
	for _, c := range s.Commands {
		got = append(got, fmt.Sprintf("%d:%d %s", c.Line, c.EndLine, c.Text))
	}
	if text := strings.Join(got, "; "); text != "1:1 a \"x\ny\"; 2:2 b; 4:4 d; 4:4 e" {
		t.Error(text)
	}
	group := s.List.Items[0].Pipelines[1].Commands[0]
	if group.Kind != shell.Group || group.Line != 1 || group.EndLine != 3 || group.Last != s.Commands[1].Seq {
		t.Errorf("%+v", group)
	}
	for i := 1; i < len(s.Commands); i++ {
		if s.Commands[i-1].Seq >= s.Commands[i].Seq {
			t.Errorf("%d, then %d", s.Commands[i-1].Seq, s.Commands[i].Seq)
		}
	}
}

func TestValue(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"a", "a"},
		{`"a b"`, "a b"},
		{`'a\b'`, `a\b`},
		{`a\ b`, "a b"},
		{`"a\"b\c"`, `a"b\c`},
		{`e"c"'h'o`, "echo"},
		{`"${{ a['b'] }}"`, "${{ a['b'] }}"},
	} {
		if got := shell.Word(tt.word).Value(); got != tt.want {
			t.Errorf("%s: %s", tt.word, got)
		}
	}
}

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"/bin/echo a": "echo", `"echo" a`: "echo", "./echo": "./echo", "A=b": "", "env /usr/bin/printf x": "printf",
	} {
		if got := shell.Parse(text, shell.Options{}).Commands[0].Name(); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// hostile are texts of that many bytes that make a parser work.
func hostile(size int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	return map[string]string{
		"expressions without end": fill("${{"),
		"quoted expressions":      fill("'${{ '"),
		"substitutions":           fill("$(a) "),
		"open substitutions":      fill("$("),
		"groups":                  fill("{ a; } "),
		"backticks":               fill("`a` "),
		"escaped backticks":       "`" + fill("\\`"),
		"here-documents":          fill("<<a "),
		"here-documents in lines": fill("<<a\n"),
		"ors":                     "a" + fill(" || a"),
		"pipes":                   "a" + fill(" | a"),
		"arithmetic":              fill("(("),
		"cases":                   fill("case a in b) c;; esac;"),
		"ifs":                     fill("if a; then b; fi;"),
		"open ifs":                fill("if a;"),
		"functions":               fill("f() { a; };"),
		"parameters":              fill("${a:-b}"),
		"assignments":             fill("a=b "),
		"wrappers":                fill("env "),
	}
}

// BenchmarkHostileScripts is the slowest of the hostile texts against a plain one of the
// same size.
func BenchmarkHostileScripts(b *testing.B) {
	plain := strings.Repeat("make test VERBOSE=1 # a command\n", (1<<20)/32)
	parse := func(text string) func() { return func() { shell.Parse(text, shell.Options{}) } }
	var worst string
	var most time.Duration
	texts := hostile(1 << 20)
	for name, text := range texts {
		if took := bench.Fastest(3, parse(text)); took > most {
			worst, most = name, took
		}
	}
	b.Log("the slowest: ", worst)
	bench.Ratio(b, 20, parse(plain), parse(texts[worst]))
}

func TestHostile(t *testing.T) {
	for name, text := range hostile(1 << 16) {
		t.Run(name, func(*testing.T) { shell.Parse(text, shell.Options{}) })
	}
}

// FuzzParse holds that any text is split, twice in the same way, and that every
// command can be reached and knows its place.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a && b || c | d & (e; f)", "if a; then b; else c; fi", "case x in y) z;; esac", "a <<E\nb\nE\nc", "f() { a; }; f", "a \"$(b `c`)\"",
		"${{ x }}", "[[ a && b ]]", "((1<<2))", "a=(b c)", "! time a", "for x in y; do z; done", "}", "a=$(b)",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, flat bool) {
		s := shell.Parse(text, shell.Options{Flat: flat})
		if again := shell.Parse(text, shell.Options{Flat: flat}); show(s) != show(again) {
			t.Fatalf("%s, then %s", show(s), show(again))
		}
		last := 0
		for _, c := range s.Commands {
			if c.Seq <= last || c.Line < 1 || c.EndLine < c.Line {
				t.Fatalf("command %q: number %d after %d, lines %d to %d", c.Text, c.Seq, last, c.Line, c.EndLine)
			}
			last = c.Seq
			for up := c; ; {
				in := up.In.In.In
				if up.In.Commands[up.Index] != up || up.In.In.Pipelines[up.In.Index] != up.In || in.Items[up.In.In.Index] != up.In.In {
					t.Fatalf("command %q is not where it says", c.Text)
				}
				if in.Owner == nil {
					if in != s.List {
						t.Fatalf("command %q is in no script", c.Text)
					}
					break
				}
				up = in.Owner
			}
		}
	})
}
