package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/schema"
)

// disturbed is a command that TestReliability disturbs, run in a folder that holds
// a project with all three formats. BASE is the commit before the last one.
type disturbed struct {
	args string
	// dated commands take --now, and reporting ones --report.
	dated, reporting bool
	// redacted edits an archived entry ahead of the run.
	redacted bool
}

var allDisturbed = []disturbed{
	{args: "verify --level ci --base BASE", dated: true, reporting: true},
	{args: "verify --level precommit --schema --governance", dated: true, reporting: true},
	{args: "lint", dated: true, reporting: true},
	{args: "check", dated: true, reporting: true},
	{args: "doctor", dated: true, reporting: true},
	{args: "criteria", dated: true, reporting: true},
	{args: "session verify --all --base BASE", dated: true, reporting: true},
	{args: "session list"},
	{args: "install verify --all --base BASE", dated: true, reporting: true},
	{args: "packet check packets/p.json --registry packets/registry.json --workspace packets/ws --ledger packets/claims.json --dry-run", dated: true, reporting: true},
	{args: "status"},
	{args: "manifest", dated: true},
	{args: "archive --keep 2"},
	{args: "archive --reindex", redacted: true},
	{args: "init --force"},
	{args: "migrate --yes"},
	{args: "migrate-grounding"},
	{args: "hooks install"},
	{args: "packet keygen --agent dora --out packets/dora.key"},
	{args: "packet pin packets/old.json --workspace packets/ws --refresh --out packets/old.json"},
	{args: "packet approve packets/p.json --key packets/rita.key --action push --out packets/p.json"},
	{args: "packet sign packets/old.json --key packets/alice.key --out packets/old.json"},
	{args: "packet claim packets/p.json --registry packets/registry.json --workspace packets/ws --ledger packets/claims.json", dated: true, reporting: true},
	{args: "packet complete packets/claimed.json --ledger packets/claims.json", dated: true, reporting: true},
	{args: "packet abandon packets/claimed.json --ledger packets/claims.json --force", dated: true, reporting: true},
	{args: "rules"},
	{args: "explain lint/secret"},
	{args: "completion bash"},
	{args: "man"},
	{args: "version"},
}

// name is how the page calls the command.
func (d disturbed) name() string {
	words := strings.Fields(d.args)
	n := 1
	switch words[0] {
	case "packet", "session", "install", "hooks":
		n = 2
	case "verify":
		n = 3
	case "archive", "init":
		n = 2
	}
	return strings.Join(words[:n], " ")
}

// stage is the project that each run gets a copy of.
type stage struct {
	dir, base string
	program   string // the executable, where every user may run it
	git       string // the real one
}

// trial is one run of a command in a copy of the stage.
type trial struct {
	dir      string // the copy, named project
	env      []string
	stdout   *os.File // nil: what is printed is kept
	prepared func(*testing.T, *exec.Cmd)
	started  func(*exec.Cmd)
}

// ending is what a run left behind.
type ending struct {
	status int
	signal syscall.Signal
	out    string
	log    string
	files  map[string]string
}

