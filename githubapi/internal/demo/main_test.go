package main

import (
	"strings"
	"testing"
)

// What the README promises of `make run`: a failing and a passing run, with
// annotations on the lines that are wrong.
func TestDemo(t *testing.T) {
	var out strings.Builder
	if err := demo(t.Context(), "", &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	shown := out.String()
	for _, want := range []string{
		"completed, failure",
		"completed, success",
		".ai/handoff/LOG.md:1 [failure] integrity/checksum-mismatch",
		".ai/handoff/STATUS.md:1 [failure] drift/handoff-not-updated",
		".ai/handoff/TRUST.md:6 [failure] trust/expired",
		"exit status 1",
		"exit status 0",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("not shown: %q", want)
		}
	}
	if t.Failed() {
		t.Log(shown)
	}
}
