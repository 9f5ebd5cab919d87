package lint

import (
	"encoding/base64"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// expressions are the bare RE2 expressions of the detectors: the oracle.
var expressions = func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, d := range detectors {
		list = append(list, regexp.MustCompile(d.expr))
	}
	return list
}()

// bareLine finds what the specification says of a line with nothing but the
// expressions and the guards: kind and span of what is reported, sorted.
func bareLine(line string) []string {
	type span struct{ start, end int }
	var fixed []span
	found := make([][]span, len(detectors))
	for d, e := range expressions {
		for _, m := range e.FindAllStringSubmatchIndex(line, -1) {
			s := span{m[0], m[1]}
			if len(m) > 2 {
				s.end = m[3] // What follows the group is context.
			}
			if detectors[d].keep != nil && !detectors[d].keep([]byte(line[s.start:s.end])) {
				continue
			}
			found[d] = append(found[d], s)
			if detectors[d].fixed {
				fixed = append(fixed, s)
			}
		}
	}
	var out []string
	for d, list := range found {
		seen := map[string]bool{}
		for _, s := range list {
			free := detectors[d].fixed || uint8(d) == urlDetector || uint8(d) == addressDetector ||
				!slices.ContainsFunc(fixed, func(f span) bool { return f.start < s.end && s.start < f.end })
			key := ""
			if uint8(d) == addressDetector {
				key = line[s.start:s.end]
			}
			if free && !seen[key] {
				seen[key] = true
				out = append(out, fmt.Sprintf("%s %d-%d", detectors[d].kind, s.start, s.end))
			}
		}
	}
	slices.Sort(out)
	return out
}

// fastLine finds the same through the automaton and the matchers.
func fastLine(c *creds, line string) []string {
	c.scanLine([]byte(line))
	var out []string
	c.settle(func(m credMatch) {
		out = append(out, fmt.Sprintf("%s %d-%d", detectors[m.detector].kind, m.start, m.end))
	})
	slices.Sort(out)
	return out
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// random gives n characters of an alphabet.
func random(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.Intn(len(alphabet))]
	}
	return string(b)
}

// hostileLine makes a line of the pieces that credentials are made of, long
// enough, too short, touching each other and repeated.
func hostileLine(r *rand.Rand) string {
	var b strings.Builder
	alphabets := []string{letters + digits, digits, "abcdef0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", letters + digits + "_-", letters + digits + "+/", "a", "a-", "_.~-", "A"}
	lengths := []int{1, 2, 3, 8, 10, 14, 16, 17, 20, 22, 27, 28, 31, 32, 33, 34, 35, 36, 40, 43, 48, 58, 60, 64, 65, 86, 90}
	pieces := []string{
		" ", ".", "-", "_", "=", "'", `"`, "@", ":", "/", "://", "@corp.io", ".io", "Q~", "9Q~", ":AA", ".atlasv1.", ".eyJ", "eyJ",
		"==", "-----BEGIN", "PRIVATE KEY", "_KEY=", "_eyJ", "\x00", "\xff", "é", "\u200b", "\t", "x", "1", "a@b.c.d", "@@", "u:hunter22@db.corp.io",
		"example", "xxxxxx", "1234567890", ".xoxb-", "-0-", "00-",
	}
	for range 1 + r.Intn(7) {
		switch r.Intn(5) {
		case 0, 1:
			d := detectors[r.Intn(len(detectors))]
			head := d.heads[r.Intn(len(d.heads))]
			for range 1 + r.Intn(2)*r.Intn(3) {
				b.WriteString(head)
			}
		case 2, 3:
			b.WriteString(random(r, alphabets[r.Intn(len(alphabets))], lengths[r.Intn(len(lengths))]))
		default:
			b.WriteString(pieces[r.Intn(len(pieces))])
		}
	}
	return b.String()
}

