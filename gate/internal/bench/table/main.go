// Command table reads the output of `go test -bench` and prints the figures that
// have a bound as a table in Markdown: what was measured, what it may be, and
// whether it is. It ends with status 1 when a figure is over its bound.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
)

func main() {
	missed, err := run(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(2)
	}
	if missed {
		os.Exit(1)
	}
}

// figures names the benchmarks, and what they are measured against, for people.
// One that is not here is printed under its own name.
var figures = map[string][2]string{
	"Large/drift":        {"Layer 2 over 50,000 changed files", "reading `git diff-tree -r -z --raw` through a pipe and counting"},
	"Large/markers":      {"Conflict markers of 50,000 tracked files", "`git grep -lE '^(<{7}\\|>{7})'`"},
	"Large/peak/ci":      {"Peak memory, `verify --level ci`, 50,000 changed files", ""},
	"Large/peak/full":    {"Peak memory, `verify --level full`, the same", ""},
	"Hash/files=1":       {"Reading and hashing 50 MB in one file", "SHA-256 of the same bytes in memory"},
	"Hash/files=10":      {"Reading and hashing 50 MB in ten files", "the same"},
	"Archive":            {"Hashing and scanning 50 MiB of `LOG-ARCHIVE.md` in one pass", "`sha256sum` and two `grep -E` with the lists of AAHP"},
	"Markers":            {"Conflict markers of 50,000 files through one buffer", "`git grep -lE '^[[:space:]]*(<{7}\\|>{7})'`"},
	"WorstPrefix":        {"The slowest of all texts that only begin what is looked for, 1 MiB", "ordinary text of the same size"},
	"HostileFiles":       {"The slowest of the hostile workflow files, 1 MiB", "an honest one of the same size"},
	"HostileScripts":     {"Splitting the worst step of a workflow, 1 MiB", "a plain step of the same size"},
	"HostileWorkflows":   {"The audit of the worst workflow, 1 MiB", "an honest one of the same size"},
	"LookIntoADeepTree":  {"A look below 300 folders that were listed before", "a look at the top"},
	"Small":              {"`verify --level ci`, 100 changed files, git included", "as many starts of `git version`, one after another"},
	"Archive/time/full":  {"`verify --level full`, 50 MB `LOG-ARCHIVE.md`", "`sha256sum` and two `grep -E` over that file"},
	"Archive/time/ci":    {"`verify --level ci`, the same, two snapshots", "the same"},
	"Archive/peak/full":  {"Peak memory, `verify --level full`, 50 MB `LOG-ARCHIVE.md`", ""},
	"Sessions":           {"`session verify --all`, 5,000 session folders", "reading and hashing their bytes, one file after another"},
	"Timeline/memory":    {"Peak memory, `session verify --all`, a timeline of 250 MB and its payload", ""},
	"Rotate/archive":     {"Peak memory, `archive`, 50 MB `LOG.md` of 160,000 entries", ""},
	"Rotate/verify":      {"Peak memory, `archive --verify`, the same", ""},
	"Rotate/check":       {"Peak memory, `manifest --check`, the same", ""},
	"Rotate/reindex":     {"Peak memory, `archive --reindex`, the same", ""},
	"Rotate/manifest":    {"Peak memory, `manifest`, the same", ""},
	"Packet":             {"All checks of a signed packet with an approval, an artifact and a quotation", "its two signatures and its digests"},
	"Container":          {"Starting a container and in it `handoff-gate version`", "the same with `git version`"},
	"Packets":            {"The same for 10,000 packets on all processors", "their signatures and digests on all processors"},
	"ClaimInCrowdedFile": {"A claim in a ledger file of 100,000 entries", "reading that file, and writing it anew so that it lasts"},
	"ClaimInCrowdedRefs": {"A claim in a repository of 100,000 claims", "one in an empty repository"},
	"Archive/peak/ci":    {"Peak memory, `verify --level ci`, the same", ""},
}

// kinds are the pairs of a figure and its bound, with how each is written.
var kinds = []struct{ unit, bound, format string }{
	{bench.UnitRatio, bench.UnitRatioBound, "%.2f×"},
	{bench.UnitPeak, bench.UnitPeakBound, "%.0f MiB"},
	{bench.UnitTime, bench.UnitTimeBound, "%.0f ms"},
}

var processors = regexp.MustCompile(`-\d+$`)

func run(in io.Reader, out io.Writer) (missed bool, err error) {
	lines := bufio.NewScanner(in)
	rows := 0
	fmt.Fprint(out, "| What | Floor | Measured | Bound | |\n|---|---|---|---|---|\n")
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if said := lines.Text(); strings.HasPrefix(said, "FAIL") || strings.HasPrefix(said, "--- ") || strings.HasPrefix(said, " ") {
			fmt.Fprintln(os.Stderr, said) // what failed, was skipped or was logged
			if len(f) > 0 && (f[0] == "FAIL" || len(f) > 1 && f[1] == "FAIL:") {
				err = fmt.Errorf("a benchmark failed")
			}
			continue
		}
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), "")
		values := map[string]float64{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				values[f[i+1]] = v
			}
		}
		for _, k := range kinds {
			bound, bounded := values[k.bound]
			if !bounded {
				continue
			}
			rows++
			measured := fmt.Sprintf(k.format, values[k.unit])
			if k.unit == bench.UnitTime {
				measured += fmt.Sprintf(" (%.1f×)", values[bench.UnitRatio])
			}
			verdict := "ok"
			if values[k.unit] > bound {
				verdict, missed = "missed", true
			}
			title, named := figures[name]
			if !named {
				title[0] = name
			}
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", title[0], title[1], measured, fmt.Sprintf(k.format, bound), verdict)
		}
	}
	if err == nil {
		err = lines.Err()
	}
	if err == nil && rows == 0 {
		err = fmt.Errorf("no benchmark with a bound was run")
	}
	return missed, err
}
