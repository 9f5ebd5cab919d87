package githubapi

import "testing"

// Whether a repository is private only softens a warning, so what is not said
// plainly is not taken for it.
func TestPrivate(t *testing.T) {
	for text, want := range map[string]bool{
		`{"repository": {"private": true}}`:    true,
		`{"repository": {"private": false}}`:   false,
		`{"repository": {"private": "true"}}`:  false,
		`{"repository": {"private": null}}`:    false,
		`{"private": true, "repository": "x"}`: false,
		`{}`:                                   false,
		`{`:                                    false,
	} {
		if got := ReadEvent("push", "event.json", []byte(text), nil).Private(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
