package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/audit"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
)

const sha = "0123456789abcdef0123456789abcdef01234567"

// workflows makes a repository of workflow files; a name with a slash is a path
// from its top.
func workflows(files map[string]string) fake.Tree {
	t := fake.Tree{}
	for name, text := range files {
		if !strings.Contains(name, "/") {
			name = audit.Folder + "/" + name
		}
		t[strings.TrimPrefix(name, "./")] = fake.File{Data: text}
	}
	return t
}

// gateJob is a workflow with one job gate: its own lines, and its steps.
func gateJob(on, job, steps string) string {
	return "name: CI\n" + on + "jobs:\n  gate:\n" + job + "    runs-on: ubuntu-latest\n    steps:\n" + steps
}

const pullRequest = "on: pull_request\n"

// script is a workflow whose gate stands in a script, which begins in line 8.
func script(lines ...string) string { return scriptIn("", lines...) }

// scriptIn is script with one more line of the step.
func scriptIn(more string, lines ...string) string {
	text := "      - run: |\n"
	for _, l := range lines {
		text += "          " + l + "\n"
	}
	return gateJob(pullRequest, "", text+more)
}

// found lists what a gate found: rules and places, and its outcome before them.
func found(g governance.Gate) string {
	var all []string
	for _, f := range g.Findings {
		all = append(all, fmt.Sprintf("%s %s:%d", strings.TrimPrefix(f.Rule, "workflow/"), strings.TrimPrefix(f.Path, audit.Folder+"/"), f.Line))
	}
	return strings.Join(append([]string{g.Outcome.String()}, all...), " | ")
}

func verify(t *testing.T, files map[string]string, change ...func(*audit.Input)) governance.Gate {
	t.Helper()
	in := audit.Input{Tree: workflows(files), Repo: "o/n", Commands: gate.Commands{Again: "handoff-gate doctor ."}}
	for _, c := range change {
		c(&in)
	}
	a := audit.Read(in)
	g := a.VerifyWorkflow()
	if again := audit.Read(in).VerifyWorkflow(); found(g) != found(again) {
		t.Errorf("%s, then %s", found(g), found(again))
	}
	if g.Reason == "" {
		t.Error("no reason")
	}
	for _, f := range g.Findings {
		if f.Message == "" || f.Remedy == "" {
			t.Errorf("%+v", f)
		}
	}
	return g
}

