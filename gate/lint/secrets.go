package lint

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// detector is one kind of credential: its expression, what it is shown as, and
// a matcher that decides from the place of a fixed text in the line. The
// matchers give what the expression gives (a test holds them to it) without its
// cost: each looks at a byte a bounded number of times.
type detector struct {
	kind  string
	expr  string   // RE2, as aahp-lint.md spells it; for tests and people
	heads []string // fixed texts, one of which stands in every match
	shown string   // what a message shows in place of the match
	fixed bool     // of AAHP's own list (4.1): no guards
	bare  bool     // the words alone hit, so rewording may be the fix
	match func(c *creds, d uint8, at, head int) (start, end int, ok bool)
	keep  func(match []byte) bool // the guards of 10.1; nil: none
}

const (
	alnum    = "A-Za-z0-9"
	alnumURL = "A-Za-z0-9_-"
)

// assignment is the value part V of 4.1.
const assignment = `=['"]?[-_.+/=a-zA-Z0-9]*[a-zA-Z0-9]{16,}`

// detectors are the kinds of aahp-lint.md 4.1, 10.1 and the credentials in a
// URL, in the order of the specification.
var detectors = []detector{
	{kind: "openai-style-key", expr: `sk-[a-zA-Z0-9]{16,}`, heads: []string{"sk-"}, shown: "sk-***", fixed: true, match: seq(run(alnum, 16, 0))},
	{kind: "github-pat", expr: `ghp_[a-zA-Z0-9]{16,}`, heads: []string{"ghp_"}, shown: "ghp_***", fixed: true, match: seq(run(alnum, 16, 0))},
	{kind: "github-oauth", expr: `gho_[a-zA-Z0-9]{16,}`, heads: []string{"gho_"}, shown: "gho_***", fixed: true, match: seq(run(alnum, 16, 0))},
	{kind: "gitlab-pat", expr: `glpat-`, heads: []string{"glpat-"}, shown: "glpat-***", fixed: true, bare: true, match: seq()},
	{kind: "slack-bot-token", expr: `xoxb-`, heads: []string{"xoxb-"}, shown: "xoxb-***", fixed: true, bare: true, match: seq()},
	{kind: "slack-user-token", expr: `xoxp-`, heads: []string{"xoxp-"}, shown: "xoxp-***", fixed: true, bare: true, match: seq()},
	{kind: "aws-access-key", expr: `AKIA[A-Z0-9]{16,}`, heads: []string{"AKIA"}, shown: "AKIA***", fixed: true, match: seq(run("A-Z0-9", 16, 0))},
	{kind: "bearer-token", expr: `Bearer [a-zA-Z0-9]`, heads: []string{"Bearer "}, shown: "Bearer ***", fixed: true, bare: true, match: seq(run(alnum, 1, 1))},
	{kind: "private-key", expr: `-----BEGIN.*PRIVATE KEY`, heads: []string{"-----BEGIN"}, shown: "-----BEGIN *** PRIVATE KEY", fixed: true, match: matchPrivateKey},
	{kind: "key-assignment", expr: `_KEY` + assignment, heads: []string{"_KEY="}, shown: "_KEY=***", fixed: true, match: matchAssignment},
	{kind: "secret-assignment", expr: `_SECRET` + assignment, heads: []string{"_SECRET="}, shown: "_SECRET=***", fixed: true, match: matchAssignment},
	{kind: "token-assignment", expr: `_TOKEN` + assignment, heads: []string{"_TOKEN="}, shown: "_TOKEN=***", fixed: true, match: matchAssignment},
	{kind: "password-assignment", expr: `_PASSWORD` + assignment, heads: []string{"_PASSWORD="}, shown: "_PASSWORD=***", fixed: true, match: matchAssignment},
	{kind: "credentials-assignment", expr: `_CREDENTIALS` + assignment, heads: []string{"_CREDENTIALS="}, shown: "_CREDENTIALS=***", fixed: true, match: matchAssignment},

	{
		kind: "github-app-token", expr: `\bgh[usr]_(?:[A-Za-z0-9]{36,}|\d+_eyJ[A-Za-z0-9_.-]{40,})`, heads: []string{"ghu_", "ghs_", "ghr_"},
		match: either(seq(word, run(alnum, 36, 0)), seq(word, run("0-9", 1, 0), lit("_eyJ"), run("A-Za-z0-9_.-", 40, 0))),
	},
	{kind: "github-fine-grained-pat", expr: `\bgithub_pat_[A-Za-z0-9_]{40,}`, heads: []string{"github_pat_"}, match: seq(word, run("A-Za-z0-9_", 40, 0))},
	{
		kind: "gitlab-other-token", expr: `\bgl(?:dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_-]{20,}`,
		heads: []string{"gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"},
		match: seq(word, run(alnumURL, 20, 0)),
	},
	{kind: "npm-token", expr: `\bnpm_[A-Za-z0-9]{36}\b`, heads: []string{"npm_"}, match: seq(word, run(alnum, 36, 36), boundary)},
	{kind: "pypi-token", expr: `\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}`, heads: []string{"pypi-AgEIcHlwaS5vcmc"}, match: seq(word, run(alnumURL, 50, 0))},
	{kind: "rubygems-token", expr: `\brubygems_[a-f0-9]{48}\b`, heads: []string{"rubygems_"}, match: seq(word, run("a-f0-9", 48, 48), boundary)},
	{kind: "docker-pat", expr: `\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}`, heads: []string{"dckr_pat_", "dckr_oat_"}, match: seq(word, run(alnumURL, 27, 0))},
	{kind: "aws-temporary-key", expr: `\b(?:ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, heads: []string{"ASIA", "ABIA", "ACCA"}, match: seq(word, run("A-Z2-7", 16, 16), boundary)},
	{kind: "anthropic-key", expr: `\bsk-ant-[a-z]+\d{2}-[A-Za-z0-9_-]{40,}`, heads: []string{"sk-ant-"}, match: seq(word, run("a-z", 1, 0), run("0-9", 2, 2), lit("-"), run(alnumURL, 40, 0))},
	{kind: "openai-project-key", expr: `\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}`, heads: []string{"sk-proj-", "sk-svcacct-", "sk-admin-"}, match: seq(word, run(alnumURL, 40, 0))},
	{kind: "openrouter-key", expr: `\bsk-or-v1-[a-f0-9]{64}\b`, heads: []string{"sk-or-v1-"}, match: seq(word, run("a-f0-9", 64, 64), boundary)},
	{kind: "huggingface-token", expr: `\bhf_[A-Za-z0-9]{34}\b`, heads: []string{"hf_"}, match: seq(word, run(alnum, 34, 34), boundary)},
	{kind: "google-api-key", expr: `\bAIza([A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)`, heads: []string{"AIza"}, match: seq(word, run(alnumURL, 35, 35), notAlnumURL)},
	{kind: "google-oauth-secret", expr: `\bGOCSPX-([A-Za-z0-9_-]{28})(?:[^A-Za-z0-9_-]|$)`, heads: []string{"GOCSPX-"}, match: seq(word, run(alnumURL, 28, 28), notAlnumURL)},
	{kind: "google-access-token", expr: `\bya29\.[A-Za-z0-9_-]{30,}`, heads: []string{"ya29."}, match: seq(word, run(alnumURL, 30, 0))},
	{
		kind: "slack-other-token", expr: `\bxox[aeors](?:\.xox[bp])?-[A-Za-z0-9-]{20,}`, heads: []string{"xoxa", "xoxe", "xoxo", "xoxr", "xoxs"},
		match: either(seq(word, lit(".xoxb-"), run("A-Za-z0-9-", 20, 0)), seq(word, lit(".xoxp-"), run("A-Za-z0-9-", 20, 0)), seq(word, lit("-"), run("A-Za-z0-9-", 20, 0))),
	},
	{
		kind: "slack-app-token", expr: `\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{20,}`, heads: []string{"xapp-"},
		match: seq(word, run("0-9", 1, 1), lit("-"), run("A-Z0-9", 1, 0), lit("-"), run("0-9", 1, 0), lit("-"), run("a-z0-9", 20, 0)),
	},
	{
		kind: "slack-webhook", expr: `https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,}`,
		heads: []string{"https://hooks.slack.com/services/", "https://hooks.slack.com/workflows/", "https://hooks.slack.com/triggers/"},
		shown: "https://hooks.slack.com/***", match: seq(run("A-Za-z0-9+/", 30, 0)),
	},
	{
		kind: "discord-webhook", expr: `https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}`,
		heads: []string{
			"https://discord.com/api/webhooks/", "https://discordapp.com/api/webhooks/",
			"https://ptb.discord.com/api/webhooks/", "https://ptb.discordapp.com/api/webhooks/",
			"https://canary.discord.com/api/webhooks/", "https://canary.discordapp.com/api/webhooks/",
		},
		shown: "https://discord.com/api/webhooks/***", match: seq(run("0-9", 17, 20), lit("/"), run(alnumURL, 60, 0)),
	},
	{kind: "telegram-bot-token", expr: `\b(\d{8,10}:AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)`, heads: []string{":AA"}, shown: "***:AA***", match: seq(before("0-9", 8, 10), run(alnumURL, 33, 33), notAlnumURL)},
	{kind: "stripe-key", expr: `\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}`, heads: []string{"sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"}, match: seq(word, run(alnum, 16, 0))},
	{kind: "stripe-webhook-secret", expr: `\bwhsec_[A-Za-z0-9+/=]{32,}`, heads: []string{"whsec_"}, match: seq(word, run("A-Za-z0-9+/=", 32, 0))},
	{
		kind: "sendgrid-key", expr: `\bSG\.([A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)`, heads: []string{"SG."},
		match: seq(word, run(alnumURL, 22, 22), lit("."), run(alnumURL, 43, 43), notAlnumURL),
	},
	{kind: "shopify-token", expr: `\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`, heads: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, match: seq(word, run("a-fA-F0-9", 32, 32), boundary)},
	{kind: "digitalocean-token", expr: `\bdo[opr]_v1_[a-f0-9]{64}\b`, heads: []string{"doo_v1_", "dop_v1_", "dor_v1_"}, match: seq(word, run("a-f0-9", 64, 64), boundary)},
	{kind: "azure-storage-key", expr: `AccountKey=[A-Za-z0-9+/]{86}==`, heads: []string{"AccountKey="}, match: seq(run("A-Za-z0-9+/", 86, 86), lit("=="))},
	{
		kind: "azure-client-secret", expr: `\b[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}`, heads: []string{"Q~"}, shown: "***Q~***",
		match: seq(before("0-9", 1, 1), before("A-Za-z0-9_~.", 3, 3), run("A-Za-z0-9_~.-", 31, 34)),
	},
	{kind: "databricks-token", expr: `\bdapi[a-f0-9]{32}\b`, heads: []string{"dapi"}, match: seq(word, run("a-f0-9", 32, 32), boundary)},
	{kind: "grafana-token", expr: `\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b`, heads: []string{"glsa_"}, match: seq(word, run(alnum, 32, 32), lit("_"), run("A-Fa-f0-9", 8, 8), boundary)},
	{kind: "linear-key", expr: `\blin_api_[A-Za-z0-9]{40}\b`, heads: []string{"lin_api_"}, match: seq(word, run(alnum, 40, 40), boundary)},
	{kind: "vault-token", expr: `\bhv[sb]\.[A-Za-z0-9_-]{90,}`, heads: []string{"hvs.", "hvb."}, match: seq(word, run(alnumURL, 90, 0))},
	{
		kind: "terraform-token", expr: `\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}`, heads: []string{".atlasv1."}, shown: "***.atlasv1.***",
		match: seq(before(alnum, 14, 14), run(alnumURL, 60, 0)),
	},
	{kind: "age-secret-key", expr: `\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b`, heads: []string{"AGE-SECRET-KEY-1"}, match: seq(word, run("0-9A-Z", 58, 58), boundary)},
	{kind: "putty-key", expr: `PuTTY-User-Key-File-[23]:`, heads: []string{"PuTTY-User-Key-File-"}, match: seq(run("23", 1, 1), lit(":")), keep: keepAll},
	{
		kind: "jwt", expr: `\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`, heads: []string{"eyJ"},
		match: seq(word, run(alnumURL, 10, 0), lit(".eyJ"), run(alnumURL, 10, 0), lit("."), run(alnumURL, 10, 0)), keep: keepJWT,
	},

	{
		kind: urlCredentials, heads: []string{"://"}, match: matchURL,
		expr: `\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@?#'"<>]{0,64}:[^\s:/@?#'"<>$\{\[*]{6,128}@[A-Za-z0-9.-]+`, keep: keepURL,
	},
	{kind: addressKind, heads: []string{"@"}, match: matchAddress, expr: `[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}`, keep: keepAll},
}

