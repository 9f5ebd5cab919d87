package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// shell gives a POSIX shell to run as a program under test. The package itself
// never starts one.
func shell(t *testing.T) string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("SKIPPED: there is no sh here, and without one no process of this test can run")
	}
	return sh
}

func env() []string { return []string{"PATH=" + os.Getenv("PATH")} }

func TestRun(t *testing.T) {
	sh := shell(t)
	ctx := context.Background()
	got, err := Run(ctx, Command{
		Argv: []string{sh, "-c", `pwd; cat; echo "$A-$HOME-"; echo warned >&2`}, Dir: "/", Env: []string{"A=b", "PATH=" + os.Getenv("PATH")},
		Stdin: strings.NewReader("fed\n"),
	})
	if err != nil || string(got.Stdout) != "/\nfed\nb--\n" || got.Stderr != "warned" {
		t.Errorf("%q, %q, %v", got.Stdout, got.Stderr, err)
	}

	// Without a Stdin the input is empty, not the terminal.
	if got, err := Run(ctx, Command{Argv: []string{"cat"}, Dir: "/", Env: env()}); err != nil || len(got.Stdout) != 0 {
		t.Errorf("%q, %v", got.Stdout, err)
	}

	got, err = Run(ctx, Command{Argv: []string{sh, "-c", "echo part; echo why >&2; exit 7"}, Dir: "/"})
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 7 || exit.Stderr != "why" || string(got.Stdout) != "part\n" {
		t.Errorf("%q, %v", got.Stdout, err)
	}
	if want := filepath.Base(sh) + ": exit status 7: why"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if _, err = Run(ctx, Command{Argv: []string{sh, "-c", "kill -TERM $$"}, Dir: "/"}); !errors.As(err, &exit) || exit.Code != -1 {
		t.Errorf("%v", err)
	}

	// Exactly the limit is fine; a byte more gives nothing, never a part.
	count := Command{Argv: []string{sh, "-c", "printf 12345678"}, Dir: "/", MaxOutput: 8}
	if got, err := Run(ctx, count); err != nil || string(got.Stdout) != "12345678" {
		t.Errorf("%q, %v", got.Stdout, err)
	}
	count.MaxOutput = 7
	if got, err := Run(ctx, count); !errors.Is(err, ErrTooMuchOutput) || got.Stdout != nil {
		t.Errorf("%q, %v", got.Stdout, err)
	}
	// Standard error is cut and holds nothing up.
	got, err = Run(ctx, Command{Argv: []string{sh, "-c", "i=0; while [ $i -lt 20000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo done"}, Dir: "/"})
	if err != nil || string(got.Stdout) != "done\n" || len(got.Stderr) > maxStderr || len(got.Stderr) < maxStderr-16 {
		t.Errorf("%q, %d bytes of standard error, %v", got.Stdout, len(got.Stderr), err)
	}

	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Run(ctx, Command{Argv: []string{sh, "-c", "exit 0"}, Dir: "/"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

func TestStart(t *testing.T) {
	shell(t)
	p, err := Start(context.Background(), Command{Argv: []string{"cat"}, Dir: "/", Env: env(), PipeStdin: true})
	if err != nil {
		t.Fatal(err)
	}
	// A long-lived child answers while its input is still open.
	buf := make([]byte, 4)
	for _, q := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(p.Stdin, q); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(p.Stdout, buf); err != nil || string(buf) != q {
			t.Fatalf("%q, %v", buf, err)
		}
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}

	// Cancelling ends a child that would wait for ever, and all it started.
	ctx, cancel := context.WithCancel(context.Background())
	p, err = Start(ctx, Command{Argv: []string{"sh", "-c", "sleep 1000 & echo up; wait"}, Dir: "/", Env: env()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p.Stdout, buf[:3]); err != nil {
		t.Fatal(err)
	}
	cancel()
	if rest, err := io.ReadAll(p.Stdout); err != nil || len(rest) != 0 { // ends only when nobody holds the pipe
		t.Errorf("%q, %v", rest, err)
	}
	if err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	p, err = Start(context.Background(), Command{Argv: []string{"sh", "-c", "echo up; exec sleep 1000"}, Dir: "/", Env: env()})
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	var exit *ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.Code != -1 {
		t.Error(err)
	}
}

// TestFind shows where a program is looked for, and that the current folder is
// never one of these places.
func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: file modes make programs of files here, which Windows does not have")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"prog": 0o755, "bin/tool": 0o755, "bin/plain": 0o644} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("#!/none\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	bin := filepath.Join(dir, "bin")
	for _, tc := range []struct {
		name, path, want, err string
	}{
		{"tool", bin, bin + "/tool", ""},
		{"tool", "/none:" + bin, bin + "/tool", ""},
		{"./prog", bin, dir + "/prog", ""},
		{"bin/tool", "", bin + "/tool", ""},
		{bin + "/tool", "", bin + "/tool", ""},
		{"prog", bin, "", "the program prog was not found; looked for it in PATH (" + bin + ")"},
		{"prog", ":" + bin + ":.:", "", "the program prog was not found; looked for it in PATH (:" + bin + ":.:)"},
		{"prog", "", "", "the program prog was not found; looked for it in PATH, which is empty"},
		{"tool", "bin", "", "the program tool was not found; looked for it in PATH (bin)"},
		{"bin/none", bin, "", "the program bin/none was not found; looked for it at " + bin + "/none"},
		{"plain", bin, "", "the program plain was not found; looked for it in PATH (" + bin + ")"},
		{"bin/plain", bin, "", "bin/plain cannot be run: permission denied"},
	} {
		got, err := find(tc.name, dir, []string{"PATH=/overridden", "PATH=" + tc.path})
		if got != tc.want || (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
			t.Errorf("%s with PATH=%s: %q, %v", tc.name, tc.path, got, err)
		}
	}
	if _, err := Run(context.Background(), Command{}); err == nil {
		t.Error("a command without a program was started")
	}
}
