package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/packet"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

var packetCommand = command{
	name: "packet", summary: "Check, claim, sign and approve signed handoff packets",
	below: []command{
		{
			name: "check", args: "FILE", required: []string{"registry"}, summary: "Judge a packet by the agents and policies of a registry",
			text: `
Seven checks, in their order: structure, signature, duplicate, freshness, authority,
artifacts, evidence. With --ledger an accepted packet is claimed, so that nobody
accepts it a second time.
`,
			exits: exits("ACCEPT", "REJECT", "used wrongly"),
			run:   func(ctx context.Context, p Process, args []string) error { return checkPacket(ctx, p, args, false) },
		},
		{
			name: "claim", args: "FILE", required: []string{"registry", "ledger"}, summary: "Check a packet and claim it in a ledger",
			text:  "The checks of packet check, with a ledger always.",
			exits: exits("ACCEPT, and claimed", "REJECT", "used wrongly"),
			run:   func(ctx context.Context, p Process, args []string) error { return checkPacket(ctx, p, args, true) },
		},
		{
			name: "complete", args: "FILE", required: []string{"ledger"}, summary: "Record that the work of a claimed packet is done",
			exits: exits("COMPLETED", "REJECT", "used wrongly"),
			run:   runPacketComplete,
		},
		{
			name: "abandon", args: "FILE", required: []string{"ledger"}, summary: "Give back a claim whose work is known not to have happened",
			exits: exits("RELEASED", "REJECT", "used wrongly"),
			run:   runPacketAbandon,
		},
		{
			name: "keygen", required: []string{"agent", "out"}, summary: "Make a private key, and print its entry for the registry",
			exits: exits("written", "", "used wrongly, or not written"), run: runPacketKeygen,
		},
		{
			name: "pin", args: "FILE", required: []string{"workspace"}, summary: "Fill in the SHA-256 of artifacts and evidence",
			exits: exits("written", "", "used wrongly, or not written"), run: runPacketPin,
		},
		{
			name: "approve", args: "FILE", required: []string{"key", "action"}, summary: "Add an approval of a planned action",
			exits: exits("written", "", "used wrongly, or not written"), run: runPacketApprove,
		},
		{
			name: "sign", args: "FILE", required: []string{"key"}, summary: "Sign a packet as its sender, after everything else",
			exits: exits("written", "", "used wrongly, or not written"), run: runPacketSign,
		},
	},
}

// packetCheck is a run of packet check or claim.
type packetCheck struct {
	common
	registry, workspace, receiver, base once
	from                                choice
	strict, verifyEvidence              bool
	ledger                              ledgerFlags

	file string
	now  time.Time

	baseID, headID string // of the commits, where the registry is the base's
}

func (c *packetCheck) flags(name string, args []string) error {
	fs := flag.NewFlagSet("packet "+name, flag.ContinueOnError)
	c.registerReport(fs)
	c.from = choice{string(policy.FromHead), []string{string(policy.FromHead), string(policy.FromBase)}}
	fs.Var(&c.registry, "registry", "the `FILE` with the agents, their keys and what receivers allow (JSON)")
	fs.Var(&c.workspace, "workspace", "the folder `DIR` with the artifacts and the evidence")
	fs.Var(&c.receiver, "as-receiver", "refuse packets that are for another agent than `ID`")
	fs.Var(&c.base, "base", "the commit `SHA` of --policy-from base")
	fs.Var(&c.from, "policy-from", "the registry as the file is, or as the commit of --base has it")
	fs.BoolVar(&c.strict, "strict", false, "require signatures, signed approvals, planned actions, pins and verified evidence, and know every member")
	fs.BoolVar(&c.verifyEvidence, "verify-evidence", false, "look at the sources of all evidence")
	c.ledger.register(fs, name)
	files, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	switch {
	case len(files) == 0 || files[0] == "":
		return usagef("name the packet's file")
	case c.registry.value == "":
		return usagef("--registry is needed: it says who exists and what a receiver allows")
	case c.receiver.given && c.receiver.value == "":
		return usagef("--as-receiver needs an agent's id")
	case c.workspace.given && c.workspace.value == "":
		return usagef("--workspace needs a folder")
	case c.from.value == string(policy.FromBase) && c.base.value == "":
		return usagef("--policy-from base needs --base SHA")
	case name == "claim" && !c.ledger.given():
		return usagef("packet claim needs --ledger")
	}
	c.file = files[0]
	if c.now, err = c.time(); err != nil {
		return err
	}
	if err := c.ledger.usable(); err != nil {
		return err
	}
	return c.ledger.apart(&c.common, c.file, c.registry.value)
}