// The shapes by which a step is known to run the gate, or not.
func TestRecognised(t *testing.T) {
	const (
		runs    = "pass"
		below   = "advisory | no-ci-level a.yml:7"
		nothing = "not-applicable"
	)
	for _, tt := range []struct{ run, want string }{
		{"bash scripts/verify-handoff.sh . --level ci", runs},
		{"./scripts/verify-handoff.sh --level=ci", runs},
		{"aahp verify . --level ci", runs},
		{"aahp verify . --level 'ci'", runs},
		{`aahp verify . --level "ci"`, runs},
		{"aahp@4.0.0 verify --level ci", runs},
		{"npx --no-install @elvatis_com/aahp@4 verify --level ci", runs},
		{"npx aahp -- verify --level ci", runs},
		{"node node_modules/@elvatis_com/aahp/bin/aahp.js verify . --level ci", runs},
		{"handoff-gate verify . --level ci", runs},
		{"./bin/handoff-gate verify . --level ci", runs},
		{"go run github.com/o/handoff-gate@v1.2.3 verify --level ci", runs},
		{`docker run --rm -v "$PWD:/w" ghcr.io/o/handoff-gate:1.2 verify /w --level ci`, runs},
		{"handoff-gate action", runs},
		{"A=b env -i C=d sudo -u root time exec command aahp verify --level ci", runs},
		{"make && aahp verify . --level ci >log 2>&1", runs},
		{"aahp verify . --level ci>log", runs},
		{"timeout 60 aahp verify . --level ci", runs},
		{"bash -c 'aahp verify . --level ci'", runs},
		{"(cd sub && aahp verify --level ci)", runs},
		{"bash -euo pipefail scripts/verify-handoff.sh --level ci", runs},

		{"aahp verify .", below},
		{"aahp verify . --level full", below},
		{"aahp verify . --level city", below},
		{"aahp verify . --level ${{ inputs.level }}", below},
		{"aahp verify . --level ci --level full", below},
		{"aahp verify .; other --level ci", below},
		{"INPUT_LEVEL=full handoff-gate action", below},
		{"export INPUT_LEVEL=full; handoff-gate action", below},

		{`"aahp" verify . --level ci`, runs},
		{`"$HOME/bin/handoff-gate" verify . --level=ci`, runs},
		{`node "$DIR/bin/aahp.js" 'verify' . "--level" "ci"`, runs},
		{`bash "scripts/verify-handoff.sh" . --level "full"`, below},
		{`"my handoff-gate" verify . --level ci`, nothing},
		{"echo aahp verify . --level ci", nothing},
		{"/bin/echo aahp verify . --level ci", nothing},
		{`'echo' "aahp verify . --level ci"`, nothing},
		{"bash -n scripts/verify-handoff.sh", nothing},
		{"bash -xn scripts/verify-handoff.sh", nothing},
		{"shellcheck scripts/verify-handoff.sh", nothing},
		{"chmod +x scripts/verify-handoff.sh", nothing},
		{"git add verify-handoff.sh", nothing},
		{"cat <<<'aahp verify --level ci'", nothing},
		{"npm run aahp verify -- --level ci", nothing},
		{"npm --silent run-script aahp verify", nothing},
		{"GATE='aahp verify --level ci'", nothing},
		{"export GATE='aahp verify --level ci'", nothing},
		{"for f in verify-handoff.sh; do ls $f; done", nothing},
		{"command -v handoff-gate verify", nothing},
		{"my-aahp verify", nothing},
		{"aahp verifying", nothing},
		{"aahp --verify", nothing},
		{"handoff-gatekeeper verify", nothing},
		{"handoff-gate verify --level ci --help", nothing},
		{"curl -o scripts/verify-handoff.sh https://example.com", nothing},
		{"npm test", nothing},
	} {
		t.Run(tt.run, func(t *testing.T) {
			run := "      - run: " + tt.run + "\n"
			if strings.ContainsAny(tt.run, "#'\"") {
				run = "      - run: >-\n          " + tt.run + "\n"
			}
			text := gateJob(pullRequest+"permissions: {}\n", "", run)
			text = strings.Replace(text, "    steps:\n", "    steps:\n      - uses: actions/checkout@"+sha+"\n        with: {fetch-depth: 0}\n", 1)
			want := strings.ReplaceAll(tt.want, ":7", ":10")
			if got := found(verify(t, map[string]string{"a.yml": text})); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	// In a script a comment, a here-document and a function of that name run nothing.
	for _, lines := range [][]string{
		{"# aahp verify --level ci", "true"},
		{"true # aahp verify --level ci"},
		{"cat <<E", "aahp verify --level ci", "E"},
		{"aahp() { :; }", "aahp verify --level ci"},
		{"echo a \\", "  && echo aahp verify --level ci"},
	} {
		if got := found(verify(t, map[string]string{"a.yml": script(lines...)})); got != nothing {
			t.Errorf("%q: %s", lines, got)
		}
	}
}

func TestActionSteps(t *testing.T) {
	const ok = "pass"
	local := map[string]string{"./action.yml": "name: Handoff Gate\n", "./sub/action.yaml": "name: HANDOFF-GATE\n", "./other/action.yml": "name: Other\n"}
	for step, want := range map[string]string{
		"uses: o/handoff-gate@" + sha:                     ok,
		"uses: O/Handoff-Gate@" + sha:                     ok,
		"uses: o/handoff-gate/.github/actions/run@" + sha: ok,
		"uses: docker://ghcr.io/o/handoff-gate:1":         ok,
		"uses: docker://ghcr.io/o/handoff-gate@sha256:00": ok,
		"uses: docker://registry:5000/handoff-gate":       ok,
		"uses: ./":     ok,
		"uses: ./sub":  ok,
		"uses: ./sub/": ok,
		"uses: o/handoff-gate@v1\n        with: {level: ci}":         ok,
		"uses: o/handoff-gate@v1\n        with: {level: full}":       "advisory | no-ci-level a.yml:10",
		"uses: o/handoff-gate@v1\n        with: {LEVEL: '${{ x }}'}": "advisory | no-ci-level a.yml:10",
		"uses: ./other":                               "not-applicable",
		"uses: ./../sub":                              "not-applicable",
		"uses: ./none":                                "not-applicable",
		"uses: o/handoff-gates@v1":                    "not-applicable",
		"uses: handoff-gate/other@v1":                 "not-applicable",
		"uses: docker://ghcr.io/handoff-gate/other:1": "not-applicable",
		"uses: docker://o/handoff-gate\n        with: {args: action}":     "advisory | shallow-checkout a.yml:9",
		"uses: docker://o/handoff-gate\n        with: {args: verify .}":   "advisory | no-ci-level a.yml:9 | shallow-checkout a.yml:9",
		"uses: docker://o/handoff-gate\n        with: {args: version}":    "not-applicable",
		"uses: docker://o/handoff-gate\n        with: {entrypoint: true}": "not-applicable",
	} {
		files := map[string]string{"a.yml": gateJob(pullRequest+"permissions: {}\n", "", "      - "+step+"\n")}
		for name, text := range local {
			files[name] = text
		}
		want := strings.NewReplacer(":10", ":9", ":9", ":8").Replace(want)
		if got := found(verify(t, files)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", step, got, want)
		}
	}
}

// A condition that always holds is none (7.1).
func TestConditions(t *testing.T) {
	const run = "      - run: aahp verify --level ci\n"
	never, always := "advisory | job-conditional a.yml:5", "pass"
	for condition, want := range map[string]string{
		"":                                     always,
		"null":                                 always,
		"~":                                    always,
		"true":                                 always,
		"'true'":                               always,
		"always()":                             always,
		"${{ always() }}":                      always,
		"\"${{ ( always( ) ) }}\"":             always,
		"success()":                            always,
		"(success())":                          always,
		"github.repository == 'o/n'":           always,
		"${{ github.repository=='o/n' }}":      always,
		"github.repository_owner == 'o'":       always,
		"false":                                never,
		"'false'":                              never,
		"''":                                   never,
		"[true]":                               never,
		"github.repository == 'x/n'":           never,
		"github.repository != 'o/n'":           never,
		"github.repository_owner == 'o/n'":     never,
		"github.repository == 'o / n'":         never,
		"github.actor != 'x'":                  never,
		"always() && github.actor != 'x'":      never,
		"${{ always() }} && false":             never,
		"${{ always() }}${{ false }}":          never,
		"(always()) && (false)":                never,
		"${{ !cancelled() }}":                  never,
		"success() || failure()":               never,
		"!cancelled()":                         never, // a YAML tag
		"contains(github.event.x, 'always()')": never,
	} {
		if got := found(verify(t, map[string]string{"a.yml": gateJob(pullRequest, "    if: "+condition+"\n", run)})); got != want {
			t.Errorf("job if: %s\ngot  %s\nwant %s", condition, got, want)
		}
	}
	for condition, want := range map[string]string{
		"${{ !cancelled() }}":    always,
		"success() || failure()": always,
		"success()||failure()":   always,
		"always()":               always,
		"failure()":              "advisory | step-conditional a.yml:8",
		"false":                  "advisory | step-conditional a.yml:8",
	} {
		if got := found(verify(t, map[string]string{"a.yml": gateJob(pullRequest, "", run+"        if: "+condition+"\n")})); got != want {
			t.Errorf("step if: %s\ngot  %s\nwant %s", condition, got, want)
		}
	}
	// Without a known name of the repository nothing can be equal to it.
	got := found(verify(t, map[string]string{"a.yml": gateJob(pullRequest, "    if: github.repository == 'unknown'\n", run)}, func(in *audit.Input) { in.Repo = "unknown" }))
	if got != never {
		t.Error(got)
	}
}

func TestContinueOnError(t *testing.T) {
	const run = "      - run: aahp verify --level ci\n"
	for value, soft := range map[string]bool{
		"false": false, "'false'": false, "False": false, "'FALSE'": false, "true": true, "": true, "no": true, "${{ false }}": true, "[false]": true,
	} {
		job, step := "pass", "pass"
		if soft {
			job, step = "advisory | job-soft-failing a.yml:5", "advisory | step-soft-failing a.yml:8"
		}
		if got := found(verify(t, map[string]string{"a.yml": gateJob(pullRequest, "    continue-on-error: "+value+"\n", run)})); got != job {
			t.Errorf("job: %s: %s", value, got)
		}
		if got := found(verify(t, map[string]string{"a.yml": gateJob(pullRequest, "", run+"        continue-on-error: "+value+"\n")})); got != step {
			t.Errorf("step: %s: %s", value, got)
		}
	}
}

const gateCommand = "aahp verify . --level ci"

// A step is conditional when its script can pass over the gate (7.1).
func TestConditionalInShell(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  bool
	}{
		{"alone", []string{"G"}, false},
		{"behind another", []string{"npm ci && G"}, false},
		{"in a branch", []string{"if [ x ]; then", "  G", "fi"}, true},
		{"in an else", []string{"if [ x ]; then echo; else G; fi"}, true},
		{"in each branch", []string{"if [ x ]; then", "  G --base a", "else", "  G", "fi"}, false},
		{"in each of three branches", []string{"if x; then G; elif y; then G; else G; fi"}, false},
		{"in two of three branches", []string{"if x; then G; elif y; then echo; else G; fi"}, true},
		{"in each branch, nested", []string{"if x; then if y; then G; else G; fi; else G; fi"}, false},
		{"in each branch, nested and not complete", []string{"if x; then if y; then G; fi; else G; fi"}, true},
		{"in each branch, once behind ||", []string{"if x; then true || G; else G; fi"}, true},
		{"without else", []string{"if x; then G; elif y; then G; fi"}, true},
		{"in a case", []string{"case $x in", "  a) G;;", "  *) G;;", "esac"}, true},
		{"in a loop", []string{"for x in a b; do G; done"}, false},
		{"behind or", []string{"test -f skip || G"}, true},
		{"behind or in the next line", []string{"test -f skip ||", "  G"}, true},
		{"in a group behind or", []string{"[ -n \"$SKIP\" ] || {", "  npm ci", "  G", "}"}, true},
		{"behind a test", []string{"[ -f x ] && G"}, true},
		{"behind a double test", []string{"[[ -f x && -f y ]] && G"}, true},
		{"behind test", []string{"test -f x && G"}, true},
		{"behind not a test", []string{"! [ -f x ] && G"}, true},
		{"behind a test and more", []string{"[ -f x ] && npm ci && G"}, true},
		{"in a subshell behind a test", []string{"[ -f x ] && (npm ci; G)"}, true},
		{"in a substitution behind a test", []string{"[ -f x ] && out=$(G)"}, true},
		{"a test in another line", []string{"[ -f x ]", "G"}, false},
		{"behind exit", []string{"exit", "G"}, true},
		{"behind exit 0", []string{"[ x ] && exit 0", "G"}, true},
		{"behind exit in a branch", []string{"if [ x ]; then exit 0; fi", "G"}, true},
		{"behind a bare exit in a branch", []string{"if [ x ]; then exit; fi", "G"}, true},
		{"behind return 0", []string{"return 0", "G"}, true},
		{"behind exit 1", []string{"[ -f x ] || exit 1", "G"}, false},
		{"behind a bare exit after ||", []string{"[ -f x ] || exit", "G"}, false},
		{"behind a bare exit after a message", []string{"[ -f x ] || { echo; exit; }", "G"}, true},
		{"behind exit $?", []string{"x || exit $?", "G"}, false},
		{"before exit 0", []string{"G", "exit 0"}, false},
		{"behind an exit in a subshell", []string{"(exit 0)", "x=$(exit 0)", "exit 0 | cat", "G"}, false},
		{"behind an exit in its subshell", []string{"(exit 0; G)"}, true},
		{"behind an echo of exit", []string{"echo exit 0", "G"}, false},
		{"two, one conditional", []string{"[ x ] && G", "G"}, false},
		{"two, both conditional", []string{"[ x ] && G", "[ y ] || G"}, true},
		{"in a function that is called", []string{"gate() { G; }", "gate"}, false},
		{"in a function that is not called", []string{"gate() { G; }", "echo gate"}, true},
		{"in a function that is called under a condition", []string{"gate() { G; }", "[ x ] && gate"}, true},
		{"in a function that returns before", []string{"gate() {", "  [ x ] && return 0", "  G", "}", "gate"}, true},
		{"behind a return in another function", []string{"f() { return 0; }", "f", "G"}, false},
		{"behind a function that exits", []string{"f() { exit 0; }", "f", "G"}, true},
		{"behind a function that exits and is not called", []string{"f() { exit 0; }", "G"}, false},
		{"in a function behind an exit", []string{"gate() { G; }", "[ x ] && exit 0", "gate"}, true},
		{"in a function that calls itself alone", []string{"gate() { G; gate; }"}, true},
		{"in a condition", []string{"if ! G; then exit 1; fi"}, false},
		{"in another shell", []string{"bash -euc 'npm ci; G'"}, false},
		{"in another shell, behind a test", []string{"bash -c '[ x ] && G'"}, true},
		{"in another shell that is behind a test", []string{"[ x ] && sh -c 'G'"}, true},
		{"in another shell, behind its exit", []string{"bash -c 'exit 0; G'"}, true},
		{"in another shell that another program runs, behind its exit", []string{"timeout 60 bash -c 'exit 0; G'"}, true},
		{"behind what takes the place of the shell", []string{"exec true", "G"}, true},
		{"behind a function that does", []string{"f() { exec true; }", "f", "G"}, true},
		{"behind what does so in a subshell", []string{"(exec true)", "G"}, false},
		{"taking the place of the shell", []string{"exec G"}, false},
		{"behind a redirection of the shell", []string{"exec 3>&1 2>&1", "G"}, false},
		{"where commands are only read", []string{"set -n", "G"}, true},
		{"where commands are only read, by the long name", []string{"set -o noexec", "G"}, true},
		{"behind exit 256, which is 0", []string{"[ x ] && exit 256", "G"}, true},
		{"behind the exit of another shell", []string{"bash -c 'exit 0'", "G"}, false},
		{"behind a bare exit in a group after ||", []string{"[ -f x ] || { exit; }", "G"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := "pass"
			if tt.want {
				want = "advisory | step-conditional a.yml:7"
			}
			for i := range tt.lines {
				tt.lines[i] = strings.ReplaceAll(tt.lines[i], "G", gateCommand)
			}
			if got := found(verify(t, map[string]string{"a.yml": script(tt.lines...)})); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", strings.Join(tt.lines, "\n"), got, want)
			}
		})
	}
}

// A step is soft failing when its script discards the gate's result (7.1).
func TestSoftInShell(t *testing.T) {
	for _, tt := range []struct {
		name  string
		shell string
		lines []string
		soft  bool
	}{
		{"followed by others", "", []string{"G", "echo done"}, false},

		{"or true", "", []string{"G || true"}, true},
		{"or echo", "", []string{"G || echo failed"}, true},
		{"or exit 1", "", []string{"G || exit 1"}, false},
		{"or a bare exit", "", []string{"G || exit"}, false},
		{"or exit 0", "", []string{"G || exit 0"}, true},
		{"or exit $code", "", []string{"G || exit $code"}, false},
		{"or return 1", "", []string{"G || return 1"}, false},
		{"or false", "", []string{"G || false"}, false},
		{"or a group with exit", "", []string{"G || { echo bad; exit 1; }"}, false},
		{"or a group over lines", "", []string{"G || {", "  echo bad", "  exit 1", "}"}, false},
		{"or a subshell with exit", "", []string{"G || (echo bad; exit 1)"}, false},
		{"or a group without exit", "", []string{"G || {", "  echo bad", "}", "exit 1"}, true},
		{"or in the next line", "", []string{"G ||", "  exit 1"}, false},
		{"or echo, then exit in the next line", "", []string{"G || echo bad", "exit 1"}, true},
		{"or echo, then exit in the same line", "", []string{"G || echo bad; exit 1"}, false},
		{"or echo of exit 1", "", []string{"G || echo exit 1"}, true},
		{"or a comment", "", []string{"G || true # exit 1"}, true},
		{"or a variable that is handed on", "", []string{"G || rc=$?", "echo", "exit $rc"}, false},
		{"or a variable in quotes that is handed on", "", []string{"G || rc=\"$?\"", "if [ $rc -ne 0 ]; then exit \"${rc}\"; fi"}, false},
		{"or a variable that is not handed on", "", []string{"G || rc=$?", "echo $rc"}, true},
		{"or a variable that another exit names", "", []string{"G || rc=$?", "exit $code"}, true},
		{"or a variable that takes something else", "", []string{"G || rc=1", "exit $rc"}, true},
		{"and, or true", "", []string{"G && echo ok || true"}, true},
		{"and, or exit 1", "", []string{"G && echo ok || exit 1"}, false},
		{"a group, or true", "", []string{"{ G; } || true"}, true},
		{"a subshell, or true", "", []string{"(cd x && G) || true"}, true},
		{"a subshell, or exit", "", []string{"(cd x && G) || exit 1"}, false},
		{"not the last of a group, or exit", "", []string{"{ G; echo; } || exit 1"}, true},

		{"a pipe", "", []string{"G | tee log"}, true},
		{"a pipe with errors", "", []string{"G |& tee log"}, true},
		{"a pipe in bash", "bash", []string{"G | tee log"}, false},
		{"a pipe in a template", "bash -e {0}", []string{"G | tee log"}, true},
		{"a pipe in sh", "sh", []string{"G | tee log"}, true},
		{"a pipe behind pipefail", "", []string{"set -o pipefail", "G | tee log"}, false},
		{"a pipe behind pipefail among others", "", []string{"set -euxo pipefail", "G | tee log"}, false},
		{"a pipe behind pipefail as one of two", "", []string{"set -o errexit -o pipefail", "G | tee log"}, false},
		{"a pipe behind pipefail and back", "bash", []string{"set +o pipefail", "G | tee log"}, true},
		{"a pipe before pipefail", "", []string{"G | tee log", "set -o pipefail"}, true},
		{"a pipe behind a pipefail of a subshell", "", []string{"(set -o pipefail)", "G | tee log"}, true},
		{"the last of a pipe", "", []string{"yes | G"}, false},
		{"a pipe in bash, or true", "bash", []string{"G | tee log || true"}, true},
		{"a group in a pipe", "", []string{"{ G; } | tee log"}, true},

		{"in the background", "", []string{"G &", "wait"}, true},
		{"in the background of a subshell", "", []string{"(G) &"}, true},
		{"redirections are none", "", []string{"G >log 2>&1", "G &>log"}, false},

		{"a substitution", "", []string{"echo \"$(G)\""}, true},
		{"backticks", "", []string{"echo `G`"}, true},
		{"an assignment", "", []string{"out=$(G)", "echo \"$out\""}, false},
		{"an assignment in quotes", "", []string{"out=\"$(G)\""}, false},
		{"an assignment by backticks", "", []string{"out=`G`"}, false},
		{"an assignment with more", "", []string{"out=\"a $(G)\""}, true},
		{"an assignment before a command", "", []string{"out=$(G) make"}, true},
		{"behind local", "", []string{"local out=$(G)"}, true},
		{"behind export", "", []string{"export out=$(G)"}, true},
		{"behind readonly", "", []string{"readonly out=$(G)"}, true},
		{"an assignment, or true", "", []string{"out=$(G) || true"}, true},
		{"an assignment, or exit", "", []string{"out=$(G) || { echo \"$out\"; exit 1; }"}, false},
		{"not the last of a substitution", "", []string{"out=$(G; echo)"}, true},
		{"a process substitution", "", []string{"cat <(G)"}, true},

		{"and, at the end", "", []string{"echo", "G && echo ok"}, false},
		{"and, at the end of a group", "", []string{"{ G && echo ok; }"}, false},
		{"and, before others", "", []string{"G && echo ok", "echo"}, true},
		{"and, before others of a group", "", []string{"{ G && echo ok; }", "echo"}, true},
		{"behind and, before others", "", []string{"cd x && G", "echo"}, false},

		{"not", "", []string{"! G"}, true},
		{"while", "", []string{"while G; do sleep 1; done"}, true},
		{"while not", "", []string{"while ! G; do sleep 1; done"}, true},
		{"until", "", []string{"until G; do sleep 1; done"}, true},
		{"if", "", []string{"if G; then echo ok; fi"}, true},
		{"if, else exit", "", []string{"if G; then echo ok; else exit 1; fi"}, false},
		{"if not", "", []string{"if ! G; then", "  echo bad", "fi"}, true},
		{"if not, then exit", "", []string{"if ! G; then", "  echo bad", "  exit 1", "fi"}, false},
		{"if not, then exit 0", "", []string{"if ! G; then exit 0; fi"}, true},
		{"if not, then false", "", []string{"if ! G; then false; fi"}, false},
		{"if not, exit behind fi", "", []string{"if ! G; then echo; fi", "exit 1"}, true},
		{"elif", "", []string{"if x; then y; elif G; then z; fi"}, true},
		{"elif, else exit", "", []string{"if x; then y; elif G; then z; else exit 1; fi"}, false},
		{"if and more, else exit", "", []string{"if G && x; then y; else exit 1; fi"}, false},
		{"if or more", "", []string{"if G || x; then y; else exit 1; fi"}, true},

		{"set +e", "", []string{"set +e", "G", "echo"}, true},
		{"set +e among others", "", []string{"set +ex", "G", "echo"}, true},
		{"set +o errexit", "", []string{"set +o errexit", "G", "echo"}, true},
		{"set +e, at the end", "", []string{"set +e", "G"}, false},
		{"set +e and back", "", []string{"set +e", "x", "set -e", "G", "echo"}, false},
		{"set +e behind it", "", []string{"G", "set +e", "echo"}, false},
		{"set +e in a subshell", "", []string{"(set +e; x)", "G", "echo"}, false},
		{"set +e, handed on", "", []string{"set +e", "G", "rc=$?", "echo", "exit $rc"}, false},
		{"set +e, handed on in the same line", "", []string{"set +e", "G; rc=$?", "exit ${rc}"}, false},
		{"set +e, handed on by exit", "", []string{"set +e", "G", "exit $?"}, false},
		{"set +e, handed on too late", "", []string{"set +e", "G", "echo", "rc=$?", "exit $rc"}, true},
		{"set +e, exit before", "", []string{"set +e", "rc=0", "[ x ] && exit $rc", "G", "rc=$?", "echo"}, true},
		{"a template without -e", "bash {0}", []string{"G", "echo"}, true},
		{"a template without -e, at the end", "bash {0}", []string{"G"}, false},
		{"a template without -e, but set -e", "bash {0}", []string{"set -e", "G", "echo"}, false},
		{"a template with -e", "/bin/bash -eo pipefail {0}", []string{"G", "echo"}, false},
		{"pwsh", "pwsh", []string{"G", "echo"}, true},
		{"pwsh, at the end", "pwsh", []string{"G"}, false},
		{"powershell", "powershell", []string{"G", "echo"}, true},
		{"cmd", "cmd", []string{"G", "echo"}, true},
		{"a shell by expression", "${{ matrix.shell }}", []string{"G", "echo"}, true},
		{"python", "python", []string{"import os", "os.system('G')", "print()"}, true},

		{"in a loop under -e", "", []string{"for x in a; do G; done"}, false},
		{"in a loop without -e", "", []string{"set +e", "for x in a; do G; done"}, true},
		{"a function, or true", "", []string{"gate() { G; }", "gate || true"}, true},
		{"a function", "", []string{"gate() { G; }", "gate", "echo"}, false},
		{"a function called twice, once well", "", []string{"gate() { G; }", "gate || true", "gate"}, false},
		{"a trap that ends well", "", []string{"trap 'exit 0' EXIT", "G"}, true},
		{"a trap by a function that ends well", "", []string{"trap finish EXIT", "finish() { rm -f log; exit 0; }", "G"}, true},
		{"a trap by a function that calls such a one", "", []string{"a() { exit; }", "b() { a; }", "trap 'b' 0", "G"}, true},
		{"a trap by a function that cleans up", "", []string{"finish() { rm -f log; }", "trap finish EXIT", "G"}, false},
		{"or exit 256, which is 0", "", []string{"G || exit 256"}, true},
		{"or exit -0", "", []string{"G || exit -0"}, true},
		{"or exit 257", "", []string{"G || exit 257"}, false},
		{"a coprocess", "", []string{"coproc G"}, true},
		{"another shell behind another program", "", []string{"timeout 60 bash -c 'G || true'"}, true},
		{"a shell in a container", "", []string{"docker run --rm img /bin/sh -c 'G; true'"}, true},
		{"a shell in a container, alone", "", []string{"docker run --rm img sh -c 'G'"}, false},
		{"a trap that cleans up", "", []string{"trap 'rm -f log' EXIT", "G"}, false},
		{"another shell, or true", "", []string{"bash -c 'G || true'"}, true},
		{"another shell, others behind", "", []string{"bash -c 'G; echo'"}, true},
		{"another shell with -e, others behind", "", []string{"bash -ec 'G; echo'"}, false},
		{"another shell in a pipe", "", []string{"bash -c 'G' | tee log"}, true},
		{"another shell with a pipe and pipefail", "", []string{"bash -o pipefail -c 'G | tee log'"}, false},
		{"eval", "", []string{"eval 'G || true'"}, true},
		{"two, one lost", "", []string{"G || true", "G"}, false},
		{"two, both lost", "", []string{"G || true", "G | cat"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := "pass"
			if tt.soft {
				want = "advisory | step-soft-failing a.yml:7"
			}
			more := ""
			if tt.shell != "" {
				more = "        shell: " + tt.shell + "\n"
			}
			for i := range tt.lines {
				tt.lines[i] = strings.ReplaceAll(tt.lines[i], "G", gateCommand)
			}
			if got := found(verify(t, map[string]string{"a.yml": scriptIn(more, tt.lines...)})); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", strings.Join(tt.lines, "\n"), got, want)
			}
		})
	}
}