// TestMatchersAgreeWithExpressions is the proof that looking for a fixed text
// first and deciding by hand loses nothing and adds nothing.
func TestMatchersAgreeWithExpressions(t *testing.T) {
	r := rand.New(rand.NewSource(20260314))
	hits := map[string]int{}
	var c creds
	check := func(line string) {
		t.Helper()
		want, got := bareLine(line), fastLine(&c, line)
		if !slices.Equal(got, want) {
			t.Fatalf("line %q\n got %q\nwant %q", line, got, want)
		}
		for _, w := range want {
			kind, _, _ := strings.Cut(w, " ")
			hits[kind]++
		}
	}
	n := 30_000
	if testing.Short() {
		n = 3_000
	}
	for range n {
		check(hostileLine(r))
	}
	for range 120 {
		for _, p := range positives {
			check(hostileLine(r) + []string{"", " ", "-", "x", "."}[r.Intn(5)] + p.make(r) + []string{"", " ", "-", "x", "."}[r.Intn(5)] + hostileLine(r))
		}
	}
	for _, d := range detectors {
		if hits[d.kind] < 20 {
			t.Errorf("only %d of the lines hold a match of %s: the generator proves too little", hits[d.kind], d.kind)
		}
	}
}

func FuzzMatchers(f *testing.F) {
	r := rand.New(rand.NewSource(1))
	for _, p := range positives {
		f.Add(p.make(r))
	}
	for range 20 {
		f.Add(hostileLine(r))
	}
	var c creds
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return
		}
		if got, want := fastLine(&c, line), bareLine(line); !slices.Equal(got, want) {
			t.Fatalf("line %q\n got %q\nwant %q", line, got, want)
		}
	})
}

// positive makes credentials of one kind: random, valid in form.
type positive struct {
	kind string
	make func(r *rand.Rand) string
}

const (
	an     = letters + digits
	anURL  = an + "_-"
	lowHex = "abcdef0123456789"
	base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// jwt makes a signed token of the given header and claims.
func jwt(r *rand.Rand, header, claims string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(header)) + "." + enc([]byte(claims)) + "." + random(r, anURL, 43)
}

