package adopt

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/criteria"
	"github.com/handoff-gate/handoff-gate/gate/journal"
	"github.com/handoff-gate/handoff-gate/gate/trust"
)

// What every template is, and what the specification asks of some of them
// (aahp-authoring.md 6).
func TestTemplates(t *testing.T) {
	for _, name := range starters {
		text := template(name)
		if i := bytes.IndexFunc(text, func(r rune) bool { return r > 0x7e || r < ' ' && r != '\n' }); i >= 0 {
			t.Errorf("%s is not plain ASCII with LF at byte %d", name, i)
		}
		if !bytes.HasSuffix(text, []byte("\n")) || bytes.HasSuffix(text, []byte("\n\n")) {
			t.Errorf("%s does not end in one line feed", name)
		}
		if !bytes.Contains(text, []byte(placeholder)) {
			t.Errorf("%s has no %s", name, placeholder)
		}
	}
	if got := string(template(allowlistName)); got != "{\"version\": 1, \"entries\": []}\n" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{statusName, logName} {
		for _, field := range []string{"Agent:", "Session ID:", "Timestamp:", "Commit before:", "Commit after:"} {
			if !bytes.Contains(template(name), []byte(field)) {
				t.Errorf("%s does not show the field %s", name, field)
			}
		}
	}
	for _, name := range []string{logName, ArchiveName} {
		doc, err := journal.Read(bytes.NewReader(template(name)))
		if err != nil || len(doc.Entries) > 0 || !doc.HasPreamble() {
			t.Errorf("%s: %v, %d entries", name, err, len(doc.Entries))
		}
	}
	if !marksSummary(template(statusName)) {
		t.Error("STATUS.md marks no summary")
	}
}

func TestTemplateOfNextActions(t *testing.T) {
	text := template(nextName)
	if !bytes.Contains(text, []byte("\nCurrent version: **v[VERSION]**\n")) {
		t.Error("there is no line for the version")
	}
	doc := criteria.Read(text)
	want := []criteria.Section{{Line: 12, Task: "T-001", Criteria: 4, Open: 13}}
	if !slices.Equal(doc.Sections, want) || doc.OpenFence > 0 {
		t.Errorf("%+v", doc)
	}
	if ids := regexp.MustCompile(`(?m)^#.*\bT-\d+`).FindAllString(string(text), -1); len(ids) != 1 {
		t.Errorf("tasks are %q", ids)
	}
	if !strings.Contains(string(text), "\n## Recently completed\n") {
		t.Error("there is no section for completed work")
	}
}

func TestTemplateOfTheTrustRegister(t *testing.T) {
	text := string(template(trustName))
	header := "| Property | Status | Provenance | Last Verified | Agent | TTL | Expires | Check | Notes |\n"
	if n := strings.Count(text, header); n < 2 {
		t.Errorf("%d tables have the columns", n)
	}
	if m := regexp.MustCompile(`(?m)^\|.*\bverified\b.*$`).FindString(text); m != "" {
		t.Errorf("a row is verified: %s", m)
	}
	if !hasProvenance([]byte(text)) || !trust.NamesProvenance([]byte(text)) {
		t.Error("migrate-grounding would find something to do")
	}
}

// The section is added to the end, and not a byte before it changes.
func TestWithProvenance(t *testing.T) {
	for _, before := range []string{"", "\n", "# Trust", "# Trust\n", "# Trust\n\n| a |\n", "# Trust\r\n", "a\r\nb", "\xff\xfe\n", "a\rb"} {
		after := withProvenance([]byte(before))
		added, ok := strings.CutPrefix(string(after), before)
		if !ok || !hasProvenance(after) || hasProvenance([]byte(before)) {
			t.Errorf("%q: %q", before, after)
		}
		want := 0
		if strings.Contains(before, "\r\n") {
			want = strings.Count(added, "\n")
		}
		if got := strings.Count(added, "\r"); got != want {
			t.Errorf("%q: %d of %d added line ends have a CR", before, got, strings.Count(added, "\n"))
		}
		if trust.NamesProvenance([]byte(added)) {
			t.Errorf("%q: the section has a column that hides a missing one", before)
		}
	}
}
