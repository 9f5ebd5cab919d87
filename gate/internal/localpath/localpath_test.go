package localpath

import (
	"path/filepath"
	"testing"
)

func TestIs(t *testing.T) {
	for p, want := range map[string]bool{
		"/home/a/log.jsonl": true, "/": true, `\\server\share`: true, "~/log": true, "~": true,
		"C:/log": true, `c:\log`: true, "Z:/": true, "file:///log": true, "file:log": true,
		"": false, "logs/a.jsonl": false, "./a": false, "../a": false, "C:": false, "C:log": false,
		"CC:/log": false, "é:/log": false, "[:/log": false, "`:/": false, "File:log": false, "https://example.org": false, " /log": false,
	} {
		if got := Is(p); got != want {
			t.Errorf("Is(%q) = %v", p, got)
		}
	}
}

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		dir, p, rel string
		ok          bool
	}{
		{"/a/b", "/a/b", ".", true},
		{"/a/b", "/a/b/c/d", "c/d", true},
		{"/", "/a", "a", true},
		{"/a/b", "/a/b/..c", "..c", true},
		{"/a/b", "/a", "", false},
		{"/a/b", "/a/bc", "", false},
		{"/a/b", "c", "", false},
	} {
		if rel, ok := Below(filepath.FromSlash(c.dir), filepath.FromSlash(c.p)); rel != c.rel || ok != c.ok {
			t.Errorf("Below(%q, %q) = %q, %v", c.dir, c.p, rel, ok)
		}
	}
}
