package lint

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// ExtendedVersion names the rule set of --secrets extended, for the summary of
// the layer.
const ExtendedVersion = "gitleaks 8.30.1"

// gitleaksRules is config/gitleaks.toml of that release, unchanged. Its licence
// stands beside it.
//
//go:embed extended/gitleaks.toml
var gitleaksRules string

// ruleSet is the rule set of others, ready to run.
type ruleSet struct {
	rules    []extendedRule
	allow    []allowance
	keywords *automaton
	owners   [][]int // by keyword: the rules that name it
}

// extendedRule is one rule: an expression that is run where one of its
// keywords stands, and what its matches must be.
type extendedRule struct {
	id       string
	expr     *regexp.Regexp // nil for a rule about names of files alone
	path     *regexp.Regexp // nil: any file
	group    int            // of the secret; 0: the first that matched, else all
	entropy  float64
	allow    []allowance
	keywords []string
}

// allowance says which matches of a rule are no secrets.
type allowance struct {
	all       bool // every condition must hold, not just one
	target    string
	expr      []*regexp.Regexp
	paths     []*regexp.Regexp
	stopwords []string
}

// extendedRules reads the embedded rule set when it is first asked for:
// compiling two hundred expressions is not for every run.
var extendedRules = sync.OnceValue(func() *ruleSet {
	set, err := parseRules(gitleaksRules)
	if err != nil {
		// The data is part of the program, and a test reads it.
		panic("lint: the embedded gitleaks rules: " + err.Error())
	}
	return set
})

// gitleaksFile is the layout of the file.
type gitleaksFile struct {
	Allowlist  gitleaksAllow   `toml:"allowlist"`
	Allowlists []gitleaksAllow `toml:"allowlists"`
	Rules      []struct {
		ID          string          `toml:"id"`
		Regex       string          `toml:"regex"`
		Path        string          `toml:"path"`
		SecretGroup int             `toml:"secretGroup"`
		Entropy     float64         `toml:"entropy"`
		Keywords    []string        `toml:"keywords"`
		Allowlists  []gitleaksAllow `toml:"allowlists"`
	} `toml:"rules"`
}

