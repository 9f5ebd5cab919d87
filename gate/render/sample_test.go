package render

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with testdata/name, byte for byte.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", file, got)
	}
}

const (
	baseID = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
	headID = "f00dfeedf00dfeedf00dfeedf00dfeedf00dfeed"
	linkID = "cafe0000cafe0000cafe0000cafe0000cafe0000"
)

// finding makes a finding; the line is 0 where none is known.
func finding(id string, s report.Severity, path string, line int, message, remedy string) report.Finding {
	return report.Finding{Rule: id, Severity: s, Path: path, Span: report.Span{Line: line}, Message: message, Remedy: remedy}
}

// made finishes a report over projects.
func made(projects ...report.Project) *report.Report {
	r := &report.Report{
		Tool: report.Tool{Name: "handoff-gate", Version: "0.1.0"},
		Base: baseID, Head: headID, Projects: projects,
	}
	r.Finish()
	return r
}

// passing is a change that does everything right.
func passing() *report.Report {
	return made(report.Project{Path: ".", Format: "aahp", Level: "ci", Layers: []report.Layer{
		report.Done("integrity", "Manifest integrity", "11 files indexed, 11 verified, in the head tree and the working tree", nil),
		report.Done("drift", "Handoff updated with the change", "3 changes outside the handoff, described", nil),
		report.Done("pointer", "Last session's commit", "the recorded commit is an ancestor of HEAD; only the handoff differs", nil),
		report.Done("trust", "Trust register", "4 rows: 3 verified (1 check-backed, 2 dated), 1 assumed, 0 untested", nil),
	}})
}

// failing has something of everything: two failed layers, a warning, a notice,
// a remedy in common, a finding with columns.
func failing() *report.Report {
	look := "First look at `git diff -- .ai/handoff`: regenerating re-baselines whatever changed, tampering too. Only if all of it is legitimate:\nfix: handoff-gate manifest ."
	return made(report.Project{Path: ".", Format: "aahp", Level: "ci", Layers: []report.Layer{
		report.Done("integrity", "Manifest integrity", "2 of 11 indexed files changed outside the protocol", []report.Finding{
			finding("integrity/checksum-mismatch", report.Error, ".ai/handoff/STATUS.md", 1,
				"STATUS.md is not what MANIFEST.json records (line 14): recorded sha256:0f0f0f0f, computed sha256:a1a1a1a1", look),
			finding("integrity/checksum-mismatch", report.Error, ".ai/handoff/LOG.md", 1,
				"LOG.md is not what MANIFEST.json records (line 19): recorded sha256:11111111, computed sha256:22222222", look),
			{
				Rule: "lint/pii", Severity: report.Warning, Path: ".ai/handoff/NEXT_ACTIONS.md",
				Span:    report.Span{Line: 7, Column: 12, EndColumn: 30},
				Message: "an address that the allowlist does not have: d***@example.com (18 characters)",
				Remedy:  "Remove the address, or add it to pii-allowlist.json with a date.",
			},
		}),
		report.Done("drift", "Handoff updated with the change", "2 impacting changes, STATUS.md and MANIFEST.json not updated", []report.Finding{
			finding("drift/handoff-not-updated", report.Error, ".ai/handoff/STATUS.md", 0,
				"2 changes outside the handoff, and neither STATUS.md nor MANIFEST.json was updated with them:\n  A src/new.js\n  M src/old.js",
				"Describe the change in .ai/handoff/STATUS.md, then regenerate the manifest and commit both with it.\nfix: handoff-gate manifest . && git add .ai/handoff"),
			finding("drift/reviewed-non-impacting", report.Notice, "docs/guide.md", 0, "reviewed as non-impacting: prose only", ""),
		}),
		report.Done("pointer", "Last session's commit", "the recorded commit is an ancestor of HEAD", nil),
		report.Skipped("trust", "Trust register", "no base policy could be read"),
	}})
}

