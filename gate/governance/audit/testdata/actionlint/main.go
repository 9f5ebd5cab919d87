// Command actionlint shows what the linter of that name reads in workflows, for a
// test that compares it with what the audit reads. It is built with the linter's
// own module file, .github/tools/workflows/go.mod.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"
)

func main() {
	for _, path := range os.Args[1:] {
		data, err := os.ReadFile(path)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		w, _ := actionlint.Parse(data) // what it complains about is for the linter
		fmt.Println("file", path)
		if w == nil {
			continue
		}
		for _, e := range w.On {
			fmt.Println("on", e.EventName())
		}
		permissions("workflow", w.Permissions)
		var ids []string
		for id := range w.Jobs {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			job(w.Jobs[id])
		}
	}
}

func job(j *actionlint.Job) {
	fmt.Println("job", j.ID.Value)
	text("if", j.If)
	if c := j.ContinueOnError; c != nil {
		fmt.Println("continue-on-error", c)
	}
	for _, n := range j.Needs {
		text("needs", n)
	}
	permissions("job", j.Permissions)
	if c := j.WorkflowCall; c != nil {
		text("uses", c.Uses)
	}
	for _, s := range j.Steps {
		fmt.Println("step")
		text("if", s.If)
		switch x := s.Exec.(type) {
		case *actionlint.ExecRun:
			text("run", x.Run)
		case *actionlint.ExecAction:
			text("uses", x.Uses)
		}
	}
}

func text(what string, s *actionlint.String) {
	if s != nil {
		fmt.Println(what, strings.ReplaceAll(s.Value, "\n", "\\n"))
	}
}

func permissions(what string, p *actionlint.Permissions) {
	if p == nil {
		return
	}
	if p.All != nil {
		fmt.Println("permissions of the", what, p.All.Value)
	}
	var all []string
	for _, s := range p.Scopes {
		all = append(all, s.Name.Value+": "+s.Value.Value)
	}
	slices.Sort(all)
	if len(all) > 0 {
		fmt.Println("permissions of the", what, strings.Join(all, ", "))
	}
}
