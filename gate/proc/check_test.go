package proc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCheckEnv shows what of the gate's environment a declared check sees.
func TestCheckEnv(t *testing.T) {
	environ := []string{
		"PATH=/bin", "HOME=/root", "USER=u", "LOGNAME=u", "SHELL=/bin/sh", "LANG=C", "LC_ALL=C.UTF-8", "LC_X=1", "TZ=UTC", "TMPDIR=/t", "TMP=/t", "TEMP=/t",
		"GITHUB_TOKEN=s", "GITHUB_ENV=s", "ACTIONS_RUNTIME_TOKEN=s", "RUNNER_TEMP=s", "INPUT_TOKEN=s", "CI=true", "HTTPS_PROXY=s", "https_proxy=s", "NO_PROXY=s",
		"GIT_DIR=/s", "GIT_CONFIG_COUNT=9", "LD_PRELOAD=s", "BASH_ENV=s", "ENV=s", "NODE_OPTIONS=s", "SSH_AUTH_SOCK=s", "LCX=s", "path=s", "PATHX=s", "HOMEPATH=s",
		"SystemRoot=C:\\Windows", "COMSPEC=cmd", "PathExt=.EXE", "NOVALUE", "=C:=C:\\",
	}
	git := []string{"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=/r e p o"}
	want := append(slices.Clone(environ[:12]), git...)
	if got := checkEnv(environ, "/r e p o", false); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	want = append([]string{"Path=C:\\bin", "SystemRoot=C:\\Windows", "COMSPEC=cmd", "PathExt=.EXE"}, git...)
	if got := checkEnv([]string{"Path=C:\\bin", environ[len(environ)-5], environ[len(environ)-4], environ[len(environ)-3], "CI=true"}, "/r e p o", true); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// Outside a repository nothing is named as safe, least of all everything.
	if got, want := checkEnv([]string{"TZ=a", "TZ=b"}, "", false), []string{"TZ=b", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := CheckEnv([]string{"HOME=/root", "TZ=UTC"}, ""); !slices.Equal(SetEnv(got[:2], "HOME=/tmp/x"), []string{"TZ=UTC", "HOME=/tmp/x"}) || got[0] != "HOME=/root" {
		t.Errorf("got %q", got)
	}
}

func TestTail(t *testing.T) {
	for _, tc := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"blank lines", []string{"\n \r\n\t\n\x1b\x07\n"}, nil},
		{"fewer than five lines", []string{"a\n", "b\n\nc"}, []string{"a", "b", "c"}},
		{"more than five lines", []string{"1\n2\n3\n4\n5\n6\n7\n\n"}, []string{"3", "4", "5", "6", "7"}},
		{"a progress display", []string{"10 %\r20 %\r30 %\rdone\r\n"}, []string{"10 %", "20 %", "30 %", "done"}},
		{"a line in pieces", []string{"a", "b", "c\n"}, []string{"abc"}},
		{"control and format characters", []string{"\x1b[1m\u202ebold\x00\n"}, []string{"[1mbold"}},
		{"a line that is no UTF-8", []string{"a\xffb\n"}, []string{"a\ufffdb"}},
		{"a line larger than all that is kept", []string{strings.Repeat("x", 3*maxCheckOutput)}, []string{strings.Repeat("x", 160) + "…"}},
		{"the end is what is kept", []string{strings.Repeat("early\n", maxCheckOutput), "late\n"}, []string{"early", "early", "early", "early", "late"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out tail
			for _, w := range tc.writes {
				out.Write([]byte(w))
			}
			if got := out.lines(); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
	// Whatever the sizes of the writes, the last bytes are kept, and never much
	// more than those.
	var out tail
	all := ""
	for i := range 4000 {
		p := fmt.Sprintf("%*d\n", i%97+1, i)
		out.Write([]byte(p))
		all += p
		if len(out.buf) > 2*maxCheckOutput {
			t.Fatalf("%d bytes are kept", len(out.buf))
		}
		if end := out.buf[max(0, len(out.buf)-maxCheckOutput):]; !strings.HasSuffix(all, string(end)) || len(end) < min(len(all), maxCheckOutput) {
			t.Fatalf("after %d bytes the end is not what is kept", len(all))
		}
	}
}
