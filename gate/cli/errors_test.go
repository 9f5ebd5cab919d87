package cli_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/cli"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// complaint runs the program and gives what it says on standard error.
func complaint(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := cli.Run(ctx, args, cli.Process{Stdout: &stdout, Stderr: &stderr, Environ: os.Environ(), Version: "0.0.0-test"})
	if status != 2 || stdout.Len() > 0 {
		t.Errorf("%q: exit status %d, %q", args, status, stdout.String())
	}
	return stderr.String()
}

// A runner and a terminal read standard error too.
func TestWhatAnErrorQuotesDoesNothing(t *testing.T) {
	said := complaint(context.Background(), t, "verify", "no\r\n::error::x\x1b[31m\u009b31m\u202e\u2028##[error]y")
	if strings.Count(said, "\n") != 1 || strings.Contains(said, "##[") {
		t.Errorf("%q", said)
	}
	for _, r := range strings.TrimSuffix(said, "\n") {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("it holds %U: %q", r, said)
		}
	}
}

// A run that was told to end says so, and not which call noticed it.
func TestARunThatIsEnded(t *testing.T) {
	r := gittest.New(t, "")
	r.Write(".ai/handoff/STATUS.md", "x\n")
	r.Commit("one")
	ctx, end := context.WithCancel(context.Background())
	end()
	if said := complaint(ctx, t, "verify", r.Dir); !strings.Contains(said, "ended before a verdict") {
		t.Errorf("%q", said)
	}
}
