package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/governance/audit"
	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// FuzzAudit holds that any workflow is judged, twice the same, with findings on
// lines of the file; and that a file which neither names the gate nor is named for
// it has none.
func FuzzAudit(f *testing.F) {
	for _, s := range []string{
		gateJob(pullRequest, "    if: x\n    needs: y\n", gateStep),
		script("if ! aahp verify --level ci; then exit 1; fi"),
		script("gate() { aahp verify --level ci || return 1; }", "gate | tee log"),
		gateJob("on: {pull_request: {}, workflow_dispatch: {inputs: {base: {required: true}}}}\n", "    permissions: write-all\n", "      - uses: o/handoff-gate@v1\n        with: {base: '${{ github.head_ref }}'}\n"),
		"on: workflow_call\njobs:\n  a: &a\n    uses: ./.github/workflows/f.yml\n  b: *a\n  c:\n    steps:\n" + gateStep,
		"x: &x {a: b}\ny: {<<: *x}\nz: handoff-gate\n",
		script("set +e", "aahp check .", "rc=$?", "exit $rc"),
		script("npx -p aahp aahp verify", "docker run -it o/handoff-gate:1 verify", "go run github.com/o/handoff-gate@v1.2.3 action"),
		"name: AAHP Verify\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		judge := func() []report.Finding {
			a := audit.Read(audit.Input{Tree: workflows(map[string]string{"f.yml": text}), Repo: "o/n"})
			return append(a.VerifyWorkflow().Findings, a.CLISource().Findings...)
		}
		first, again := judge(), judge()
		if len(first) != len(again) {
			t.Fatalf("%d findings, then %d", len(first), len(again))
		}
		lines := strings.Count(text, "\n") + 1
		for i, x := range first {
			if x != again[i] {
				t.Errorf("%+v, then %+v", x, again[i])
			}
			if x.Line < 1 || x.Line > lines || x.Message == "" || x.Remedy == "" || x.Path != audit.Folder+"/f.yml" {
				t.Errorf("%+v in a file of %d lines", x, lines)
			}
		}
		lower := strings.ToLower(text)
		if len(first) > 0 && !strings.Contains(lower, "aahp") && !strings.Contains(lower, "handoff") && !strings.Contains(text, `\`) {
			t.Errorf("found %s in %q", first[0].Rule, text)
		}
	})
}

// hostileScripts are workflows of about that many bytes whose scripts make the
// audit work.
func hostileScripts(size int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, (size-400)/len(unit)) }
	run := func(text string) string { return gateJob(pullRequest, "", "      - run: '"+text+"'\n") }
	var functions strings.Builder
	for functions.Len() < size-2000 {
		functions.WriteString("f() { g; g; }; g() { f; f; aahp verify --level ci; };")
	}
	var jobs strings.Builder
	for i := 0; jobs.Len() < size-2000; i++ {
		fmt.Fprintf(&jobs, "  j%d: {name: x, needs: y, if: z, steps: [{run: aahp verify}]}\n", i)
	}
	var aliases strings.Builder
	for i := range size / 1200 {
		fmt.Fprintf(&aliases, "  j%d: *x\n", i)
	}
	return map[string]string{
		"gates in a list":     run(fill("aahp verify --level ci || x; ")),
		"gates by or":         run(fill("aahp verify --level ci || ")),
		"gates by and":        run(fill("aahp verify --level ci && ")),
		"gates in branches":   run(fill("if x; then aahp verify --level ci; else y; fi; ")),
		"gates behind exits":  run(fill("exit 0; aahp verify --level ci; ")),
		"gates behind sets":   run(fill("set +e; aahp verify --level ci; ")),
		"gates in pipes":      run(fill("aahp verify --level ci | ")),
		"calls of a function": run("g() { aahp verify --level ci; };" + fill("g || x; ")),
		"many functions":      run(functions.String()),
		"many jobs":           "on: pull_request\njobs:\n" + jobs.String(),
		"many steps":          gateJob(pullRequest, "", fill(gateStep)),
		"many aliases":        "x: &x\n  steps:\n" + strings.Repeat(gateStep, 200) + "on: pull_request\njobs:\n" + aliases.String(),
		"levels":              run("aahp verify " + fill("--level ci ")),
		"expressions":         gateJob(pullRequest, "", gateStep+"        env: {AAHP_BASE_SHA: \""+fill("${{ a[b")+"\"}\n"),
	}
}

func judgeBoth(text string) func() {
	return func() {
		a := audit.Read(audit.Input{Tree: workflows(map[string]string{"f.yml": text}), Repo: "o/n"})
		a.VerifyWorkflow()
		a.CLISource()
	}
}

// Hostile workflows are answered: nothing overflows, nothing hangs. How fast is
// measured by BenchmarkHostileWorkflows.
func TestHostile(t *testing.T) {
	for name, text := range hostileScripts(1 << 16) {
		t.Run(name, func(*testing.T) { judgeBoth(text)() })
	}
}

// BenchmarkHostileWorkflows is the slowest of the hostile workflows against an honest one
// of the same size.
func BenchmarkHostileWorkflows(b *testing.B) {
	honest := gateJob(pullRequest, "", gateStep+strings.Repeat("      - run: make test TARGET=all # a step\n", (1<<20-400)/43))
	var worst string
	var most time.Duration
	files := hostileScripts(1 << 20)
	for name, text := range files {
		if took := bench.Fastest(2, judgeBoth(text)); took > most {
			worst, most = name, took
		}
	}
	b.Log("the slowest: ", worst)
	bench.Ratio(b, 20, judgeBoth(honest), judgeBoth(files[worst]))
}
