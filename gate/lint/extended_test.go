package lint

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestExtendedRulesAreWhole(t *testing.T) {
	set, err := parseRules(gitleaksRules)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.rules) != 222 {
		t.Errorf("%d rules, gitleaks 8.30.1 has 222", len(set.rules))
	}
	licence, err := os.ReadFile(filepath.Join("extended", "LICENSE"))
	if err != nil || !strings.Contains(string(licence), "MIT License") {
		t.Errorf("the licence of the rules is not beside them: %v", err)
	}
	if _, err := parseRules("[[rules]]\nid = \"x\"\nregex = '''('''\nkeywords = [\"x\"]\n"); err == nil {
		t.Error("an expression that does not compile was accepted")
	}
	if _, err := parseRules("[[rules]]\nid = \"x\"\nregex = '''x'''\n"); err == nil {
		t.Error("a rule without keywords was accepted")
	}
}

// TestExtended shows the parts of a gitleaks rule at work.
func TestExtended(t *testing.T) {
	r := rand.New(rand.NewSource(12))
	hex64, key := random(r, lowHex, 64), random(r, "abcdefghijkmnpqrstuvwxyz23456789", 40)
	for _, tc := range []struct {
		name, file, text string
		want             []string
	}{
		{"a key beside its provider's name", "STATUS.md", "cloudflare_api_key = \"" + key + "\"\n", []string{"secret-extended error 1:23-63 cloudflare-api-key", "secret-extended error 1:23-63 generic-api-key"}},
		{"off by default", "STATUS.md", "", nil},
		{"the keyword must stand on the line", "STATUS.md", "cloudflare\n" + key + "\n", nil},
		{"too little entropy", "STATUS.md", "api_key = \"" + strings.Repeat("ab1", 10) + "\"\n", nil},
		{"a stop word of the rule", "STATUS.md", "api_key = \"" + "calendar" + key[:20] + "\"\n", nil},
		{"what a lint/secret finding covers is dropped", "STATUS.md", "x gh" + "p_" + random(r, an, 36) + "\n", []string{"secret error 1:3-43 github-pat"}},
		{"a file by its name", "certs/server.p12", "\x00\x01", []string{"secret-extended error 0:0-0 pkcs12-file"}},
		{"a file that the rules let pass", "icon.svg", "cloudflare_api_key = \"" + key + "\"\n", nil},
		{"behind JSON escapes", "x.json", `{"note": "cloudflare_api_key = \u0022` + key + `\""}`, []string{"secret-extended error 1:10-81 cloudflare-api-key", "secret-extended error 1:10-81 generic-api-key"}},
		{"a digest in prose", "STATUS.md", "The key insight: sha256:" + hex64 + " is the digest.\n", nil},
	} {
		o := Options{Secrets: Extended}
		if tc.name == "off by default" {
			tc.text, o.Secrets = "cloudflare_api_key = \""+key+"\"\n", Fixed
		}
		res := scanFile(tc.file, tc.text, o)
		if got := describe(res); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", tc.name, tc.text, got, tc.want)
		}
		for _, m := range messages(res) {
			if strings.Contains(m, key[len(key)-8:]) {
				t.Errorf("%s: the value is printed: %q", tc.name, m)
			}
		}
	}
	// A key of JSON that holds such a value is not shown by a pointer.
	res := scanFile("x.json", `{"cloudflare_api_key = '`+key+`'": "sudo mode"}`, Options{Secrets: Extended})
	if got := strings.Join(messages(res), "\n"); strings.Contains(got, key) || !strings.Contains(got, "value at /***") {
		t.Errorf("pointer: %q", got)
	}
}

// TestExtendedKeywords holds the search by keywords to the rules run on every
// line that holds one of their keywords, looked for plainly.
func TestExtendedKeywords(t *testing.T) {
	set := extendedRules()
	r := rand.New(rand.NewSource(13))
	words := []string{
		"api_key", "token", "secret =", "password: ", "cloudflare", "heroku", "AKIA", "xoxe.xoxb-1-", "glpat-", "SLACK", "Stripe sk_live_", "=", ":", " ", "\"", "'", "-----BEGIN", "key",
	}
	hits := 0
	for range 3_000 {
		var b strings.Builder
		for range 1 + r.Intn(6) {
			b.WriteString(words[r.Intn(len(words))])
			if r.Intn(2) == 0 {
				b.WriteString(random(r, an+"-_", []int{8, 16, 20, 32, 36, 40, 64}[r.Intn(7)]))
			}
		}
		line := b.String()
		var want []string
		for n := range set.rules {
			rule := &set.rules[n]
			named := slices.ContainsFunc(rule.keywords, func(k string) bool { return strings.Contains(asciiLower(line), k) })
			if rule.expr == nil || !named {
				continue
			}
			set.find(n, "STATUS.md", []byte(line), func(a, z int) bool {
				want = append(want, fmt.Sprintf("%s %d-%d", rule.id, a, z))
				return false
			})
		}
		s := scan{path: "STATUS.md", text: []byte(line)}
		s.scanExtended(0)
		var got []string
		for _, h := range s.hits {
			got = append(got, fmt.Sprintf("%s %d-%d", h.kind, h.start, h.end))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("line %q\n got %q\nwant %q", line, got, want)
		}
		hits += len(want)
	}
	if hits < 100 {
		t.Errorf("only %d hits: the generator proves too little", hits)
	}
}