// evilNames are file names that would be active in Markdown, HTML, a terminal
// or a job's log if they were printed as they are.
var evilNames = []string{
	"<img src=x onerror=alert(1)>.md",
	"[click](http://evil.example).md",
	"![x](http://evil.example/p.png).md",
	"a | b | c.md",
	"@octocat hello.md",
	"`code` <script>alert(1)</script>.md",
	"--> <b>.md",
	"octo-org/widgets#1.md",
	"``` evil.md",
	"</code></td></table>\n\n# big",
	"<!-- .md",
	"</details></li></ul><h1>x",
	"::error file=x::owned.md",
	"##[error]owned.md",
	"\n::set-env name=A::b",
	"\r::add-mask::x",
	"\u2028::warning::u",
	"\x1b[31mred\x1b]8;;http://evil.example\x07.md",
	"\u202egnp.exe",
	"bad\xffutf8\xc3",
	"100%sure %d%!x.md",
	"%0A::error::x",
	"www.evil.example user@evil.example https://evil.example",
	"&lt;b&gt; &#60;i&#62;",
	"1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d GH-7 #7",
	"\"><a href='http://evil.example'>x",
	"\\`\\<\\|",
	"* x", "+ y", "1. z", "    indented", "\ttab", "> quote", "---", "===", "~~~", "$x^2$", ":smile:",
	"[ref]: http://evil.example",
	"{{constructor}} ${{ github.token }}",
}

// hostile has the evil names in every place that a report has for text.
func hostile() *report.Report {
	var fs []report.Finding
	for i, n := range evilNames {
		s := []report.Severity{report.Error, report.Warning, report.Notice}[i%3]
		fs = append(fs, finding("integrity/missing-file", s, "dir/"+n, i, "missing: "+n+"\n"+n, n+"\nfix: rm -- '"+n+"'"))
	}
	all := strings.Join(evilNames, " ")
	return made(
		report.Project{Path: "packages/" + all, Format: "aahp", Level: "ci", Layers: []report.Layer{
			report.Done("integrity", all, all, fs),
			report.Skipped("drift", evilNames[0], evilNames[1]),
		}},
		report.Project{Path: ".", Format: "aahp", Level: "ci", Layers: []report.Layer{
			report.Done("trust", "Trust register", evilNames[4], nil),
		}},
	)
}

// large has n findings of each severity over several files and layers.
func large(n int) *report.Report {
	var layers []report.Layer
	for l := range 3 {
		var fs []report.Finding
		for i := range n {
			s := []report.Severity{report.Error, report.Warning, report.Notice}[i%3]
			fs = append(fs, finding(fmt.Sprintf("lint/rule-%d", i%7), s, fmt.Sprintf("dir/é-%d/file-%d.md", l, i%50), i+1,
				fmt.Sprintf("number %d of layer %d: <b>something</b> was `seen`", i, l),
				fmt.Sprintf("Do this about %d.\nfix: handoff-gate verify . --level ci", i)))
		}
		layers = append(layers, report.Done(fmt.Sprintf("layer%d", l), fmt.Sprintf("Layer %d", l), "many findings", fs))
	}
	return made(report.Project{Path: ".", Format: "aahp", Level: "ci", Layers: layers})
}

var sampleRules = []*rule.Rule{
	{
		ID: "integrity/checksum-mismatch", Severity: report.Error,
		Title:   "An indexed file changed outside the protocol",
		Why:     "The next session trusts what `MANIFEST.json` vouches for. A file whose bytes differ from the recorded digest was changed by somebody who did not say so.",
		Remedy:  "Look at `git diff -- .ai/handoff` first. If every change is meant, regenerate the manifest; never edit a checksum by hand.",
		Example: "error  .ai/handoff/STATUS.md:1  integrity/checksum-mismatch\n  recorded sha256:0f0f…, computed sha256:a1a1…\n",
	},
	{
		ID: "drift/policy-changed", Severity: report.Notice,
		Title:  "The change edits the policy that judges it",
		Why:    "The old policy judged this change, so <nothing> can relax its own check. LC_* and snake_case stay as they are.",
		Remedy: "Nothing to do: the new policy takes effect after the merge.",
	},
	{
		ID: "integrity/unindexed", Severity: report.Error,
		Title:  "A canonical file is missing from the index",
		Why:    "What is not indexed is not verified.",
		Remedy: "Review the file, then regenerate the manifest.",
		Varies: "Always an error.",
	},
}