// The two detectors whose findings are not lint/secret.
const (
	urlCredentials = "url-credentials"
	addressKind    = "address"
)

// credHead is a word of the automaton: a head of a detector.
type credHead struct {
	detector uint8
	begins   bool // a word must begin with it: the expression opens with \b and the head
	length   int
}

var (
	credWords     []credHead
	credAutomaton = newCredAutomaton()

	urlDetector, addressDetector uint8
)

func newCredAutomaton() *automaton {
	var words []string
	for i := range detectors {
		d := &detectors[i]
		if d.shown == "" && d.kind != urlCredentials && d.kind != addressKind {
			d.shown = d.heads[0] + "***"
		}
		if !d.fixed && d.keep == nil {
			d.keep = func(m []byte) bool { return !placeholder(m) }
		}
		switch d.kind {
		case urlCredentials:
			urlDetector = uint8(i)
		case addressKind:
			addressDetector = uint8(i)
		}
		for _, h := range d.heads {
			words = append(words, h)
			begins := len(d.expr) > 2 && d.expr[:2] == `\b` && h[0] == d.expr[2]
			credWords = append(credWords, credHead{uint8(i), begins, len(h)})
		}
	}
	a := newAutomaton(words, false, "")
	a.mark()
	return a
}

// bytesIn makes a set from the inside of a bracket expression without escapes.
func bytesIn(class string) *[256]bool {
	var set [256]bool
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			for b := int(class[i]); b <= int(class[i+2]); b++ {
				set[b] = true
			}
			i += 2
			continue
		}
		set[class[i]] = true
	}
	return &set
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// step is one part of a matcher. Each is decided by the bytes at hand, because
// the class of a run never holds the byte that the next step asks for (or the
// run has a fixed length).
type step struct {
	kind     stepKind
	set      *[256]bool
	text     string
	min, max int // of a run; max 0: no limit
}