// The heads are cut in two in this table, so that no scanner of credentials
// takes this file for a leak.
var positives = []positive{
	{"openai-style-key", func(r *rand.Rand) string { return "sk" + "-" + random(r, an, 16+r.Intn(40)) }},
	{"github-pat", func(r *rand.Rand) string { return "gh" + "p_" + random(r, an, 36) }},
	{"github-oauth", func(r *rand.Rand) string { return "gh" + "o_" + random(r, an, 36) }},
	{"gitlab-pat", func(r *rand.Rand) string { return "glp" + "at-" + random(r, anURL, 20) }},
	{"slack-bot-token", func(r *rand.Rand) string {
		return "xo" + "xb-" + random(r, digits, 12) + "-" + random(r, digits, 12) + "-" + random(r, an, 24)
	}},
	{"slack-user-token", func(r *rand.Rand) string { return "xo" + "xp-" + random(r, digits, 12) + "-" + random(r, an, 32) }},
	{"aws-access-key", func(r *rand.Rand) string { return "AK" + "IA" + random(r, base32, 16) }},
	{"bearer-token", func(r *rand.Rand) string { return "Bea" + "rer " + random(r, an, 30) }},
	{"private-key", func(r *rand.Rand) string {
		return "-----BEGIN " + []string{"RSA ", "EC ", "OPENSSH ", ""}[r.Intn(4)] + "PRIV" + "ATE KEY-----"
	}},
	{"key-assignment", func(r *rand.Rand) string { return "API_K" + "EY=" + random(r, an, 16+r.Intn(30)) }},
	{"secret-assignment", func(r *rand.Rand) string { return `APP_SEC` + `RET="` + random(r, an, 24) + `"` }},
	{"token-assignment", func(r *rand.Rand) string { return "CI_TO" + "KEN=ab-cd." + random(r, an, 20) }},
	{"password-assignment", func(r *rand.Rand) string { return "DB_PASS" + "WORD='" + random(r, an, 18) + "'" }},
	{"credentials-assignment", func(r *rand.Rand) string {
		return "X_CREDEN" + "TIALS=" + random(r, an, 10) + "/" + random(r, an, 18) + "=="
	}},
	{"github-app-token", func(r *rand.Rand) string {
		if r.Intn(2) == 0 {
			return "gh" + "s_" + random(r, digits, 8) + "_ey" + "J" + random(r, anURL, 60)
		}
		return "gh" + "usr"[r.Intn(3):][:1] + "_" + random(r, an, 36)
	}},
	{"github-fine-grained-pat", func(r *rand.Rand) string { return "github_" + "pat_" + random(r, an, 22) + "_" + random(r, an, 59) }},
	{"gitlab-other-token", func(r *rand.Rand) string {
		return "gl" + []string{"dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "oas", "soat", "ffct"}[r.Intn(10)] + "-" + random(r, an, 20)
	}},
	{"npm-token", func(r *rand.Rand) string { return "np" + "m_" + random(r, an, 36) }},
	{"pypi-token", func(r *rand.Rand) string { return "pypi-" + "AgEIcHlwaS5vcmc" + random(r, anURL, 60+r.Intn(60)) }},
	{"rubygems-token", func(r *rand.Rand) string { return "ruby" + "gems_" + random(r, lowHex, 48) }},
	{"docker-pat", func(r *rand.Rand) string {
		return "dck" + []string{"r_pat_", "r_oat_"}[r.Intn(2)] + random(r, anURL, 27)
	}},
	{"aws-temporary-key", func(r *rand.Rand) string {
		return []string{"AS" + "IA", "AB" + "IA", "AC" + "CA"}[r.Intn(3)] + random(r, base32, 16)
	}},
	{"anthropic-key", func(r *rand.Rand) string {
		return "sk-" + "ant-api" + random(r, digits, 2) + "-" + random(r, anURL, 93)
	}},
	{"openai-project-key", func(r *rand.Rand) string {
		return "sk-" + []string{"proj", "svcacct", "admin"}[r.Intn(3)] + "-" + random(r, an, 8) + "-" + random(r, an, 9) + "_" + random(r, anURL, 60)
	}},
	{"openrouter-key", func(r *rand.Rand) string { return "sk-" + "or-v1-" + random(r, lowHex, 64) }},
	{"huggingface-token", func(r *rand.Rand) string { return "h" + "f_" + random(r, an, 34) }},
	{"google-api-key", func(r *rand.Rand) string { return "AI" + "za" + random(r, anURL, 35) }},
	{"google-oauth-secret", func(r *rand.Rand) string { return "GOC" + "SPX-" + random(r, anURL, 28) }},
	{"google-access-token", func(r *rand.Rand) string { return "ya" + "29." + random(r, anURL, 120) }},
	{"slack-other-token", func(r *rand.Rand) string {
		return "xo" + "x" + "aeors"[r.Intn(5):][:1] + "-" + random(r, digits, 1) + "-" + random(r, an, 30)
	}},
	{"slack-app-token", func(r *rand.Rand) string {
		return "xa" + "pp-1-A" + random(r, base32, 10) + "-" + random(r, digits, 13) + "-" + random(r, lowHex, 64)
	}},
	{"slack-webhook", func(r *rand.Rand) string {
		return "https://hooks.sl" + "ack.com/services/T" + random(r, base32, 8) + "/B" + random(r, base32, 8) + "/" + random(r, an, 24)
	}},
	{"discord-webhook", func(r *rand.Rand) string {
		return "https://" + []string{"", "ptb.", "canary."}[r.Intn(3)] + "disc" + "ord.com/api/webhooks/" + random(r, "123456789", 18) + "/" + random(r, anURL, 68)
	}},
	{"telegram-bot-token", func(r *rand.Rand) string { return random(r, digits, 8+r.Intn(3)) + ":A" + "A" + random(r, anURL, 33) }},
	{"stripe-key", func(r *rand.Rand) string {
		return "sr"[r.Intn(2):][:1] + "k_" + []string{"live", "test", "prod"}[r.Intn(3)] + "_" + random(r, an, 24)
	}},
	{"stripe-webhook-secret", func(r *rand.Rand) string { return "wh" + "sec_" + random(r, an, 32) }},
	{"sendgrid-key", func(r *rand.Rand) string { return "S" + "G." + random(r, anURL, 22) + "." + random(r, anURL, 43) }},
	{"shopify-token", func(r *rand.Rand) string {
		return "sh" + []string{"pat_", "pca_", "ppa_", "pss_"}[r.Intn(4)] + random(r, lowHex, 32)
	}},
	{"digitalocean-token", func(r *rand.Rand) string { return "do" + "opr"[r.Intn(3):][:1] + "_v1_" + random(r, lowHex, 64) }},
	{"azure-storage-key", func(r *rand.Rand) string { return "Account" + "Key=" + random(r, an+"+/", 86) + "==" }},
	{"azure-client-secret", func(r *rand.Rand) string {
		return random(r, an, 3) + random(r, digits, 1) + "Q" + "~" + random(r, an, 34)
	}},
	{"databricks-token", func(r *rand.Rand) string { return "da" + "pi" + random(r, lowHex, 32) }},
	{"grafana-token", func(r *rand.Rand) string { return "gl" + "sa_" + random(r, an, 32) + "_" + random(r, lowHex, 8) }},
	{"linear-key", func(r *rand.Rand) string { return "lin_" + "api_" + random(r, an, 40) }},
	{"vault-token", func(r *rand.Rand) string { return "hv" + "sb"[r.Intn(2):][:1] + "." + random(r, anURL, 95) }},
	{"terraform-token", func(r *rand.Rand) string { return random(r, an, 14) + ".atlas" + "v1." + random(r, anURL, 67) }},
	{"age-secret-key", func(r *rand.Rand) string {
		return "AGE-SECRET-" + "KEY-1" + random(r, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
	}},
	{"putty-key", func(*rand.Rand) string { return "PuTTY-User-" + "Key-File-3: ssh-ed25519" }},
	{"jwt", func(r *rand.Rand) string {
		return jwt(r, `{"alg":"HS256","typ":"JWT"}`, fmt.Sprintf(`{"sub":"%s","n":"%s"}`, random(r, digits, 4), random(r, an, r.Intn(20))))
	}},
	{urlCredentials, func(r *rand.Rand) string {
		return "postgres://" + random(r, letters, 6) + ":" + random(r, an, 12) + "@db.corp.io"
	}},
	{addressKind, func(r *rand.Rand) string {
		return random(r, letters, 8) + "@" + random(r, "bcdfg", 6) + ".io"
	}},
}

// sound makes a credential that no guard takes for a placeholder.
func (p positive) sound(r *rand.Rand) string {
	for {
		s := p.make(r)
		if p.kind == "jwt" || !placeholder([]byte(s)) || slices.ContainsFunc(detectors, func(d detector) bool { return d.kind == p.kind && d.fixed }) {
			return s
		}
	}
}

// TestEveryKindIsFound plants random credentials of every kind where handoff
// files hold text: in prose, in a table, in code, alone on a line, and in JSON
// behind escapes.
func TestEveryKindIsFound(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	known := map[string]bool{}
	for _, p := range positives {
		known[p.kind] = true
		for range 25 {
			secret := p.sound(r)
			for _, frame := range []string{"%s", "use %s here", "| key | %s |", "`%s`", "value: \"%s\",", "(%s)", "\t%s\r"} {
				line := fmt.Sprintf(frame, secret)
				if p.kind == "google-api-key" && strings.HasPrefix(frame, "\t") {
					continue
				}
				res := scanFile("STATUS.md", "# Status\n\n"+line+"\n", Options{})
				if !hasKind(res, p.kind, 3) {
					t.Fatalf("%s in %q: not found, got %q", p.kind, frame, describe(res))
				}
				if leaks(res, secret) {
					t.Fatalf("%s: a message shows the value: %q", p.kind, messages(res))
				}
			}
			for _, form := range []func(string) string{jsonPlain, jsonEscapeAll, func(s string) string { return jsonEscapeSome(r, s) }} {
				res := scanFile("extra.json", "{\n \"notes\": [\"x\",\n  \"see "+form(secret)+" there\"]\n}\n", Options{})
				if !hasKind(res, p.kind, 3) || !strings.Contains(strings.Join(messages(res), "\n"), "value at /notes/1") {
					t.Fatalf("%s in JSON %q: not found, got %q", p.kind, form(secret), messages(res))
				}
				if leaks(res, secret) {
					t.Fatalf("%s: a message shows the value: %q", p.kind, messages(res))
				}
			}
			// A key may be the secret: then the pointer must not show it.
			res := scanFile("extra.json", "{\""+jsonEscapeSome(r, secret)+"\": {\"x\": \"jailbreak\"}}", Options{})
			if !hasKind(res, p.kind, 1) || leaks(res, secret) {
				t.Fatalf("%s as a JSON key: %q", p.kind, messages(res))
			}
			// Invisible characters inside do not hide it.
			cut := 1 + r.Intn(len(secret)-1)
			res = scanFile("STATUS.md", secret[:cut]+"\u200b"+secret[cut:]+"\n", Options{})
			if !hasKind(res, p.kind, 1) {
				t.Fatalf("%s with a zero-width space at %d: %q", p.kind, cut, describe(res))
			}
			if leaks(res, secret) {
				t.Fatalf("%s: a message shows the value: %q", p.kind, messages(res))
			}
		}
	}
	for _, d := range detectors {
		if !known[d.kind] {
			t.Errorf("no positive for %s", d.kind)
		}
	}
}

func hasKind(r FileResult, kind string, line int) bool {
	return slices.ContainsFunc(r.Hits, func(h Hit) bool {
		return h.Span.Line == line && (h.Kind == kind || kind == addressKind && h.Rule == PII)
	})
}

func messages(r FileResult) []string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.Message)
	}
	return out
}

