package render

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The identity of the format and of the tool in a SARIF log.
const (
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifVersion = "2.1.0"
	toolPage     = "https://github.com/handoff-gate/handoff-gate"
)

// The members of SARIF 2.1.0 that are written, named as in the standard.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool               sarifTool            `json:"tool"`
		ColumnKind         string               `json:"columnKind"`
		OriginalURIBaseIDs map[string]sarifBase `json:"originalUriBaseIds"`
		Invocations        []sarifInvocation    `json:"invocations"`
		Results            []sarifResult        `json:"results"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool `json:"executionSuccessful"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string          `json:"id"`
		Name             string          `json:"name"`
		ShortDescription sarifText       `json:"shortDescription"`
		FullDescription  sarifText       `json:"fullDescription"`
		HelpURI          string          `json:"helpUri"`
		Help             sarifHelp       `json:"help"`
		Default          sarifLevel      `json:"defaultConfiguration"`
		Properties       sarifProperties `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifProperties struct {
		Tags     []string `json:"tags"`
		Severity string   `json:"problem.severity"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

// srcRoot is the name that GitHub code scanning knows for the repository's top.
const srcRoot = "%SRCROOT%"

// SARIF writes the report as SARIF 2.1.0 for GitHub code scanning. rules is the
// rule table; a finding of a rule that is not in it gets a row made from what
// is known. Columns are code points, as in the report, and the end column is the
// one after the last character in both.
func SARIF(w io.Writer, r *report.Report, rules []*rule.Rule) error {
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: r.Tool.Name, Version: r.Tool.Version, InformationURI: toolPage, Rules: []sarifRule{},
		}},
		ColumnKind: "unicodeCodePoints",
		OriginalURIBaseIDs: map[string]sarifBase{
			srcRoot: {sarifText{"The top level of the repository."}},
		},
		Invocations: []sarifInvocation{{ExecutionSuccessful: true}},
		Results:     []sarifResult{},
	}
	index := map[string]int{}
	add := func(ru *rule.Rule) {
		if _, ok := index[ru.ID]; !ok {
			index[ru.ID] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, describe(ru))
		}
	}
	for _, ru := range rules {
		add(ru)
	}
	twins := map[string]int{} // results with one fingerprint so far
	for i := range r.Projects {
		p := &r.Projects[i]
		for j := range p.Layers {
			for k := range p.Layers[j].Findings {
				f := &p.Layers[j].Findings[k]
				add(&rule.Rule{ID: f.Rule, Severity: f.Severity, Title: f.Rule})
				run.Results = append(run.Results, result(p, f, index[f.Rule], twins))
			}
		}
	}
	return writeJSON(w, sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}})
}

// describe is a rule as a reportingDescriptor. Every text is non-empty: code
// scanning refuses a rule with an empty one.
func describe(ru *rule.Rule) sarifRule {
	group, _, _ := strings.Cut(ru.ID, "/")
	full := strings.TrimSpace(ru.Why)
	if full == "" {
		full = ru.Title
	}
	help := strings.TrimSpace(ru.Remedy)
	if help == "" {
		help = full
	}
	return sarifRule{
		ID:               ru.ID,
		Name:             pascal(ru.ID),
		ShortDescription: sarifText{ru.Title},
		FullDescription:  sarifText{full},
		HelpURI:          toolPage + "/blob/main/docs/rules.md#" + ruleAnchor(ru.ID),
		Help:             sarifHelp{Text: full + "\n\n" + help, Markdown: mdProse(full) + "\n\n" + mdRemedy(help)},
		Default:          sarifLevel{sarifSeverity(ru.Severity)},
		Properties:       sarifProperties{Tags: []string{"handoff", group}, Severity: problemSeverity(ru.Severity)},
	}
}

// pascal is a rule's id as a name: "integrity/missing-file" is
// "IntegrityMissingFile".
func pascal(id string) string {
	var b strings.Builder
	up := true
	for _, c := range id {
		if c == '/' || c == '-' {
			up = true
			continue
		}
		if up {
			c = unicode.ToUpper(c)
			up = false
		}
		b.WriteRune(c)
	}
	return b.String()
}

// sarifSeverity is a severity as a SARIF level.
func sarifSeverity(s report.Severity) string {
	switch s {
	case report.Error:
		return "error"
	case report.Warning:
		return "warning"
	case report.Notice:
		return "note"
	}
	return "error"
}

// problemSeverity is a severity as code scanning sorts it.
func problemSeverity(s report.Severity) string {
	switch s {
	case report.Error:
		return "error"
	case report.Warning:
		return "warning"
	case report.Notice:
		return "recommendation"
	}
	return "error"
}

// result is one finding.
func result(p *report.Project, f *report.Finding, ruleIndex int, twins map[string]int) sarifResult {
	text := f.Message
	if f.Remedy != "" {
		text += "\n\n" + f.Remedy
	}
	file := f.Path
	var region *sarifRegion
	if file == "" {
		// Code scanning drops a result without a place.
		file = standIn(p)
	} else if f.Line >= 1 {
		region = &sarifRegion{StartLine: f.Line}
		if f.EndLine > f.Line {
			region.EndLine = f.EndLine
		}
		if f.Column >= 1 {
			region.StartColumn = f.Column
			if region.EndLine > 0 && f.EndColumn >= 1 || f.EndColumn >= f.Column {
				region.EndColumn = f.EndColumn
			}
		}
	}
	if file == "" {
		file = p.Path
	}
	mark := fingerprint(p, f)
	twins[mark]++
	return sarifResult{
		RuleID:    f.Rule,
		RuleIndex: ruleIndex,
		Level:     sarifSeverity(f.Severity),
		Message:   sarifText{sarifMessage(text)},
		Locations: []sarifLocation{{sarifPhysical{
			Artifact: sarifArtifact{URI: artifactURI(file), URIBaseID: srcRoot},
			Region:   region,
		}}},
		// The form HASH:N is the one code scanning computes itself.
		Fingerprints: map[string]string{"primaryLocationLineHash": mark + ":" + strconv.Itoa(twins[mark])},
	}
}

// artifactURI is a relative URI reference for a path.
func artifactURI(p string) string { return strings.TrimLeft(escapePath(p), "/") }

// sarifMessage is a message that a SARIF viewer shows as text. A viewer makes a
// link of "[text](target)" even in plain text (section 3.11.6 of the standard),
// so the two brackets are parted.
func sarifMessage(s string) string {
	return strings.ReplaceAll(AnnotationText(s), "](", "] (")
}

// fingerprint recognises a finding in the next run: rule, project, file and the
// message without what changes on its own there (numbers, digests). The line
// is not part of it.
func fingerprint(p *report.Project, f *report.Finding) string {
	h := sha256.New()
	for _, s := range []string{f.Rule, p.Path, f.Path, stableWords(f.Message)} {
		_, _ = io.WriteString(h, s) // a hash never fails
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// stableWords replaces digits and long runs of hex digits by "0".
func stableWords(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && isAlnum(s[j]) {
			j++
		}
		if j == i {
			b.WriteByte(s[i])
			i++
			continue
		}
		word := s[i:j]
		if len(word) >= 7 && strings.Trim(word, "0123456789abcdef") == "" {
			word = "0"
		}
		for k := range len(word) {
			if word[k] < '0' || word[k] > '9' {
				b.WriteByte(word[k])
			} else if k == 0 || word[k-1] < '0' || word[k-1] > '9' {
				b.WriteByte('0')
			}
		}
		i = j
	}
	return b.String()
}
