package localpath

import "testing"

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
