package cli_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
)

// BenchmarkContainer starts the gate in a container of its image. The floor is the
// same with the smallest program that the image has besides.
func BenchmarkContainer(b *testing.B) {
	image := os.Getenv("HANDOFF_GATE_IMAGE")
	if image == "" {
		b.Skip("SKIPPED: set HANDOFF_GATE_IMAGE to the name of an image that was built")
	}
	start := func(program string) func() {
		return func() {
			if out, err := exec.CommandContext(b.Context(), "docker", "run", "--rm", "--network", "none", "--entrypoint", program, image, "version").CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
	}
	bench.Ratio(b, 1.5, start("/usr/bin/git"), start("/usr/local/bin/handoff-gate"))
}