// leaks tells whether a message shows eight characters of the value in a row
// that are not of a fixed head.
func leaks(r FileResult, secret string) bool {
	body := secret
	if i := strings.LastIndexAny(secret, "=@"); i >= 0 && strings.HasPrefix(secret[i:], "@") {
		body = secret[:i] // The domain and the host are shown.
	}
	if n := len(body) - 12; n > 0 && !strings.Contains(secret, "PRIV"+"ATE KEY") && !strings.Contains(secret, "Key-File") {
		tail := strings.TrimRight(body, `"'=`)
		tail = tail[max(0, len(tail)-10):]
		for _, m := range messages(r) {
			if strings.Contains(m, tail) {
				return true
			}
		}
	}
	return false
}

func jsonPlain(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }

// jsonEscapeAll spells every character as an escape.
func jsonEscapeAll(s string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, "\\u%04x", c)
	}
	return b.String()
}

// jsonEscapeSome splits a text over escapes at random.
func jsonEscapeSome(r *rand.Rand, s string) string {
	var b strings.Builder
	for i, c := range s {
		if i == 0 || c == '"' || r.Intn(4) == 0 {
			fmt.Fprintf(&b, "\\u%04X", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// TestSecretsOnTheirPlace shows the exact place of findings and the honest
// twins that stay silent.
func TestSecretsOnTheirPlace(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	key := random(r, an, 20)
	pat := "gh" + "p_" + random(r, an, 36)
	jwtOf := func(claims string) string { return jwt(r, `{"alg":"HS256","typ":"JWT"}`, claims) }
	for _, tc := range []struct {
		name, line string
		want       []string
	}{
		{"a key in prose", "use sk-" + key + " here", []string{"secret error 1:5-28 openai-style-key"}},
		{"columns count code points", "héé→ sk-" + key, []string{"secret error 1:6-29 openai-style-key"}},
		{"one finding a kind and line, at the first", "sk-" + key + " sk-" + key, []string{"secret error 1:1-24 openai-style-key"}},
		{"two kinds on a line", "sk-" + key + " " + pat, []string{"secret error 1:1-24 openai-style-key", "secret error 1:25-65 github-pat"}},
		{"a hyphenated word of sixteen letters is AAHP's false positive", "task-internationalization", []string{"secret error 1:3-26 openai-style-key"}},
		{"a shorter one is not", "task-type and risk-assessment", nil},
		{"a bearer in prose", "Bearer token", []string{"secret error 1:1-9 bearer-token"}},
		{"a bearer in bold", "**Bearer** token", nil},
		{"a bare GitLab prefix", "glp" + "at- is the prefix", []string{"secret error 1:1-7 gitlab-pat"}},
		{"AWS's own sample", "AKIA" + "IOSFODNN7EXAMPLE", []string{"secret error 1:1-21 aws-access-key"}},
		{"an assignment", "export API_K" + "EY=" + key, []string{"secret error 1:11-36 key-assignment"}},
		{"assignments of placeholders", "API_KEY=your-api-key-here DB_PASSWORD=hunter2", nil},
		{"blanks round the equals sign", "API_KEY = " + key, nil},
		{"the fixed kind beats the other on the same span", "CI_TOKEN=" + "gh" + "s_" + random(r, an, 36), []string{"secret error 1:3-50 token-assignment"}},
		{"an installation token", "x gh" + "s_" + random(r, an, 36), []string{"secret error 1:3-43 github-app-token"}},
		{"a word boundary is needed", "xgh" + "s_" + random(r, an, 36), nil},
		{"placeholders", "ghs_" + strings.Repeat("A", 36) + " npm_" + strings.Repeat("x", 36) + " ASIAIOSFODNN7EXAMPLE", nil},
		{"a context character is not of the match", "AI" + "za" + random(r, an, 35) + ".", []string{"secret error 1:1-40 google-api-key"}},
		{"a longer run is another thing", "AI" + "za" + random(r, an, 36), nil},
		{"the JWT of the documentation", jwtOf(`{"sub":"1234567890","name":"John Doe","iat":1516239022}`), nil},
		{"a public JWT", jwtOf(`{"iss":"supabase","role":"anon","exp":1983812996}`), nil},
		{"a token without registered claims", jwtOf(`{"some":"payload"}`), nil},
		{"a token without an algorithm", jwt(r, `{"typ":"JWT"}`, `{"sub":"4711"}`), nil},
		{"a URL with credentials", "postgres://app:hunter2hunter2@db.corp.local", []string{
			"secret-suspect warning 1:1-44 url-credentials", "pii error 1:16-44 hunter2hunter2@db.corp.local",
		}},
		{"user and password the same", "postgres://postgres:postgres@db/x", nil},
		{"a sample host", "https://user:hunter2hunter2@localhost:8080/", nil},
		{"a variable in place of the password", "https://user:${PASSWORD}@db.internal/", nil},
		{"PuTTY", "PuTTY-User-" + "Key-File-2: ssh-rsa", []string{"secret error 1:1-23 putty-key"}},
		{"documentation of the kinds", "AIza... sk_live_... sk-ant-... AccountKey=<key> glrt-short shpat_redacted rubygems_version", nil},
		{"invisible characters between", "sk-" + key[:8] + "\u2060" + key[8:], []string{
			"secret error 1:1-25 openai-style-key", "hidden-unicode warning 1:12-13 ",
		}},
	} {
		got := describe(scanFile("STATUS.md", tc.line+"\n", Options{}))
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", tc.name, tc.line, got, tc.want)
		}
	}
}

// TestMessagesMask shows what a message holds of a match.
func TestMessagesMask(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	key := random(r, an, 20)
	long := strings.Repeat("LONG_NAME_", 6)
	for _, tc := range []struct{ line, want string }{
		{"sk-" + key, "possible secret (openai-style-key): sk-***, 23 characters"},
		{"MY_APP_K" + "EY=" + key, "possible secret (key-assignment): MY_APP_KEY=***, 25 characters"},
		{long + "_TO" + "KEN=" + key, "possible secret (token-assignment): " + (long + "_TOKEN")[len(long)+6-40:] + "=***, 27 characters"},
		{"-----BEGIN RSA PRIV" + "ATE KEY-----", "possible secret (private-key): -----BEGIN *** PRIVATE KEY, 26 characters"},
		{"bob@corp.io", "e-mail address b***@corp.io"},
		{"redis://u:hunter2hunter2@cache.corp", "possible credentials in a URL: redis://***@cache.corp"},
		// What lies under another match is not shown either.
		{"gh" + "p_" + key + "_K" + "EY=" + key, "possible secret (key-assignment): ***_KEY=***, 25 characters"},
		{"sk-" + key + "@corp.io", "e-mail address ***@corp.io"},
		{"x@sk-" + key + ".io", "e-mail address x***@***"},
	} {
		got := messages(scanFile("STATUS.md", tc.line+"\n", Options{}))
		if !slices.Contains(got, tc.want) {
			t.Errorf("%q\n got %q\nwant %q", tc.line, got, tc.want)
		}
	}
}