type stepKind uint8

const (
	stepRun      stepKind = iota
	stepLit               // a fixed text
	stepWord              // a word begins where the match begins
	stepBoundary          // a word ends or begins here
	stepNot               // the line ends here, or a byte outside the set follows
	stepBefore            // a run that ends where the match begins so far, with a word boundary before it
)

var (
	word        = step{kind: stepWord}
	boundary    = step{kind: stepBoundary}
	notAlnumURL = step{kind: stepNot, set: bytesIn(alnumURL)}
)

func lit(s string) step { return step{kind: stepLit, text: s} }

func run(class string, least, most int) step {
	return step{kind: stepRun, set: bytesIn(class), min: least, max: most}
}

func before(class string, least, most int) step {
	return step{kind: stepBefore, set: bytesIn(class), min: least, max: most}
}

type matcher = func(c *creds, d uint8, at, head int) (start, end int, ok bool)

// seq matches steps after a head of head bytes at offset at.
func seq(steps ...step) matcher {
	lastBefore := -1
	for i, s := range steps {
		if s.kind == stepBefore {
			lastBefore = i
		}
	}
	// A long run that is not the last step could be walked again from every
	// head inside it; such runs remember where they ended.
	remembered := map[int]int{}
	for i, s := range steps {
		if s.kind == stepRun && s.max == 0 && i < len(steps)-1 {
			remembered[i] = len(remembered)
		}
	}
	return func(c *creds, d uint8, at, head int) (start, end int, ok bool) {
		text, i := c.line(), at+head
		start = at
		for n := range steps {
			s := &steps[n]
			switch s.kind {
			case stepRun:
				j, limit := i, len(text)
				slot := -1
				if s.max > 0 {
					limit = min(limit, i+s.max)
				} else if m, yes := remembered[n]; yes && m < len(c.runs[d]) {
					slot = m
					if r := c.runs[d][slot]; r.from <= i && i < r.to {
						j = r.to
					}
				}
				for j < limit && s.set[text[j]] {
					j++
				}
				if slot >= 0 {
					c.runs[d][slot] = runSpan{i, j}
				}
				if j-i < s.min {
					return 0, 0, false
				}
				i = j
			case stepLit:
				if !hasPrefixAt(text, i, s.text) {
					return 0, 0, false
				}
				i += len(s.text)
			case stepWord:
				if start > c.from && isWord(text[start-1]) {
					return 0, 0, false
				}
			case stepBoundary:
				if i < len(text) && isWord(text[i]) {
					return 0, 0, false
				}
			case stepNot:
				if i < len(text) && s.set[text[i]] {
					return 0, 0, false
				}
			case stepBefore:
				j := start
				for j > c.from && start-j < s.max && s.set[text[j-1]] {
					j--
				}
				if start-j < s.min {
					return 0, 0, false
				}
				start = j
				if n == lastBefore && (start > c.from && isWord(text[start-1])) == isWord(text[start]) {
					return 0, 0, false
				}
			}
		}
		return start, i, true
	}
}

