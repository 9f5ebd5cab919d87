package render

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// inert writes s so that it is only text, wherever it stands in an HTML block
// of a Markdown document: every ASCII punctuation character is a numeric
// entity, so nothing in it can end or begin a tag, an attribute, a comment, a
// code span, a fence, a table cell, a link, an image, a mention or a reference.
// Line ends and tabs become a blank; control and format characters and bytes
// that are not UTF-8 become U+FFFD.
func inert(s string) string {
	var b strings.Builder
	b.Grow(len(s) * 2)
	for _, r := range s {
		switch {
		case r == '\t' || breaksLine(r):
			b.WriteByte(' ')
		case unicode.In(r, unicode.Cc, unicode.Cf):
			b.WriteRune(replacement)
		case r > ' ' && r < 0x7F && !isAlnum(byte(r)):
			b.WriteString("&#")
			b.WriteString(strconv.Itoa(int(r)))
			b.WriteByte(';')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code shows s as code in Markdown or HTML; nothing in s is active. GitHub
// looks for mentions and references outside code only.
func code(s string) string { return "<code>" + inert(s) + "</code>" }

// codeLines shows each line of s as code, with a line break between.
func codeLines(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("<br>")
		}
		b.WriteString(code(l))
	}
	return b.String()
}

// prose shows a sentence as ordinary text when nothing can be made of it, and
// as code otherwise. Layers' summaries and titles are the gate's own sentences,
// mostly numbers and plain words; set as code a table of them would be hard to
// read. What could be active (a mention, a reference, a commit id, an address,
// a tag) is not plain.
func prose(s string) string {
	if isPlainProse(s) {
		return inert(s)
	}
	return code(s)
}

// isPlainProse tells whether s holds only words, numbers and the punctuation
// of sentences: no character that begins a construct, no full stop or colon
// inside a word (an address), no word that could be an abbreviated commit id or
// an issue reference such as GH-1.
func isPlainProse(s string) bool {
	for word := range strings.SplitSeq(s, " ") {
		word = strings.TrimRight(word, ".,;:)")
		word = strings.TrimLeft(word, "(")
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r > 0x7F || !isAlnum(byte(r)) }) {
			if len(part) >= 7 && strings.Trim(part, "0123456789abcdefABCDEF") == "" {
				return false
			}
		}
		dash, digit := false, false
		for i := range len(word) {
			switch c := word[i]; {
			case c == '-':
				dash = true
			case c >= '0' && c <= '9':
				digit = true
			case isAlnum(c), c == '\'' && i > 0, c == ',' && digit:
			default:
				return false
			}
		}
		if dash && digit {
			return false
		}
	}
	return true
}

// isAlnum tells whether c is an ASCII letter or digit.
func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// escapePath percent-encodes a path segment by segment; only what RFC 3986
// calls unreserved stays, so the result is inert in an attribute too.
func escapePath(p string) string {
	var b strings.Builder
	for i := range len(p) {
		c := p[i]
		if isAlnum(c) || c == '/' || c == '-' || c == '.' || c == '_' || c == '~' {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// link wraps inner, which is already inert, in a link to target. A target that
// is not a plain web address is left out.
func link(target, inner string) string {
	if !isWebAddress(target) {
		return inner
	}
	return `<a href="` + strings.ReplaceAll(target, "&", "&amp;") + `">` + inner + "</a>"
}

// isWebAddress tells whether u is an absolute http or https URL made only of
// characters that can stand in an attribute.
func isWebAddress(u string) bool {
	if !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://") {
		return false
	}
	for i := range len(u) {
		if !isAlnum(u[i]) && !strings.ContainsRune("-._~:/?#@!$&()*+,;=%", rune(u[i])) {
			return false
		}
	}
	parsed, err := url.Parse(u)
	return err == nil && parsed.Host != "" && parsed.User == nil
}

// ownWord shows a rule's id or a version, which are ours. They stay readable in
// the source of the page; one of another form than ours is made inert.
func ownWord(s string) string {
	s = cutBytes(s, 200)
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte("/.-+_", s[i]) < 0 {
			return inert(s)
		}
	}
	return s
}
