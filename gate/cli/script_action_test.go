package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/schema"
)

// actionCommands are for scripts about the command action.
//
//	action EVENT SETTINGS     runs the action on the current folder, the checkout
//	                          of a workflow run, and wants exit status 0; lists
//	                          the report as "gate" does, for stdout to match; the
//	                          log is on standard error
//	! action EVENT SETTINGS   the same with exit status 1
//	stopped EVENT SETTINGS    wants exit status 2 and no report
//
// A setting ".pull_request.base.sha=ID" is a field of the payload, a word
// between colons ("forced=:true:") no text but JSON; "GITHUB_SHA=ID" is a
// variable; "example=NAME" brings the inputs of the workflow of that name in
// .github/examples; everything else, "path=auto", is an input. There is no check run,
// as there is no server: see the tests of package cli for those.
var actionCommands = map[string]func(*testscript.TestScript, bool, []string){"action": actionStep, "stopped": stoppedStep}

func actionStep(ts *testscript.TestScript, neg bool, args []string) {
	wanted := 0
	if neg {
		wanted = 1
	}
	text := step(ts, wanted, args)
	var r report.Report
	ts.Check(json.Unmarshal([]byte(text), &r))
	ts.Check(schema.Check(schema.Report, []byte(text)))
	ts.Check(coherent(&r, wanted))
	fmt.Fprint(ts.Stdout(), listing(&r))
}

func stoppedStep(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 100)
	if text := step(ts, 2, args); text != "" {
		ts.Fatalf("a report was written:\n%s", text)
	}
}

// step runs the action, wants an exit status and gives the report, "" without
// one.
func step(ts *testscript.TestScript, wanted int, args []string) string {
	if len(args) == 0 {
		ts.Fatalf("action needs an event")
	}
	const file = ".tmp/report.json"
	dir, err := os.MkdirTemp("", "handoff-gate-step-*")
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	payload := object{}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GITHUB_EVENT_NAME=" + args[0], "GITHUB_EVENT_PATH=" + filepath.Join(dir, "event.json"),
		"GITHUB_WORKSPACE=" + ts.MkAbs("."), "GITHUB_REPOSITORY=harbour/tide-tables", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary"), "INPUT_CHECK-RUN=off", "INPUT_REPORT=" + file,
	}
	for _, setting := range args[1:] {
		name, value, ok := strings.Cut(setting, "=")
		switch {
		case !ok:
			ts.Fatalf("%q is no setting", setting)
		case strings.HasPrefix(name, "."):
			setField(ts, payload, strings.Split(name[1:], "."), value)
		case name == "example":
			env = append(env, example(ts, value)...)
		case name == strings.ToUpper(name):
			env = append(env, setting)
		default:
			env = append(env, "INPUT_"+strings.ToUpper(name)+"="+unescape(ts, value))
		}
	}
	data, err := json.Marshal(payload)
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, "event.json"), data, 0o644))
	runs := 2
	if testing.Short() {
		runs = 1
	}
	var texts []string
	for range runs {
		cmd := exec.Command("handoff-gate", "action")
		cmd.Dir, cmd.Env = ts.MkAbs("."), env
		log, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		if status := cmd.ProcessState.ExitCode(); status != wanted {
			ts.Fatalf("exit status %d, want %d\n%s", status, wanted, log)
		}
		fmt.Fprint(ts.Stderr(), string(log))
		text, err := os.ReadFile(ts.MkAbs(file))
		if err != nil && (wanted != 2 || !errors.Is(err, fs.ErrNotExist)) {
			ts.Fatalf("%v", err)
		}
		texts = append(texts, string(text))
		ts.Check(os.RemoveAll(ts.MkAbs(".tmp")))
	}
	if last := texts[len(texts)-1]; last != texts[0] {
		ts.Fatalf("two runs differ:\n%s\n%s", texts[0], last)
	}
	return texts[0]
}

// example gives the inputs that an example workflow hands to the action.
func example(ts *testscript.TestScript, name string) (env []string) {
	data, err := os.ReadFile(filepath.Join("..", "..", ".github", "examples", name))
	ts.Check(err)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	ts.Check(yaml.Unmarshal(data, &workflow))
	found := false
	for _, job := range workflow.Jobs {
		for _, s := range job.Steps {
			if !strings.HasPrefix(s.Uses, "handoff-gate/handoff-gate@") {
				continue
			}
			found = true
			for input, value := range s.With {
				env = append(env, "INPUT_"+strings.ToUpper(input)+"="+value)
			}
		}
	}
	if !found {
		ts.Fatalf("%s does not use the action", name)
	}
	return env
}

// setField puts a value into a payload, objects made as needed.
func setField(ts *testscript.TestScript, in object, path []string, value string) {
	for ; len(path) > 1; path = path[1:] {
		next, ok := in[path[0]].(object)
		if !ok {
			next = object{}
			in[path[0]] = next
		}
		in = next
	}
	in[path[0]] = value
	if raw, ok := strings.CutPrefix(value, ":"); ok {
		var v any
		ts.Check(json.Unmarshal([]byte(strings.TrimSuffix(raw, ":")), &v))
		in[path[0]] = v
	}
}