func checkPacket(ctx context.Context, p Process, args []string, claim bool) error {
	c := packetCheck{}
	name := "check"
	if claim {
		name = "claim"
	}
	if err := c.flags(name, args); err != nil {
		return err
	}
	data, err := readInput(c.file, strict.Packet)
	if err != nil {
		return err
	}
	registry, changed, err := c.readRegistry(ctx, p)
	if err != nil {
		return err
	}
	var workspace *disk.Tree
	if c.workspace.given {
		if workspace, err = openWorkspace(c.workspace.value); err != nil {
			return err
		}
		defer workspace.Close()
	}
	if err := c.ledger.newClaimFile(); err != nil {
		return err
	}
	if err := c.reportCanStand(); err != nil {
		return err
	}
	judged, err := run.JudgePacket(ctx, packet.Read(placeOf(c.file), data), registry, workspace, packet.Options{
		Now: c.now, Receiver: c.receiver.value, Strict: c.strict, VerifyEvidence: c.verifyEvidence, Commands: c.commands(),
	})
	if err != nil {
		return err
	}
	if changed {
		judged.RegistryChanged()
	}
	if claim, ok := judged.Claim(); ok && c.ledger.given() {
		dry := c.ledger.dryRun
		outcome, err := c.ledger.judge(ctx, p, claim, c.now, !dry && !judged.Rejected())
		if err != nil {
			return err
		}
		judged.Ledger(outcome, dry)
	}
	rep := run.PacketReport(judged.Project())
	rep.Base, rep.Head = c.baseID, c.headID
	c.text = render.Packets
	return finish(p, &c.common, rep, nil)
}

// reportCanStand finds a place in which no report can be written, before a claim
// is made that the report would tell of.
func (c *packetCheck) reportCanStand() error {
	if !c.report.given {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(c.report.value)); err != nil || !info.IsDir() {
		return usagef("--report %s: there is no such folder", c.report.value)
	}
	if info, err := os.Stat(c.report.value); err == nil && info.IsDir() {
		return usagef("--report %s is a folder", c.report.value)
	}
	return nil
}

// commands are what remedies end in. To look once more claims nothing.
func (c *packetCheck) commands() packet.Commands {
	again := "handoff-gate packet check " + safetext.ShellPath(c.file) + " --registry " + safetext.ShellQuote(c.registry.value)
	workspace := ""
	if c.workspace.given {
		workspace = safetext.ShellQuote(c.workspace.value)
		again += " --workspace " + workspace
	} else {
		again += " --workspace ."
	}
	again += c.ledger.again()
	if c.ledger.given() && !c.ledger.dryRun {
		again += " --dry-run"
	}
	if c.receiver.given {
		again += " --as-receiver " + safetext.ShellQuote(c.receiver.value)
	}
	if c.strict {
		again += " --strict"
	}
	if c.verifyEvidence {
		again += " --verify-evidence"
	}
	if c.from.value == string(policy.FromBase) {
		again += " --policy-from base --base " + safetext.ShellQuote(c.base.value)
	}
	return packet.Commands{File: safetext.ShellPath(c.file), Workspace: workspace, Again: again}
}

