package drift

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

const (
	lockFile     = "package-lock.json"
	manifestFile = "package.json"
	modules      = "node_modules/"
	devDeps      = "devDependencies"
	registry     = "https://registry.npmjs.org/"
)

// maxReasons is how many notices of one rule are listed, before a count.
const maxReasons = 20

var (
	integrityPattern = regexp.MustCompile(`^sha(256|384|512)-[A-Za-z0-9+/]+={0,2}$`)
	specifierPattern = regexp.MustCompile(`^(\^|~|>=|=)?v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

// npm judges one change of the lock file and the manifest by its content.
type npm struct {
	c       *checker
	changed int                // entries of packages other than the root's
	refused map[*rule.Rule]int // how often each rule refused
	order   []*rule.Rule       // in which they first did
	lines   lineCounter        // of the new lock
}

// npmUpdate decides table 6.2: whether all that changed is development packages
// of the registry. The error is a blob that this clone lacks.
func (c *checker) npmUpdate() (granted bool, err error) {
	n := &npm{c: c, refused: map[*rule.Rule]int{}}
	withManifest := n.records()
	if err := n.lock(); err != nil {
		return false, err
	}
	if withManifest {
		if err := n.manifest(); err != nil {
			return false, err
		}
	}
	if len(n.refused) > 0 {
		n.counts()
		return false, nil
	}
	policy := c.Policies.Applied.NPM
	c.add(NPMDevUpdate, c.path(lockFile), report.Span{}, fmt.Sprintf(
		"Of the installed packages only development dependencies from the npm registry changed (%d), so no handoff update is needed: %s (Whether the job that scans them is a required check cannot be seen from here.)",
		n.changed, safetext.Clean(strings.TrimSpace(policy.Reason))), "")
	return true, nil
}

// refuse notes one reason; at is a place in the file or the zero Span.
func (n *npm) refuse(r *rule.Rule, file string, line int, message string) {
	if n.refused[r] == 0 {
		n.order = append(n.order, r)
	}
	if n.refused[r]++; n.refused[r] > maxReasons {
		return
	}
	n.c.add(r, n.c.path(file), report.Span{Line: line}, "The npm exemption does not apply: "+message+".", refusedRemedy)
}

const refusedRemedy = "Update the handoff with this change."

// counts adds how many reasons of a rule are not listed.
func (n *npm) counts() {
	for _, r := range n.order {
		if more := n.refused[r] - maxReasons; more > 0 {
			n.c.add(r, n.c.path(lockFile), report.Span{},
				fmt.Sprintf("The npm exemption does not apply: %d more of this kind are not listed.", more), refusedRemedy)
		}
	}
}

// records is rows 1 and 2. It tells whether the manifest is among the changes.
func (n *npm) records() (withManifest bool) {
	others := 0
	var names []string
	odd := map[string]bool{} // files whose mode was reported
	visit := func(ch *gate.Change, staged bool) {
		rel, ok := gate.Below(n.c.Project, ch.Path)
		if !ok || strings.HasPrefix(rel, inside) {
			return
		}
		// At ci the index is not what is judged: a staged change has not been read.
		if ch.Status != 'M' || rel != lockFile && rel != manifestFile || staged && n.c.Level == gate.CI {
			if others++; len(names) < maxListed {
				names = append(names, fmt.Sprintf("%c %s", ch.Status, shown(rel)))
			}
			return
		}
		withManifest = withManifest || rel == manifestFile
		if (ch.OldMode != 0o100644 || ch.NewMode != 0o100644) && !odd[rel] {
			odd[rel] = true
			n.refuse(NPMMode, rel, 0, fmt.Sprintf("%s has mode %o and had %o, 100644 is expected", rel, ch.NewMode, ch.OldMode))
		}
	}
	for i := range n.c.Changes {
		visit(&n.c.Changes[i], false)
	}
	for i := range n.c.Staged {
		visit(&n.c.Staged[i], true)
	}
	if others > 0 {
		text := "only modifications of " + lockFile + " and " + manifestFile + " are expected, but there are also " + strings.Join(names, ", ")
		if more := others - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		n.refuse(NPMOtherFiles, lockFile, 0, text)
	}
	return withManifest
}

// sides reads a file on both sides. The text is why one of them cannot be used,
// the error a blob that the clone lacks.
func (n *npm) sides(file string, limit int64) (old, current []byte, problem string, err error) {
	for _, side := range []struct {
		tree gate.Tree
		when string
		data *[]byte
	}{{n.c.OldSide, "before", &old}, {n.c.NewSide, "after", &current}} {
		if side.tree == nil {
			return nil, nil, "", errNoTree
		}
		doc := gate.ReadDocument(side.tree, n.c.path(file), limit)
		switch doc.State {
		case gate.Unreadable:
			return nil, nil, "", doc.Err
		case gate.Absent:
			return nil, nil, "it is not there " + side.when + " the change", nil
		case gate.NotRegular, gate.TooLarge:
			return nil, nil, doc.Err.Error() + " " + side.when + " the change", nil
		case gate.Present:
			*side.data = doc.Data
		}
	}
	return old, current, "", nil
}

// lock is rows 3 to 13 for the lock file.
func (n *npm) lock() error {
	oldData, data, problem, err := n.sides(lockFile, gate.MaxPackageLock)
	if err != nil {
		return err
	}
	if problem != "" {
		n.refuse(NPMLockInvalid, lockFile, 0, problem)
		return nil
	}
	n.lines = lineCounter{src: data}
	current, bad := readLock(data)
	if bad != nil {
		n.refuse(NPMLockInvalid, lockFile, n.lines.line(bad.off), "the lock file is none of version 3: "+bad.message)
	}
	old, bad := readLock(oldData)
	if bad != nil {
		n.refuse(NPMLockInvalid, lockFile, 0, "before the change the lock file was none of version 3: "+bad.message)
	}
	if current == nil || old == nil {
		return nil
	}
	n.topLevel(old, current)
	n.packages(old, current)
	return nil
}

// topLevel is row 4.
func (n *npm) topLevel(old, current *lock) {
	before := byKey(old.top)
	for _, m := range current.top {
		was, ok := before[m.key]
		switch {
		case !ok:
			n.refuse(NPMLockTopLevel, lockFile, n.lines.line(m.keyOff), "the top-level key "+quoted(m.key)+" was added")
		case !same(was.value(old.src), m.value(current.src)):
			n.refuse(NPMLockTopLevel, lockFile, n.lines.line(m.keyOff), "the top-level key "+quoted(m.key)+" changed")
		}
	}
	after := byKey(current.top)
	for _, m := range old.top {
		if _, ok := after[m.key]; !ok {
			n.refuse(NPMLockTopLevel, lockFile, 0, "the top-level key "+quoted(m.key)+" was removed")
		}
	}
}

// byKey indexes members; a hostile file may have very many.
func byKey(ms []member) map[string]member {
	out := make(map[string]member, len(ms))
	for _, m := range ms {
		out[m.key] = m
	}
	return out
}

func quoted(s string) string { return `"` + safetext.Clean(s) + `"` }

// packages compares the entries (rows 5 to 13). The order of the entries among
// each other says nothing.
func (n *npm) packages(old, current *lock) {
	before := make(map[string]int, len(old.packages))
	for i, m := range old.packages {
		before[m.key] = i
	}
	kept := make([]bool, len(old.packages))
	for _, m := range current.packages {
		var was []byte
		if i, ok := before[m.key]; ok {
			kept[i] = true
			was = old.packages[i].value(old.src)
			if same(was, m.value(current.src)) {
				continue
			}
		}
		if m.key == "" {
			n.root(was, current, m)
			continue
		}
		n.changed++
		n.entry(m, was, m.value(current.src), n.lines.line(m.keyOff))
	}
	for i, m := range old.packages {
		switch {
		case kept[i]:
		case m.key == "":
			n.refuse(NPMManifestChanged, lockFile, 0, "the lock's root entry was removed")
		default:
			n.changed++
			n.entry(m, m.value(old.src), nil, 0)
		}
	}
	if n.changed == 0 {
		n.refuse(NPMNoPackageChange, lockFile, 0, "no entry of an installed package changed")
	}
}

// root compares the lock's entry of the project itself; was is nil for a new one.
func (n *npm) root(was []byte, current *lock, m member) {
	if was == nil {
		n.refuse(NPMManifestChanged, lockFile, n.lines.line(m.keyOff), "the lock's root entry was added")
		return
	}
	n.devOnly(lockFile, "the lock's root entry", was, m.value(current.src), func(off int) int { return n.lines.line(m.off + off) })
}

// entry is rows 6 to 11 for one entry that was added, changed or removed; was
// or is is nil where it is not there. Each reason is a notice of its own.
func (n *npm) entry(m member, was, is []byte, line int) {
	refuse := func(r *rule.Rule, message string) { n.refuse(r, lockFile, line, quoted(m.key)+" "+message) }
	name, ok := packageName(m.key)
	if !ok {
		refuse(NPMEntryNotPackage, "is no installed package: its key is no clean path in "+modules)
	}
	before, after := readEntry(was), readEntry(is)
	switch {
	case is == nil && !before.dev:
		refuse(NPMEntryNotDev, "was removed, and was no development dependency")
	case is != nil && !after.dev:
		refuse(NPMEntryNotDev, "is no development dependency")
	case was != nil && !before.dev:
		refuse(NPMEntryNotDev, "was no development dependency before the change")
	}
	if is == nil {
		return
	}
	if after.link {
		refuse(NPMEntryLink, "is a link")
	}
	if after.script {
		refuse(NPMEntryInstallScript, "has an install script")
	}
	if !integrityPattern.MatchString(after.integrity) {
		refuse(NPMEntryIntegrity, "has no integrity of SHA-256, SHA-384 or SHA-512")
	}
	if after.name != "" && after.name == before.name {
		name = after.name // an alias, and it stays one
	}
	switch {
	case name == "":
		refuse(NPMEntryRegistry, "names no package that "+registry+" could have")
	case !fromRegistry(after.resolved, name):
		refuse(NPMEntryRegistry, fmt.Sprintf("is resolved to %s, an address of %s at %s is expected", quoted(after.resolved), quoted(name), registry))
	}
}

// packageName takes the name out of an entry's key: what follows its last
// node_modules/. Keys that are no clean path are not trusted to name anything.
// ok tells whether the key is that of an installed package.
func packageName(key string) (name string, ok bool) {
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.Contains(segment, `\`) {
			return "", false
		}
	}
	if i := strings.LastIndex("/"+key, "/"+modules); i >= 0 {
		name = key[i+len(modules):]
	}
	return name, strings.HasPrefix(key, modules)
}

// fromRegistry tells whether an address is one of the package in the public npm
// registry (row 11).
func fromRegistry(resolved, name string) bool {
	return strings.HasPrefix(resolved, registry+name+"/-/") &&
		!strings.Contains(resolved, "..") && !strings.ContainsAny(resolved, `\%?#`)
}

// entryFields are the members of an entry that rows 7 to 11 look at.
type entryFields struct {
	dev, link, script         bool
	integrity, resolved, name string
}

// readEntry reads an entry of a sound lock file; nil and what is no object have
// nothing. A link or an install script counts unless it is absent or false: npm
// asks only whether the value is true-like.
func readEntry(src []byte) (e entryFields) {
	if src == nil {
		return e
	}
	var key string
	_ = jsondoc.Scan(src, lockOptions, func(t jsondoc.Token) error {
		if t.Depth != 1 || t.Closes() {
			return nil
		}
		text := ""
		if t.Kind == jsondoc.Key || t.Kind == jsondoc.String {
			text = t.Text(src)
		}
		if t.Kind == jsondoc.Key {
			key = text
			return nil
		}
		switch key {
		case "dev":
			e.dev = t.Kind == jsondoc.True
		case "link":
			e.link = t.Kind != jsondoc.False
		case "hasInstallScript":
			e.script = t.Kind != jsondoc.False
		case "integrity":
			e.integrity = text
		case "resolved":
			e.resolved = text
		case "name":
			e.name = text
		}
		return nil
	})
	return e
}

// manifest is rows 12 and 13 for package.json.
func (n *npm) manifest() error {
	was, is, problem, err := n.sides(manifestFile, gate.MaxPackageJSON)
	if err != nil {
		return err
	}
	if problem != "" {
		n.refuse(NPMManifestChanged, manifestFile, 0, problem)
		return nil
	}
	lines := &lineCounter{src: is}
	n.devOnly(manifestFile, manifestFile, was, is, lines.line)
	return nil
}

// devOnly is rows 12 and 13 for one of the two objects they are about. line
// gives the line of an offset in is.
func (n *npm) devOnly(file, what string, was, is []byte, line func(int) int) {
	changed := func(off int, message string) {
		at := 0
		if off >= 0 {
			at = line(off)
		}
		n.refuse(NPMManifestChanged, file, at, what+" "+message)
	}
	if len(was) > gate.MaxPackageJSON || len(is) > gate.MaxPackageJSON {
		changed(-1, fmt.Sprintf("is larger than %d bytes", gate.MaxPackageJSON))
		return
	}
	current, bad := members(is, nil)
	if bad != nil {
		changed(bad.off, "cannot be compared: "+bad.message)
		return
	}
	list, bad := members(was, nil)
	if bad != nil {
		changed(-1, "cannot be compared with the one before the change: "+bad.message)
		return
	}
	old := byKey(list)
	if canonical(was, devDeps) != canonical(is, devDeps) {
		off := 0
		for _, m := range current {
			before, ok := old[m.key]
			if m.key != devDeps && (!ok || !same(before.value(was), m.value(is))) {
				off = m.keyOff
				break
			}
		}
		changed(off, "changed in more than values of "+devDeps)
	}
	before, had := old[devDeps]
	after, has := byKey(current)[devDeps]
	if !had || !has {
		return // absent on both, or the comparison above has seen it
	}
	oldDeps, badBefore := members(before.value(was), nil)
	deps, badAfter := members(after.value(is), nil)
	if badBefore != nil || badAfter != nil {
		changed(after.keyOff, "has a "+devDeps+" that is not an object on both sides")
		return
	}
	if len(oldDeps) != len(deps) {
		changed(after.keyOff, fmt.Sprintf("has %d %s, before the change it had %d", len(deps), devDeps, len(oldDeps)))
		return
	}
	for i, d := range deps {
		if oldDeps[i].key != d.key {
			changed(after.off+d.keyOff, fmt.Sprintf("has %s in %s where %s was", quoted(d.key), devDeps, quoted(oldDeps[i].key)))
			return
		}
	}
	for i, d := range deps {
		a, b := oldDeps[i].value(before.value(was)), d.value(after.value(is))
		if same(a, b) {
			continue
		}
		for _, side := range [][]byte{b, a} {
			if v, ok := stringValue(side); !ok || !specifierPattern.MatchString(v) {
				n.refuse(NPMSpecifier, file, line(after.off+d.keyOff),
					fmt.Sprintf("%s has %s at %s, a plain version is expected before and after", what, quoted(d.key), quoted(v)))
				break
			}
		}
	}
}

// stringValue decodes a value that is a string; others give their spelling.
func stringValue(src []byte) (text string, ok bool) {
	_ = jsondoc.Scan(src, lockOptions, func(t jsondoc.Token) error {
		ok = t.Kind == jsondoc.String
		text = t.Text(src)
		return errStop
	})
	return text, ok
}

var errStop = errors.New("stop")

// lineCounter gives lines of offsets that mostly grow, without an index of all
// lines: of a lock file only few are asked for.
type lineCounter struct {
	src  []byte
	off  int
	seen int // line ends before off
}

func (l *lineCounter) line(off int) int {
	off = min(off, len(l.src))
	if off < l.off {
		l.off, l.seen = 0, 0
	}
	l.seen += bytes.Count(l.src[l.off:off], []byte{'\n'})
	l.off = off
	return l.seen + 1
}
