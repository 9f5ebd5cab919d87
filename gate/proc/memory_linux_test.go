package proc

import (
	"context"
	"io"
	"strings"
	"testing"
)

// A child under a limit cannot take more; another one is not touched.
func TestMemoryOfAChild(t *testing.T) {
	sh := shell(t)
	// What a shell reads into a variable it holds in memory.
	script := `read -r go; x=$(head -c 100000000 /dev/zero | tr '\0' a); echo ${#x}`
	for limit, want := range map[uint64]bool{0: true, 1 << 30: true, 50 << 20: false} {
		p, err := Start(context.Background(), Command{Argv: []string{sh, "-c", script}, Dir: "/", Env: env(), PipeStdin: true, MaxMemory: limit})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(p.Stdin, "go\n") //nolint:errcheck // the answer says so.
		out, _ := io.ReadAll(p.Stdout)
		err = p.Wait()
		if got := err == nil && strings.TrimSpace(string(out)) == "100000000"; got != want {
			t.Errorf("limit %d: %q, %v", limit, out, err)
		}
	}
}