// readInput reads a file that the command line names, and not more of it than
// shows that it is too large. That it cannot be read is a mistake in the call.
func readInput(file string, kind strict.Input) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // the user names it.
	if err != nil {
		return nil, usagef("the %s %s cannot be opened: %s", kind, file, disk.Cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, usagef("the %s %s is a folder", kind, file)
	}
	data, err := io.ReadAll(io.LimitReader(f, kind.MaxBytes()+1))
	if err != nil {
		return nil, usagef("the %s %s cannot be read: %s", kind, file, disk.Cause(err))
	}
	return data, nil
}

func openWorkspace(dir string) (*disk.Tree, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usagef("--workspace %s is no folder", dir)
	}
	tree, err := disk.Open(dir)
	if err != nil {
		return nil, usagef("--workspace %s cannot be opened: %s", dir, disk.Cause(err))
	}
	return tree, nil
}

// placeOf gives a file's place in a report: from the top level of the work tree
// that holds it, else from the current folder if that contains it, else its bare
// name (packets.md 8).
func placeOf(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return filepath.Base(file)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return filepath.Base(file)
	}
	abs = filepath.Join(dir, filepath.Base(abs))
	tops := []string{}
	if top, err := git.Top(dir); err == nil {
		tops = append(tops, top)
	}
	if start, err := workingFolder(); err == nil {
		tops = append(tops, start)
	}
	for _, top := range tops {
		if rel, in := localpath.Below(top, abs); in {
			return rel
		}
	}
	return filepath.Base(abs)
}

// readRegistry reads the registry: the file as it is, or as the base has it.
// changed says that the change since the base touches it.
func (c *packetCheck) readRegistry(ctx context.Context, p Process) (r *packet.Registry, changed bool, err error) {
	if c.from.value == string(policy.FromBase) {
		return c.baseRegistry(ctx, p)
	}
	data, err := readInput(c.registry.value, strict.Registry)
	if err != nil {
		return nil, false, err
	}
	return packet.ReadRegistry(placeOf(c.registry.value), data), false, nil
}

// baseRegistry reads the registry from the base commit: the blob at the file's
// path, counted from the top level. What cannot be read there is a finding.
func (c *packetCheck) baseRegistry(ctx context.Context, p Process) (r *packet.Registry, changed bool, err error) {
	start, err := workingFolder()
	if err != nil {
		return nil, false, err
	}
	file, err := filepath.Abs(c.registry.value)
	if err != nil {
		return nil, false, err
	}
	dir, file := realFolder(file)
	unreadable := func(format string, args ...any) (*packet.Registry, bool, error) {
		return packet.NoRegistry(placeOf(c.registry.value), fmt.Sprintf(format, args...)), false, ctx.Err()
	}
	repo, err := git.Open(ctx, git.Options{Dir: dir, StartDir: start, Environ: p.Environ})
	if err != nil {
		return unreadable("the registry is to be read from the base commit, and there is no repository: %s", safetext.Clean(err.Error()))
	}
	defer repo.Close()
	rel, in := localpath.Below(repo.Top(), file)
	if !in {
		return unreadable("the registry is not below the top level of the repository")
	}
	sha := strings.ToLower(c.base.value)
	base, err := repo.Commit(ctx, sha)
	if !git.IsIDPrefix(sha) || err != nil || !strings.HasPrefix(base.ID, sha) {
		return unreadable("the base %s is no commit of this clone", safetext.Clean(c.base.value))
	}
	c.baseID = base.ID
	was := repo.Tree("base tree", base.Tree)
	var is gate.Tree
	if head, err := repo.Head(ctx); err == nil && head.ID != "" {
		c.headID = head.ID
		is = repo.Tree(gate.HeadTree, head.Tree)
	}
	r, changed = run.BaseRegistry(rel, was, is)
	return r, changed, ctx.Err()
}

// realFolder gives a file's path with no link left in its folder, and the deepest
// folder on the way that is there. A file that only a commit has needs none.
func realFolder(file string) (dir, resolved string) {
	rest := filepath.Base(file)
	for dir = filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if there, err := filepath.EvalSymlinks(dir); err == nil {
			return there, filepath.Join(there, rest)
		}
		if dir == filepath.Dir(dir) {
			return dir, file
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
