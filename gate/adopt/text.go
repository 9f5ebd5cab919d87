package adopt

import (
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
)

// tidy turns a piece of Markdown into plain text on one line (aahp-authoring.md
// 2.7): comments become a space, links their text, and emphasis, control
// characters and runs of white space go.
func tidy(s string) string {
	s = withoutComments(s)
	s = withoutLinks(s)
	s = strings.ReplaceAll(s, "**", "")
	s = strings.ReplaceAll(s, "__", "")
	s = runs(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
	s = runs(s, ecma.IsSpace)
	return ecma.Trim(s)
}

// runs makes each run of such characters one space.
func runs(s string, in func(rune) bool) string {
	var b strings.Builder
	b.Grow(len(s))
	inside := false
	for _, r := range s {
		switch {
		case !in(r):
			b.WriteRune(r)
			inside = false
		case !inside:
			b.WriteByte(' ')
			inside = true
		}
	}
	return b.String()
}

const (
	commentOpen  = "<!--"
	commentClose = "-->"
)

func withoutComments(s string) string {
	var b strings.Builder
	for {
		open := strings.Index(s, commentOpen)
		if open < 0 {
			break
		}
		length := strings.Index(s[open+len(commentOpen):], commentClose)
		if length < 0 {
			break // so no later one ends either
		}
		b.WriteString(s[:open])
		b.WriteByte(' ')
		s = s[open+len(commentOpen)+length+len(commentClose):]
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s)
	return b.String()
}

// withoutLinks replaces [text](target) and ![text](target) by text, which holds
// no closing bracket, as target holds no closing parenthesis. It looks at each
// byte a fixed number of times, however many brackets there are.
func withoutLinks(s string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '[')
		if open < 0 {
			break
		}
		length := strings.IndexByte(s[open:], ']')
		if length < 0 {
			break
		}
		end := open + length
		if !strings.HasPrefix(s[end+1:], "(") {
			// Every bracket that opens before this one closes fails with it.
			b.WriteString(s[:end+1])
			s = s[end+1:]
			continue
		}
		target := strings.IndexByte(s[end+2:], ')')
		if target < 0 {
			break
		}
		b.WriteString(strings.TrimSuffix(s[:open], "!"))
		b.WriteString(s[open+1 : end])
		s = s[end+2+target+1:]
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s)
	return b.String()
}

// clip shortens a text to limit characters, between words where there is a space
// past the middle.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	keep := limit - len("...")
	end := len(s)
	for i := range s {
		if keep == 0 {
			end = i
			break
		}
		keep--
	}
	s = s[:end]
	if i := strings.LastIndexByte(s, ' '); i >= 0 && 2*ecma.Units(s[:i]) > limit-len("...") {
		s = s[:i]
	}
	s = strings.TrimRightFunc(s, func(r rune) bool { return ecma.IsSpace(r) || strings.ContainsRune(",;:.-", r) })
	return s + "..."
}

// shortestSentence is how many UTF-16 units stand before the end of a sentence,
// so that "No. 5" is not one.
const shortestSentence = 20

// firstSentence is the shortest beginning of s that reads as a sentence; all of
// s when none does.
func firstSentence(s string) string {
	units := 0
	for i, r := range s {
		if (r == '.' || r == '!' || r == '?') && units >= shortestSentence {
			next, _ := utf8.DecodeRuneInString(s[i+1:])
			if i+1 == len(s) || ecma.IsSpace(next) {
				return s[:i+1]
			}
		}
		units++
		if r > 0xffff {
			units++
		}
	}
	return s
}