// either tries matchers in order.
func either(ms ...matcher) matcher {
	return func(c *creds, d uint8, at, head int) (start, end int, ok bool) {
		for _, m := range ms {
			if start, end, ok = m(c, d, at, head); ok {
				return start, end, true
			}
		}
		return 0, 0, false
	}
}

func hasPrefixAt(text []byte, i int, s string) bool {
	return len(text)-i >= len(s) && string(text[i:i+len(s)]) == s
}

func matchPrivateKey(c *creds, d uint8, at, head int) (start, end int, ok bool) {
	// Where no KEY follows the first BEGIN of a line, none follows a later one.
	if c.runs[d][0].to > at {
		return 0, 0, false
	}
	text := c.line()
	const tail = "PRIVATE KEY"
	n := bytes.LastIndex(text[at+head:], []byte(tail))
	if n < 0 {
		c.runs[d][0] = runSpan{at, len(text)}
		return 0, 0, false
	}
	return at, at + head + n + len(tail), true
}

var (
	valueBytes = bytesIn("_.+/=a-zA-Z0-9-")
	alnumBytes = bytesIn(alnum)
)

// matchAssignment finds V of 4.1: a run of value characters in which sixteen
// alphanumerics stand together; the match ends after the last such group.
func matchAssignment(c *creds, d uint8, at, head int) (start, end int, ok bool) {
	text, i := c.line(), at+head
	if i < len(text) && (text[i] == '\'' || text[i] == '"') {
		i++
	}
	// A run without such a group has none after any later "=" in it either.
	if r := c.runs[d][0]; r.from <= i && i < r.to {
		return 0, 0, false
	}
	j, group := i, 0
	for ; j < len(text) && valueBytes[text[j]]; j++ {
		if !alnumBytes[text[j]] {
			group = 0
			continue
		}
		if group++; group >= 16 {
			end = j + 1
		}
	}
	if end == 0 {
		c.runs[d][0] = runSpan{i, j}
		return 0, 0, false
	}
	return at, end, true
}

