package githubapi

import (
	"strings"
	"unicode/utf8"

	"github.com/google/go-github/v66/github"

	"github.com/handoff-gate/handoff-gate/gate/render"
)

// maxBatch is how many annotations GitHub takes in one request.
const maxBatch = 50

// wire brings an annotation into the form the API takes. False: there is no
// file it could stand on, so it cannot be sent at all. gate/render keeps these
// limits already; they are held here once more because one annotation over them
// costs its whole batch of 50.
func wire(a render.Annotation) (*github.CheckRunAnnotation, bool) {
	if a.Path == "" || render.CleanPath(a.Path) != a.Path {
		return nil, false
	}
	// No line known is line 1, which keeps the annotation at the file's top. A
	// column across lines, or an end before the start, is left out: GitHub
	// refuses the whole batch for it.
	start := max(1, a.StartLine)
	end := max(start, a.EndLine)
	if a.StartLine < 1 {
		end = start
	}
	out := &github.CheckRunAnnotation{
		Path: github.String(a.Path), StartLine: github.Int(start), EndLine: github.Int(end),
		AnnotationLevel: github.String(a.CheckLevel()),
	}
	if a.StartLine >= 1 && start == end && a.StartColumn >= 1 {
		out.StartColumn = github.Int(a.StartColumn)
		if a.EndColumn >= a.StartColumn {
			out.EndColumn = github.Int(a.EndColumn)
		}
	}
	message := cutBytes(render.AnnotationText(a.Message), render.MaxAnnotationMessage)
	if strings.TrimSpace(message) == "" {
		message = "(no message)" // a required member, refused when empty
	}
	out.Message = github.String(message)
	if title := cutRunes(oneLine(a.Title), render.MaxAnnotationTitle); title != "" {
		out.Title = github.String(title)
	}
	return out, true
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(render.AnnotationText(s)), " ")
}

// cutBytes keeps at most limit bytes and never a part of a character.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const more = "…"
	n := max(0, limit-len(more))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}

func cutRunes(s string, limit int) string {
	n := 0
	for i := range s {
		if n == limit-1 && utf8.RuneCountInString(s[i:]) > 1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// cutLines keeps whole lines of s up to limit bytes and says how many are left
// out. A single line over the limit is cut between characters.
func cutLines(s string, limit int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= limit {
		return s
	}
	const note = "\n\n*The rest is left out: GitHub takes no more. See the job summary and the log.*\n"
	room := limit - len(note)
	if i := strings.LastIndexByte(s[:room], '\n'); i > 0 {
		return s[:i] + note
	}
	return cutBytes(s, room) + note
}

// annotationKey is what makes two annotations the same.
type annotationKey struct {
	path, level, title, message string
	start, end, from, to        int
}

func keyOf(a *github.CheckRunAnnotation) annotationKey {
	return annotationKey{
		a.GetPath(), a.GetAnnotationLevel(), a.GetTitle(), a.GetMessage(),
		a.GetStartLine(), a.GetEndLine(), a.GetStartColumn(), a.GetEndColumn(),
	}
}
