package proc

import (
	"context"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain lets a test start this binary once more as a process to harden:
// hardening the test process itself would also take it from a debugger.
func TestMain(m *testing.M) {
	if os.Getenv("HANDOFF_GATE_TEST_HARDEN") != "" {
		before, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		err := HardenSelf()
		after, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		fmt.Println(before, after, err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestHardenSelf(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Run(context.Background(), Command{Argv: []string{self}, Dir: "/", Env: []string{"HANDOFF_GATE_TEST_HARDEN=1"}})
	if err != nil || string(got.Stdout) != "1 0 <nil>\n" {
		t.Errorf("dumpable before and after: %q, %v", got.Stdout, err)
	}
}
