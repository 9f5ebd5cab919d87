package adopt

import (
	"bytes"
	"embed"
	"slices"
)

//go:embed all:templates
var templates embed.FS

// More names of files that this package knows by name.
const (
	dashboardName   = "DASHBOARD.md"
	trustName       = "TRUST.md"
	conventionsName = "CONVENTIONS.md"
	workflowName    = "WORKFLOW.md"
	groundingName   = "GROUNDING.md"
	ignoreName      = ".aiignore"
)

// starters are the files of a new handoff set, in the order in which they are
// written; the manifest, which indexes them, comes after them.
var starters = []string{
	statusName, nextName, logName, ArchiveName, dashboardName, trustName, conventionsName, workflowName, groundingName, ignoreName,
}

// template gives the text that a new file begins with. It is ASCII, with LF as
// line ends, and has the placeholder of the project's name in it.
func template(name string) []byte {
	text := embedded(name)
	if name == trustName {
		text = withProvenance(text)
	}
	return text
}

// embedded gives a part of the program, so it is there.
func embedded(name string) []byte {
	text, err := templates.ReadFile("templates/" + name)
	if err != nil {
		panic(err)
	}
	return text
}

// provenanceHeading is what the section begins with that migrate-grounding adds to
// a trust register. The template of a register has it, too.
const provenanceHeading = "## Provenance"

// hasProvenance tells whether a trust register has the section.
func hasProvenance(register []byte) bool {
	for line := range bytes.Lines(register) {
		if bytes.HasPrefix(line, []byte(provenanceHeading)) {
			return true
		}
	}
	return false
}

// withProvenance adds the section to the end of a trust register, in its own line
// ends. No byte that is there changes.
func withProvenance(register []byte) []byte {
	end := "\n"
	if first := bytes.IndexByte(register, '\n'); first > 0 && register[first-1] == '\r' {
		end = "\r\n"
	}
	out := slices.Clip(register)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, end...)
		}
		out = append(out, end...)
	}
	return append(out, bytes.ReplaceAll(embedded("provenance.md"), []byte("\n"), []byte(end))...)
}
