package lint

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// honest reads the corpus of text on which nothing may be found.
func honest(t testing.TB) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..", "testdata", "honest", "corpus")
	files := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestHonestTextIsSilent scans the corpus in every mode: as the files it is
// made of, as plain text, as JSON strings with and without escapes, with CRLF,
// with the fixed and with the extended detectors.
func TestHonestTextIsSilent(t *testing.T) {
	total := 0
	languages := 0
	for name, text := range honest(t) {
		total += len(text)
		if _, err := os.Stat(filepath.Join("..", "..", "testdata", "honest", "parts", strings.TrimSuffix(name, ".md")+".txt")); err == nil {
			languages++
		}
		plain, err := json.Marshal(map[string]any{"text": text, "lines": strings.Split(text, "\n")})
		if err != nil {
			t.Fatal(err)
		}
		forms := map[string]string{
			name: text, "notes/" + name + ".txt": text, "x/" + name: strings.ReplaceAll(text, "\n", "\r\n"),
			name + ".json": string(plain), "escaped.json": `{"text": "` + jsonEscape16(text) + `"}`,
		}
		if strings.HasSuffix(name, ".json") {
			delete(forms, "x/"+name)
		}
		for file, form := range forms {
			for _, secrets := range []SecretSet{Fixed, Extended} {
				res := scanFile(file, form, Options{Secrets: secrets})
				if len(res.Hits) > 0 || res.Markers.Count > 0 {
					t.Errorf("%s as %s, set %d: %q %q, %d markers", name, file, secrets, describe(res), messages(res), res.Markers.Count)
				}
			}
		}
	}
	if total < 300<<10 || languages < 20 {
		t.Errorf("the corpus has %d bytes and %d languages, too few to prove anything", total, languages)
	}
}

// jsonEscape16 spells every character outside of printable ASCII as UTF-16
// escapes.
func jsonEscape16(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= 0x20 && r < 0x7f:
			b.WriteRune(r)
		case r >= 0x10000:
			r -= 0x10000
			b.WriteString(hex4(0xd800+r>>10) + hex4(0xdc00+r&0x3ff))
		default:
			b.WriteString(hex4(r))
		}
	}
	return b.String()
}

func hex4(r rune) string {
	const digit = "0123456789abcdef"
	return `\u` + string([]byte{digit[r>>12&15], digit[r>>8&15], digit[r>>4&15], digit[r&15]})
}