func (s *stage) run(t *testing.T, d disturbed, tr trial, extra ...string) ending {
	t.Helper()
	args := strings.Fields(strings.ReplaceAll(d.args, "BASE", s.base))
	if d.dated && !slices.Contains(extra, "--now") {
		args = append(args, "--now", now)
	}
	if d.reporting {
		args = append(args, "--report", "report.json")
	}
	// A hung run is a failure of the test, not of the machine's patience.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, append(args, extra...)...)
	cmd.Dir, cmd.Env = tr.dir, append(gittest.Environ(), tr.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if tr.stdout != nil {
		cmd.Stdout = tr.stdout
	}
	if tr.prepared != nil {
		tr.prepared(t, cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if tr.started != nil {
		tr.started(cmd)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s: %v\n%s", d.args, errors.Join(err, ctx.Err()), log.String())
	}
	e := ending{status: cmd.ProcessState.ExitCode(), files: steady(snapshotOf(t, tr.dir))}
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.signal = w.Signal()
	}
	places := strings.NewReplacer(tr.dir, "DIR", filepath.Dir(tr.dir), "PARENT")
	e.out, e.log = chance.ReplaceAllString(places.Replace(out.String()), "-"), places.Replace(log.String())
	return e
}

// steady takes out of files what differs from run to run.
func steady(files map[string]string) map[string]string {
	for path, text := range files {
		files[path] = chance.ReplaceAllString(text, "-")
	}
	return files
}

// chance is what differs from run to run: keys that are made, and clocks that no
// flag sets.
var chance = regexp.MustCompile(`"?(private_key|public_key)"?: "[\w-]{43}"|migrate-\d+|cli-\d+|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// copyTo puts a copy of the stage into a folder that every user may look into.
func (s *stage) copyTo(t *testing.T, d disturbed, parent string) string {
	t.Helper()
	dir := filepath.Join(parent, "project")
	if out, err := exec.Command("cp", "-a", s.dir, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if d.redacted {
		file := filepath.Join(dir, filepath.FromSlash(archiveFile))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.Replace(text, []byte("Text of entry 1."), []byte("[redacted: a name]"), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// openFolder is a new folder that every user may look into.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "reliability-*")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newStage(t *testing.T) *stage {
	t.Helper()
	top := openFolder(t)
	s := &stage{dir: filepath.Join(top, "project"), program: filepath.Join(top, "handoff-gate")}
	installed, err := exec.LookPath("handoff-gate")
	if err != nil {
		t.Fatal(err)
	}
	if s.git, err = exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(installed)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join("..", "..", "testdata", "formats", "base"))); err != nil {
		t.Fatal(err)
	}
	must := func(data []byte, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	repo := gittest.At(t, s.dir)
	repo.Git("init", "-q", "-b", "main", "--template=")
	repo.Write(".ai/handoff/LOG.md", journal(5))
	repo.Write("packets/registry.json", must(madeRegistry(nil)))
	repo.Write("packets/p.json", must(madePacket(nil)))
	repo.Write("packets/old.json", must(madePacket([]string{`inputs.artifact_refs.0.sha256="` + strings.Repeat("0", 64) + `"`})))
	repo.Write("packets/claimed.json", must(madePacket([]string{`idempotency_key="demo:rev-8"`})))
	for _, name := range []string{"alice", "rita"} {
		file := "packets/" + name + ".key"
		repo.Write(file, string(packetKeyFile(name)))
		if err := os.Chmod(filepath.Join(s.dir, file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repo.Write(".gitignore", "*.key\n/packets/claims*\n/report.json\n")
	repo.Write("packets/ws/context/brief.md", packetBrief)
	repo.Write("packets/ws/rules.md", packetRules)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(s.program, args...)
		cmd.Dir, cmd.Env = s.dir, gittest.Environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
	}
	run("packet", "claim", "packets/claimed.json", "--registry", "packets/registry.json", "--workspace", "packets/ws", "--ledger", "packets/claims.json", "--now", now)
	run("manifest", "--now", now)
	s.base = repo.Commit("Begin")
	repo.Write("src/tides.js", "// changed\n")
	repo.Write(".ai/handoff/STATUS.md", "# Status\n\nThe tables are changed.\n")
	run("archive", "--keep", "4")
	run("manifest", "--now", now)
	repo.Commit("Change the tables")
	return s
}

// disturbance is one kind of fault.
type disturbance struct {
	title string
	root  bool // only root can cause it
	// around readies a trial and gives the ending of the run.
	try func(t *testing.T, s *stage, d disturbed) ending
	// always says that exit status 0 would be wrong, whatever the command.
	always bool
	// dated disturbances are of the clock: the result may differ.
	clock bool
}

func disturbances() []disturbance {
	return []disturbance{
		{title: "standard output full", always: true, try: func(t *testing.T, s *stage, d disturbed) ending {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			return s.run(t, d, trial{dir: s.copyTo(t, d, openFolder(t)), stdout: full})
		}},
		{title: "reader gone", always: true, try: func(t *testing.T, s *stage, d disturbed) ending {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			r.Close()
			return s.run(t, d, trial{dir: s.copyTo(t, d, openFolder(t)), stdout: w})
		}},
		{title: "disk full", root: true, try: func(t *testing.T, s *stage, d disturbed) ending {
			disk := mount(t)
			dir := s.copyTo(t, d, disk)
			fill, err := os.Create(filepath.Join(disk, "fill"))
			if err != nil {
				t.Fatal(err)
			}
			block := make([]byte, 4096)
			for err == nil {
				_, err = fill.Write(block)
			}
			fill.Close()
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			return s.run(t, d, trial{dir: dir})
		}},
		{title: "disk read-only", root: true, try: func(t *testing.T, s *stage, d disturbed) ending {
			disk := mount(t)
			dir := s.copyTo(t, d, disk)
			if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			return s.run(t, d, trial{dir: dir})
		}},
		{title: "another user's files", root: true, try: func(t *testing.T, s *stage, d disturbed) ending {
			return s.run(t, d, trial{dir: s.copyTo(t, d, openFolder(t)), prepared: func(_ *testing.T, cmd *exec.Cmd) {
				cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
			}})
		}},
		{title: "no network", root: true, try: func(t *testing.T, s *stage, d disturbed) ending {
			return s.run(t, d, trial{dir: s.copyTo(t, d, openFolder(t)), prepared: func(_ *testing.T, cmd *exec.Cmd) {
				cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
			}})
		}},
		{title: "git fails", try: fakeGit("echo 'fatal: broken' >&2; exit 1")},
		{title: "git prints rubbish", try: fakeGit(`printf '\377\000rubbish 100644\n\tx\000'; exit 0`)},
		{title: "git is killed", try: fakeGit(`GIT "$@" | (head -c 30; kill -9 $$)`)},
		{title: "git hangs, SIGTERM", try: func(t *testing.T, s *stage, d disturbed) ending {
			parent := openFolder(t)
			fifo := filepath.Join(parent, "hangs")
			if err := syscall.Mkfifo(fifo, 0o622); err != nil {
				t.Fatal(err)
			}
			// Opened for both, so that neither this nor the end of the test waits for a git
			// that is never started.
			f, err := os.OpenFile(fifo, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			return s.run(t, d, trial{dir: s.copyTo(t, d, parent), env: gitInstead(t, s, parent, "echo . > "+fifo+"; exec sleep 1000"), started: func(cmd *exec.Cmd) {
				go func() {
					if _, err := io.ReadFull(f, make([]byte, 1)); err == nil {
						_ = cmd.Process.Signal(syscall.SIGTERM)
					}
				}()
			}})
		}},
		{title: "files from 2100", try: func(t *testing.T, s *stage, d disturbed) ending {
			dir := s.copyTo(t, d, openFolder(t))
			at := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
			err := filepath.WalkDir(dir, func(file string, _ os.DirEntry, err error) error {
				return errors.Join(err, os.Chtimes(file, at, at))
			})
			if err != nil {
				t.Fatal(err)
			}
			return s.run(t, d, trial{dir: dir})
		}},
		{title: "clock at 1970", clock: true, try: atTime("1970-01-01T00:00:00Z")},
		{title: "clock at 9999", clock: true, try: atTime("9999-12-31T23:59:59Z")},
	}
}

func atTime(clock string) func(*testing.T, *stage, disturbed) ending {
	return func(t *testing.T, s *stage, d disturbed) ending {
		return s.run(t, d, trial{dir: s.copyTo(t, d, openFolder(t))}, "--now", clock)
	}
}

// fakeGit runs a command with a git that is this script. GIT in it is the real
// one.
func fakeGit(script string) func(*testing.T, *stage, disturbed) ending {
	return func(t *testing.T, s *stage, d disturbed) ending {
		parent := openFolder(t)
		return s.run(t, d, trial{dir: s.copyTo(t, d, parent), env: gitInstead(t, s, parent, script)})
	}
}

func gitInstead(t *testing.T, s *stage, parent, script string) []string {
	t.Helper()
	bin := filepath.Join(parent, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\n" + strings.ReplaceAll(script, "GIT", s.git) + "\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")}
}

// mount gives a small disk of its own.
func mount(t *testing.T) string {
	t.Helper()
	dir := openFolder(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=755"); err != nil {
		t.Skipf("SKIPPED: a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestReliability disturbs each command in each way and writes down what happened:
// docs/reliability.md. Whatever was done to it, a run that exits with 0 has printed
// and written what the undisturbed one does, and a run that does not leaves each
// file wholly the old or wholly the new one and nothing beside them.
func TestReliability(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: disturbs each command in each way; not with -short")
	}
	s := newStage(t)
	all := disturbances()
	cells := make([][]string, len(allDisturbed))
	skipped := os.Geteuid() != 0
	if skipped {
		t.Log("SKIPPED: full and read-only disks, other users and a namespace without a network need root; the page is not compared")
	}
	for i, d := range allDisturbed {
		cells[i] = make([]string, len(all))
		undisturbed := s.copyTo(t, d, openFolder(t))
		before := steady(snapshotOf(t, undisturbed))
		normal := s.run(t, d, trial{dir: undisturbed})
		if normal.status != 0 {
			t.Fatalf("%s: exit status %d\n%s%s", d.args, normal.status, normal.out, normal.log)
		}
		t.Run(d.args, func(t *testing.T) {
			t.Parallel()
			for j, f := range all {
				if f.root && skipped {
					continue
				}
				if f.clock && !d.dated {
					cells[i][j] = "takes no date"
					continue
				}
				t.Run(f.title, func(t *testing.T) {
					e := f.try(t, s, d)
					cells[i][j] = e.judge(t, f, before, normal)
				})
			}
		})
	}
	answers := make([][]string, len(apiFaults))
	for i, f := range apiFaults {
		answers[i] = make([]string, 2)
		for j, k := range []kind{honest, forgotten} {
			t.Run(fmt.Sprintf("action, %s, %d", f.title, j), func(t *testing.T) {
				t.Parallel()
				answers[i][j] = f.try(t, k)
			})
		}
	}
	t.Cleanup(func() {
		empty := func(row []string) bool { return slices.Contains(row, "") } // -run left some out
		if t.Failed() || skipped || slices.ContainsFunc(cells, empty) || slices.ContainsFunc(answers, empty) {
			return
		}
		page, want := filepath.Join("..", "..", "docs", "reliability.md"), reliabilityPage(all, cells, answers)
		if *update {
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Error(err)
			}
			return
		}
		if got, err := os.ReadFile(page); err != nil || string(got) != want {
			t.Errorf("docs/reliability.md is not what happened (%v); `go test ./gate/cli -run TestReliability -update` writes it anew", err)
		}
	})
}

// judge holds the ending of a disturbed run to what is promised, and says in a few
// words what happened.
func (e ending) judge(t *testing.T, f disturbance, before map[string]string, normal ending) string {
	t.Helper()
	complain := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s; exit status %d\n%s%s", fmt.Sprintf(format, args...), e.status, e.out, e.log)
	}
	changed := false
	for path := range union(union(before, normal.files), e.files) {
		got := e.files[path]
		changed = changed || got != before[path]
		if path == "report.json" && e.status == 1 {
			_, text, _ := strings.Cut(got, "\n")
			if err := schema.Check(schema.Report, []byte(text)); err != nil || !strings.Contains(text, `"verdict": "fail"`) {
				complain("the report is none, or no report of a failure: %v", err)
			}
			continue
		}
		if got != before[path] && got != normal.files[path] && !f.clock {
			complain("%s is neither the old nor the new one: %.300q", path, got)
		}
	}
	same := e.out == normal.out && maps.Equal(e.files, normal.files)
	switch {
	case e.signal != 0:
		if changed {
			return e.signal.String() + ", files whole"
		}
		return e.signal.String() + ", nothing written"
	case f.clock:
		if e.status > 1 {
			complain("a date alone stopped the command")
		}
		return fmt.Sprintf("exit %d", e.status)
	case e.status == 0 && f.always && normal.out != "":
		complain("success, although nobody could read it")
	case e.status == 0 && !same:
		complain("success, with another result than undisturbed:\n%s", normal.out)
	case e.status == 0:
		return "no difference"
	case e.log == "" && e.out == "":
		complain("it failed without a word")
	}
	if changed {
		return fmt.Sprintf("exit %d, files whole", e.status)
	}
	return fmt.Sprintf("exit %d, nothing written", e.status)
}

func reliabilityPage(all []disturbance, cells, answers [][]string) string {
	var b strings.Builder
	b.WriteString(reliabilityIntroduction)
	for j, f := range all {
		groups := map[string][]string{}
		var order []string
		for i, d := range allDisturbed {
			cell := cells[i][j]
			if groups[cell] == nil {
				order = append(order, cell)
			}
			groups[cell] = append(groups[cell], "`"+d.name()+"`")
		}
		fmt.Fprintf(&b, "\n## %s\n\n| What happened | Commands |\n|---|---|\n", strings.ToUpper(f.title[:1])+f.title[1:])
		for _, cell := range order {
			fmt.Fprintf(&b, "| %s | %s |\n", cell, strings.Join(groups[cell], ", "))
		}
	}
	b.WriteString("\n## GitHub's API fails the action\n\nThe verdict is that of the layers, in annotations of the job where no check run can be written.\n\n| The API | An honest pull request | One that forgets the handoff |\n|---|---|---|\n")
	for i, f := range apiFaults {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.title, answers[i][0], answers[i][1])
	}
	return b.String()
}

const reliabilityIntroduction = `# Reliability

What each command does when the world fails it. This page is written by a test (` + "`TestReliability`" + ` in
` + "`gate/cli`" + `), which runs each command in a project with all three formats, once undisturbed and once
under each fault, and holds every ending to two sentences:

- A run that exits with 0 has printed and written exactly what the undisturbed run does.
- A run that does not has said so, and each file is wholly the old or wholly the new one; nothing
  lies beside them.

"No difference" is exit status 0 with the same output and the same files. "Files whole" are commands
that write several files, some of which were new already when the fault came; the next run completes
their work. A process that is killed ahead of each of its changes to a file is the subject of tests of
their own: for the commands that write a handoff set, for the ledgers of packets, and for two or more
runs at once. So are the [ledger at GitHub](packet-ledger.md), whose answers are lost after the write took
effect, and the checks that a register declares.
`

// apiFault is what an API does with each connection.
type apiFault struct {
	title  string
	answer func(net.Conn)
}

var apiFaults = []apiFault{
	{"closes every connection", func(net.Conn) {}},
	{"resets every connection", func(c net.Conn) {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}},
	{"never answers", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
	{"stops in the middle of an answer", func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\r\n{\"id\": 7")
	}},
	{"closes its half and listens on", func(c net.Conn) {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		_, _ = io.Copy(io.Discard, c)
	}},
	{"answers with rubbish", func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "\x00\xff rubbish\r\n\r\n")
	}},
}

// try runs the action against such an API. The verdict must be that of a run
// without one.
func (f apiFault) try(t *testing.T, k kind) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f.answer(c)
			}()
		}
	}()
	s := newSite(t, k, ".")
	s.at(s.C)
	s.env["GITHUB_API_URL"] = "http://" + listener.Addr().String()
	s.input("api-timeout", "1")
	o := s.pullRun()
	want := 0
	if k == forgotten {
		want = 1
	}
	if o.status != want || o.outputs["reporting"] != "commands" || want == 1 && len(o.named("error")) == 0 {
		t.Errorf("exit status %d, want %d; reporting %q, %d errors\n%s", o.status, want, o.outputs["reporting"], len(o.named("error")), o.log)
	}
	return fmt.Sprintf("exit %d, reported by workflow commands", o.status)
}
