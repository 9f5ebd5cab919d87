package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// contentCommands are for scripts about what handoff files hold:
//
//	manifest-with FILE [DIR]  writes the manifest that fits the handoff files and
//	                          puts the members in FILE at its end, spelled as
//	                          they are; with the set of "repo", the first line of
//	                          FILE is line 37
//	hidden TEXTS -- ARGS      runs the program in every format and wants none of
//	                          the texts in anything it writes: standard output,
//	                          standard error, report file
var contentCommands = map[string]func(*testscript.TestScript, bool, []string){
	"manifest-with": manifestWith, "hidden": hidden,
}

func manifestWith(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 2)
	manifest(ts, false, args[1:])
	file := filepath.Join(folder(ts, false, args[1:]), "MANIFEST.json")
	data, err := os.ReadFile(file)
	ts.Check(err)
	members := strings.TrimSuffix(ts.ReadFile(args[0]), "\n")
	text := strings.TrimSuffix(string(data), "\n}\n") + ",\n" + members + "\n}\n"
	ts.Check(os.WriteFile(file, []byte(text), 0o644))
}

func hidden(ts *testscript.TestScript, neg bool, args []string) {
	dash := slices.Index(args, "--")
	if neg || dash < 1 || dash == len(args)-1 {
		ts.Fatalf("usage: hidden TEXTS -- ARGS")
	}
	texts, args := args[:dash], args[dash+1:]
	for i := range texts {
		texts[i] = unescape(ts, texts[i])
	}
	file := reportFile(ts)
	for _, format := range []string{"text", "json", "sarif", "github"} {
		status, stdout, stderr := run(ts, append(slices.Clone(args), "--format", format, "--report", file, "--now", now))
		if status != 0 && status != 1 {
			ts.Fatalf("exit status %d\n%s", status, stderr)
		}
		for place, written := range map[string]string{"standard output": stdout, "standard error": stderr, "the report": ts.ReadFile(file)} {
			for _, t := range texts {
				if i := strings.Index(written, t); i >= 0 {
					ts.Fatalf("with --format %s, %s holds %q: …%s…", format, place, t, written[max(0, i-80):min(len(written), i+len(t)+40)])
				}
			}
		}
	}
}