// A shell of the workflow's own making need not run the script; then nothing in it
// is a run of the gate. Neither is what PowerShell and cmd only show.
func TestScriptsNotRun(t *testing.T) {
	for _, tt := range []struct {
		shell, run string
		want       string
	}{
		{"bash -n {0}", "G", "not-applicable"},
		{"bash -eun {0}", "G", "not-applicable"},
		{"bash -o noexec {0}", "G", "not-applicable"},
		{"bash -c true {0}", "G", "not-applicable"},
		{"cat {0}", "G", "not-applicable"},
		{"/bin/true {0}", "G", "not-applicable"},
		{"bash -e {0}", "G", "pass"},
		{"bash --norc -eo pipefail {0}", "G", "pass"},
		{"bash -c {0}", "G", "pass"},
		{"bash -c 'source {0}'", "G", "pass"},
		{"pwsh", "G", "pass"},
		{"pwsh", "Write-Host G", "not-applicable"},
		{"pwsh", "Write-Output 'G '", "not-applicable"},
		{"pwsh", "aahp verify . `\n            --level ci", "pass"},
		{"pwsh", "<#\n          G\n          #>", "not-applicable"},
		{"pwsh", "$x = @'\n          G\n          '@", "not-applicable"},
		{"cmd", "aahp verify . ^\n            --level ci", "pass"},
		{"cmd", "rem G", "not-applicable"},
		{"cmd", "@REM G", "not-applicable"},
		{"cmd", "@echo G", "not-applicable"},
		{"cmd", ":: G", "not-applicable"},
		{"cmd", "@G", "pass"},
		{"cmd", "if exist x G", "advisory | step-conditional a.yml:7"},
		{"cmd", "IF NOT EXIST x G", "advisory | step-conditional a.yml:7"},
	} {
		run := strings.ReplaceAll(tt.run, "G", gateCommand)
		if got := found(verify(t, map[string]string{"a.yml": scriptIn("        shell: "+tt.shell+"\n", run)})); got != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.shell, run, got, tt.want)
		}
	}
	if got := found(verify(t, map[string]string{"aahp-verify.yml": gateJob(pullRequest+"defaults: {run: {shell: 'true {0}'}}\n", "", "      - run: "+gateCommand+"\n")})); got != "fail | undecidable aahp-verify.yml:1" {
		t.Errorf("the defaults' shell: %s", got)
	}
}