// placeholder is the guard of 10.1 for values that stand for a value.
func placeholder(match []byte) bool {
	// The last twenty characters, counted without a map: this runs for every
	// match, and a file can be made of them.
	var tail [20]rune
	n, different := 0, 0
	for end := len(match); end > 0 && n < len(tail); n++ {
		r, size := utf8.DecodeLastRune(match[:end])
		end -= size
		if !slices.Contains(tail[:n], r) {
			different++
		}
		tail[n] = r
	}
	if different < 6 {
		return true
	}
	same, last := 0, byte(0)
	for i, b := range match {
		if i > 0 && b == last {
			same++
		} else {
			same = 1
		}
		if last = b; same >= 8 {
			return true
		}
	}
	var buf [256]byte
	low := lowerInto(buf[:0], match)
	for _, w := range placeholderWords {
		if bytes.Contains(low, w) {
			return true
		}
	}
	return false
}

var placeholderWords = [][]byte{
	[]byte("example"), []byte("placeholder"), []byte("redacted"), []byte("changeme"),
	[]byte("xxxxxx"), []byte("1234567890"), []byte("abcdefghij"),
}

func keepAll([]byte) bool { return true }

// keepJWT keeps a token that decodes as one, is not the sample that everybody
// pastes and is not public by design.
func keepJWT(match []byte) bool {
	if placeholder(match) {
		return false
	}
	parts := strings.SplitN(string(match), ".", 3)
	header, ok := jwtMembers(parts[0], "alg")
	if !ok || !header["alg"].isString {
		return false
	}
	claims, ok := jwtMembers(parts[1], "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "role")
	if !ok || claims["sub"] == (jwtMember{true, "1234567890"}) || claims["role"] == (jwtMember{true, "anon"}) {
		return false
	}
	delete(claims, "role")
	return len(claims) > 0
}

// jwtMember is a member of a token's header or claims.
type jwtMember struct {
	isString bool
	text     string
}

// jwtMembers decodes one part of a token and gives those of the named members
// of its object that are there. A part can be as long as its file, so no tree
// is built of it.
func jwtMembers(part string, names ...string) (map[string]jwtMember, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return nil, false
	}
	members := map[string]jwtMember{}
	key, object := "", false
	err = jsondoc.Scan(raw, jsondoc.Options{MaxDepth: gate.MaxHandoffDepth, KeepEqualKeys: true}, func(t jsondoc.Token) error {
		switch {
		case t.Closes():
		case t.Depth == 0:
			object = t.Kind == jsondoc.Object
		case t.Depth == 1 && t.Kind == jsondoc.Key:
			key = t.Text(raw)
		case t.Depth == 1 && slices.Contains(names, key):
			m := jwtMember{isString: t.Kind == jsondoc.String}
			if m.isString {
				m.text = t.Text(raw)
			}
			members[key] = m
		}
		return nil
	})
	return members, err == nil && object
}