type gitleaksAllow struct {
	Condition   string   `toml:"condition"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	Paths       []string `toml:"paths"`
	StopWords   []string `toml:"stopwords"`
}

// parseRules reads a rule set.
func parseRules(text string) (*ruleSet, error) {
	var file gitleaksFile
	if _, err := toml.Decode(text, &file); err != nil {
		return nil, err
	}
	set := &ruleSet{}
	words := map[string]int{}
	var list []string
	for _, a := range append(file.Allowlists, file.Allowlist) {
		allowed, err := newAllowance(a)
		if err != nil {
			return nil, err
		}
		set.allow = append(set.allow, allowed)
	}
	for _, r := range file.Rules {
		rule := extendedRule{id: r.ID, group: r.SecretGroup, entropy: r.Entropy}
		var err error
		if r.Regex != "" {
			if rule.expr, err = regexp.Compile(r.Regex); err != nil {
				return nil, fmt.Errorf("%s: %w", r.ID, err)
			}
		}
		if r.Path != "" {
			if rule.path, err = regexp.Compile(r.Path); err != nil {
				return nil, fmt.Errorf("%s: %w", r.ID, err)
			}
		}
		for _, a := range r.Allowlists {
			allowed, err := newAllowance(a)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.ID, err)
			}
			rule.allow = append(rule.allow, allowed)
		}
		n := len(set.rules)
		set.rules = append(set.rules, rule)
		if rule.expr == nil {
			continue
		}
		if len(r.Keywords) == 0 {
			return nil, fmt.Errorf("%s: a rule without keywords would run everywhere", r.ID)
		}
		for _, k := range r.Keywords {
			k = strings.ToLower(k)
			set.rules[n].keywords = append(set.rules[n].keywords, k)
			w, known := words[k]
			if !known {
				w = len(list)
				words[k] = w
				list = append(list, k)
				set.owners = append(set.owners, nil)
			}
			set.owners[w] = append(set.owners[w], n)
		}
	}
	set.keywords = newAutomaton(list, true, "")
	set.keywords.mark()
	return set, nil
}

func newAllowance(a gitleaksAllow) (allowance, error) {
	out := allowance{all: strings.EqualFold(a.Condition, "and"), target: a.RegexTarget}
	if strings.EqualFold(a.Condition, "&&") {
		out.all = true
	}
	for _, e := range a.Regexes {
		c, err := regexp.Compile(e)
		if err != nil {
			return out, err
		}
		out.expr = append(out.expr, c)
	}
	for _, e := range a.Paths {
		c, err := regexp.Compile(e)
		if err != nil {
			return out, err
		}
		out.paths = append(out.paths, c)
	}
	for _, w := range a.StopWords {
		out.stopwords = append(out.stopwords, strings.ToLower(w))
	}
	return out, nil
}

func matchAny(list []*regexp.Regexp, s string) bool {
	return slices.ContainsFunc(list, func(e *regexp.Regexp) bool { return e.MatchString(s) })
}

// pathAllowed tells whether an allowance about paths alone covers the file.
func (a *allowance) pathAllowed(path string) bool {
	return (!a.all || len(a.expr) == 0 && len(a.stopwords) == 0) && matchAny(a.paths, path)
}

// allows tells whether a match is no secret.
func (a *allowance) allows(path, line, match, secret string) bool {
	target := secret
	switch a.target {
	case "match":
		target = match
	case "line":
		target = line
	}
	byExpr := matchAny(a.expr, target)
	low := strings.ToLower(secret)
	byWord := slices.ContainsFunc(a.stopwords, func(w string) bool { return strings.Contains(low, w) })
	if !a.all {
		return byExpr || byWord
	}
	return (len(a.expr) == 0 || byExpr) && (len(a.stopwords) == 0 || byWord) && (len(a.paths) == 0 || matchAny(a.paths, path))
}

// paths gives the rules that a file breaks by its name.
func (set *ruleSet) paths(path string) []string {
	var ids []string
	for i := range set.rules {
		r := &set.rules[i]
		if r.expr == nil && r.path != nil && r.path.MatchString(path) && !set.passes(r, path) {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// passes tells whether an allowance lets the whole file pass.
func (set *ruleSet) passes(r *extendedRule, path string) bool {
	covers := func(a allowance) bool { return a.pathAllowed(path) }
	return slices.ContainsFunc(set.allow, covers) || slices.ContainsFunc(r.allow, covers)
}

// entropy is Shannon's, in bits a character.
func entropy(s string) float64 {
	counts := map[rune]int{}
	n := 0
	for _, r := range s {
		counts[r]++
		n++
	}
	h := 0.0
	for _, c := range counts {
		p := float64(c) / float64(n)
		h -= p * math.Log2(p)
	}
	return h
}

// find calls emit for the first match of rule n on a line that is a secret.
func (set *ruleSet) find(n int, path string, line []byte, emit func(start, end int) (more bool)) {
	r := &set.rules[n]
	if r.path != nil && !r.path.MatchString(path) || set.passes(r, path) {
		return
	}
	for _, m := range r.expr.FindAllSubmatchIndex(line, -1) {
		secret := m[:2]
		switch {
		case r.group > 0 && 2*r.group+1 < len(m) && m[2*r.group] >= 0:
			secret = m[2*r.group:]
		case r.group == 0:
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 && m[g+1] > m[g] {
					secret = m[g:]
					break
				}
			}
		}
		text := string(line[secret[0]:secret[1]])
		if (r.entropy == 0 || entropy(text) > r.entropy) && !set.allowed(r, path, string(line), string(line[m[0]:m[1]]), text) {
			if !emit(secret[0], secret[1]) {
				return
			}
		}
	}
}

func (set *ruleSet) allowed(r *extendedRule, path, line, match, secret string) bool {
	allows := func(a allowance) bool { return a.allows(path, line, match, secret) }
	return slices.ContainsFunc(set.allow, allows) || slices.ContainsFunc(r.allow, allows)
}

// scanExtended runs the rules over the lines of the text from offset from on.
func (s *scan) scanExtended(from int) {
	set := extendedRules()
	var over spans
	over.at = append(over.at, s.secretSpans...)
	over.settle()
	a, row := set.keywords, uint32(0)
	wanted := map[int]struct{}{}
	start := from
	settle := func(end int) {
		if len(wanted) == 0 {
			return
		}
		line := s.text[start:end]
		for _, n := range sortedKeys(wanted) {
			set.find(n, s.path, line, func(a, b int) bool {
				if over.over(start+a, start+b) {
					return true
				}
				s.hits = append(s.hits, found{
					rule: SecretExtended, severity: SecretExtended.Severity, kind: set.rules[n].id, start: start + a, end: start + b,
					message: "possible secret (gitleaks rule " + set.rules[n].id + "), " + length(line[a:b]),
				})
				return false
			})
		}
		clear(wanted)
	}
	for i := from; i < len(s.text); i++ {
		b := s.text[i]
		if b == '\n' {
			settle(i)
			start, row = i+1, 0
			continue
		}
		row = a.next[int(row)+int(a.class[b])]
		if row&look != 0 {
			row &^= look
			for _, w := range a.words(row) {
				for _, n := range set.owners[w] {
					wanted[n] = struct{}{}
				}
			}
		}
	}
	settle(len(s.text))
}

func sortedKeys(m map[int]struct{}) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// holdsExtended tells whether a rule of the extended set matches text.
func holdsExtended(path, text string) bool {
	s := scan{path: path, checks: checks{extended: true}, text: []byte(text)}
	s.scanExtended(0)
	return len(s.hits) > 0
}