// The shell of a step is its own, else that of the job's defaults, else of the
// workflow's, else the runner's.
func TestDefaultShell(t *testing.T) {
	const steps = "      - run: |\n          aahp verify --level ci | tee log\n"
	for name, tt := range map[string]struct{ top, job, steps, want string }{
		"nothing":            {"", "", steps, "advisory | step-soft-failing a.yml:7"},
		"the job's":          {"", "    defaults: {run: {shell: bash}}\n", steps, "pass"},
		"the workflow's":     {"defaults: {run: {shell: bash}}\n", "", steps, "pass"},
		"the job's first":    {"defaults: {run: {shell: bash}}\n", "    defaults: {run: {shell: sh}}\n", steps, "advisory | step-soft-failing a.yml:9"},
		"the step's first":   {"defaults: {run: {shell: bash}}\n", "", steps + "        shell: sh\n", "advisory | step-soft-failing a.yml:8"},
		"a pipe in the last": {"", "", steps + "        shell: bash\n", "pass"},
	} {
		if got := found(verify(t, map[string]string{"a.yml": gateJob(pullRequest+tt.top, tt.job, tt.steps)})); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	runners := map[string]string{
		"windows-latest":                     "advisory | step-soft-failing a.yml:6",
		"[self-hosted, Windows]":             "advisory | step-soft-failing a.yml:6",
		"{group: g, labels: [windows-2025]}": "advisory | step-soft-failing a.yml:6",
		"ubuntu-latest":                      "pass",
		"${{ matrix.os }}":                   "pass",
	}
	runners["windows-latest\n    defaults: {run: {shell: bash}}"] = "pass"
	for runner, want := range runners {
		text := "on: pull_request\njobs:\n  gate:\n    runs-on: " + runner + "\n    steps:\n      - run: |\n          aahp verify --level ci\n          echo done\n"
		if got := found(verify(t, map[string]string{"a.yml": text})); got != want {
			t.Errorf("%s: %s, want %s", runner, got, want)
		}
	}
}
