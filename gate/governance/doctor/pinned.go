package doctor

import (
	"fmt"
	"regexp"

	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// exactVersion is a version that npm takes as it is.
var exactVersion = regexp.MustCompile(`^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$`)

// pinnedDep judges how package.json names AAHP's tool.
func (d *doctor) pinnedDep() governance.Gate {
	g := governance.Gate{ID: governance.PinnedDep, Title: Titles[governance.PinnedDep]}
	done := func(o governance.Outcome, reason string, found ...report.Finding) governance.Gate {
		g.Outcome, g.Reason, g.Findings = o, reason, found
		return g
	}
	pkg, pin := d.judge.Package(), d.in.Config.PinnedDep
	name := d.clean(pin.Name)
	if absent, applies := d.judge.Applies(governance.PinnedDep); !applies {
		return done(governance.NotApplicable, absent)
	}
	switch {
	case pkg.Doc != nil && pkg.Name() == pin.Name:
		return done(governance.Self, "this repository is "+name+" itself")
	case !pin.Set:
		return done(governance.NotApplicable, governance.ConfigFile+" has no pinnedDep")
	case pkg.Doc == nil:
		return done(governance.Fail, "package.json cannot be judged", d.at(governance.PackageJSON, pkg.Path, report.Span{}, "package.json cannot be judged: "+pkg.Why+".",
			"Make package.json one JSON object."))
	}
	blocks := []string{pin.Location}
	if pin.Location == "any" {
		blocks = []string{"devDependencies", "dependencies"}
	}
	where := blocks[0]
	if len(blocks) > 1 {
		where += " or " + blocks[1]
	}
	for _, block := range blocks {
		v := pkg.Doc.Root.Get(block).Get(pin.Name)
		if v == nil {
			continue
		}
		if pin.AllowRange || v.Is(jsondoc.String) && exactVersion.MatchString(v.Text) {
			return done(governance.Pass, fmt.Sprintf("%s is pinned in %s", name, block))
		}
		shown := v.Kind.Article()
		if v.Is(jsondoc.String) {
			shown = fmt.Sprintf("%q", d.clean(v.Text))
		}
		return done(governance.Fail, fmt.Sprintf("%s is not pinned exactly", name), d.at(NotExactPin, pkg.Path, pkg.Doc.At(v),
			fmt.Sprintf("The version of %s in %s is %s: what is installed can change without a change here.", name, block, shown),
			fmt.Sprintf("Pin it exactly: npm install --save-exact, or write the version alone, such as \"%s\".", governance.AAHPVersion)))
	}
	return done(governance.Missing, fmt.Sprintf("%s is not in %s", name, where), d.at(PinMissing, pkg.Path, report.Span{},
		fmt.Sprintf("%s has no %s, which pinnedDep asks for.", where, name),
		fmt.Sprintf("Add it there with an exact version, such as \"%s\": \"%s\".", name, governance.AAHPVersion)))
}
