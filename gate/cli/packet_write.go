package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/packet"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

// note writes a line to standard error. Text of a packet in it is escaped already.
func (p Process) note(format string, args ...any) {
	p.say("%s\n", oneLine(fmt.Sprintf(format, args...)))
}

// newPacketMode is the mode of a packet that replaces no file.
const newPacketMode = 0o644

// keyMode is the mode of a private key's file, from its first byte on.
const keyMode = 0o600

// packetDraft is a run of a command that writes a packet.
type packetDraft struct {
	fs   *flag.FlagSet
	out  once
	key  once
	file string
}

func newPacketDraft(name string) *packetDraft {
	d := &packetDraft{fs: flag.NewFlagSet("packet "+name, flag.ContinueOnError)}
	d.fs.Var(&d.out, "out", "write to `FILE`, which may be the packet itself (default: standard output)")
	return d
}

// takeKey adds the flag of the key, for a command that signs.
func (d *packetDraft) takeKey() {
	d.fs.Var(&d.key, "key", "sign with the key `KEY`: a file that keygen made, or env:NAME, a variable that holds it")
}

// parse reads the command line: one file, and a key where one is needed.
func (d *packetDraft) parse(args []string) error {
	files, err := parse(d.fs, args, 1)
	if err != nil {
		return err
	}
	switch {
	case len(files) == 0 || files[0] == "":
		return usagef("name the packet's file")
	case d.out.given && d.out.value == "":
		return usagef("--out needs a file")
	case d.fs.Lookup("key") != nil && d.key.value == "":
		return usagef("--key is needed: a file that packet keygen made, or env:NAME")
	}
	d.file = files[0]
	return d.apart()
}

// open reads the packet. One that could be read in two ways is not signed.
func (d *packetDraft) open() (*packet.Draft, error) {
	data, err := readInput(d.file, strict.Packet)
	if err != nil {
		return nil, err
	}
	draft, err := packet.Open(data)
	if err != nil {
		return nil, usagef("%s: %s", d.file, err)
	}
	return draft, nil
}

// write writes the packet to where it shall be.
func (d *packetDraft) write(p Process, draft *packet.Draft) error {
	data, err := draft.Bytes()
	if err != nil {
		return err
	}
	if !d.out.given {
		_, err := p.Stdout.Write(data)
		return err
	}
	if err := disk.Write(d.out.value, data, disk.WriteOptions{Mode: newPacketMode, Before: p.BeforeChange}); err != nil {
		return fmt.Errorf("%s cannot be written: %w", d.out.value, err)
	}
	return nil
}

func runPacketSign(ctx context.Context, p Process, args []string) error {
	d := newPacketDraft("sign")
	d.takeKey()
	if err := d.parse(args); err != nil {
		return err
	}
	draft, err := d.open()
	if err != nil {
		return err
	}
	key, err := readKey(ctx, p, d.key.value)
	if err != nil {
		return err
	}
	defer key.Forget()
	for _, problem := range draft.Problems() {
		p.note("warning: %s", problem)
	}
	if err := draft.Sign(key); err != nil {
		return usageError{err.Error()}
	}
	return d.write(p, draft)
}

func runPacketApprove(ctx context.Context, p Process, args []string) error {
	d := newPacketDraft("approve")
	var action, expires once
	a := packet.Approval{}
	d.takeKey()
	d.fs.Var(&action, "action", "the `NAME` of the planned action")
	d.fs.Var(&expires, "expires-at", "the time `RFC3339` at which the approval ends")
	d.fs.BoolVar(&a.NoParams, "no-params", false, "approve the action whatever its parameters are")
	if err := d.parse(args); err != nil {
		return err
	}
	switch {
	case action.value == "":
		return usagef("--action is needed: the name of a planned action")
	case expires.given && !packet.IsTimestamp(expires.value):
		return usagef("--expires-at %q is no time such as 2026-03-01T12:00:00Z", expires.value)
	}
	a.Action, a.ExpiresAt = action.value, expires.value
	draft, err := d.open()
	if err != nil {
		return err
	}
	key, err := readKey(ctx, p, d.key.value)
	if err != nil {
		return err
	}
	defer key.Forget()
	shown, err := draft.Approve(key, a)
	if err != nil {
		return usageError{err.Error()}
	}
	p.note("approved:")
	for _, line := range shown {
		p.note("  %s", line)
	}
	return d.write(p, draft)
}

func runPacketPin(ctx context.Context, p Process, args []string) error {
	d := newPacketDraft("pin")
	var workspace once
	var refresh bool
	d.fs.Var(&workspace, "workspace", "the folder `DIR` with the artifacts and the evidence")
	d.fs.BoolVar(&refresh, "refresh", false, "fill in all of them anew, not only those that are missing")
	if err := d.parse(args); err != nil {
		return err
	}
	if workspace.value == "" {
		return usagef("--workspace is needed: the folder with the files")
	}
	draft, err := d.open()
	if err != nil {
		return err
	}
	tree, err := openWorkspace(workspace.value)
	if err != nil {
		return err
	}
	defer tree.Close()
	files, err := run.ExamineFiles(ctx, tree, draft.Pins(refresh))
	if err != nil {
		return err
	}
	if err := draft.Pin(refresh, files); err != nil {
		return usageError{err.Error()}
	}
	return d.write(p, draft)
}

func runPacketKeygen(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("packet keygen", flag.ContinueOnError)
	var agent, kid, out once
	var force bool
	fs.Var(&agent, "agent", "the agent's `ID`")
	fs.Var(&kid, "kid", "the key's name `KID` (default: the agent's id and -1)")
	fs.Var(&out, "out", "write the private key to `FILE`")
	fs.BoolVar(&force, "force", false, "replace FILE")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	switch {
	case !packet.IsAgent(agent.value):
		return usagef("--agent needs an agent's id of at most 256 bytes, without control characters and without white space at its ends")
	case kid.given && kid.value == "":
		return usagef("--kid needs a name")
	case out.value == "":
		return usagef("--out is needed: where the private key is written")
	}
	if !kid.given {
		kid.value = agent.value + "-1"
	}
	key, err := packet.NewPrivateKey(agent.value, kid.value, rand.Reader)
	if err != nil {
		return err
	}
	defer key.Forget()
	content := key.File()
	defer clear(content)
	err = disk.Write(out.value, content, disk.WriteOptions{Mode: keyMode, Private: true, New: !force, Before: p.BeforeChange})
	if errors.Is(err, os.ErrExist) {
		return usagef("%s exists; --force replaces it", out.value)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", out.value, err)
	}
	p.note("The private key is in %s. Keep it secret; the line on standard output is for the registry.", out.value)
	if rel, repo := repositoryOf(ctx, p, out.value); repo != nil {
		defer repo.Close()
		dir := filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel)))
		if seen, err := repo.WorkTreeFiles(ctx, dir); err != nil || slices.Contains(seen, rel) {
			p.note("warning: %s lies in a git work tree and is not ignored: list it in .gitignore before something commits it", out.value)
		}
	}
	_, err = io.WriteString(p.Stdout, key.RegistryEntry()+"\n")
	return err
}

// repositoryOf opens the repository that a file lies in, and gives its path there;
// nil where there is none.
func repositoryOf(ctx context.Context, p Process, file string) (string, *git.Repo) {
	start, err := workingFolder()
	if err != nil {
		return "", nil
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", nil
	}
	dir, abs := realFolder(abs)
	repo, err := git.Open(ctx, git.Options{Dir: dir, StartDir: start, Environ: p.Environ})
	if err != nil {
		return "", nil
	}
	rel, in := localpath.Below(repo.Top(), abs)
	if !in {
		repo.Close()
		return "", nil
	}
	return rel, repo
}

// readKey reads a private key from a file or a variable. Nothing of its content
// reaches a message.
func readKey(ctx context.Context, p Process, source string) (*packet.PrivateKey, error) {
	if name, ok := strings.CutPrefix(source, "env:"); ok {
		value := p.getenv(name)
		if value == "" {
			return nil, usagef("--key %s: the variable is not set", source)
		}
		key, err := packet.ReadPrivateKey([]byte(value))
		if err != nil {
			return nil, usagef("--key %s: %s", source, err)
		}
		return key, nil
	}
	data, err := readKeyFile(source)
	if err != nil {
		return nil, err
	}
	key, err := packet.ReadPrivateKey(data)
	if err != nil {
		return nil, usagef("the key file %s is refused: %s", source, err)
	}
	if rel, repo := repositoryOf(ctx, p, source); repo != nil {
		defer repo.Close()
		if index, err := repo.Index(ctx); err == nil {
			if _, err := index.Stat(rel); err == nil {
				p.note("warning: git tracks the key file %s: whoever can read the repository can sign as %s. Revoke this key", source, key.Agent)
			}
		}
	}
	return key, nil
}

// readKeyFile reads a key file that nobody but its owner may read.
func readKeyFile(file string) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // the user names it.
	if err != nil {
		return nil, usagef("the key file %s cannot be opened: %s", file, disk.Cause(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, usagef("the key file %s cannot be looked at: %s", file, disk.Cause(err))
	case info.IsDir():
		return nil, usagef("the key file %s is a folder", file)
	case runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		return nil, usagef("the key file %s has the mode %04o, which lets others at it; chmod 600 it, and make a new key if somebody may have read it", file, info.Mode().Perm())
	}
	limit := strict.Key.MaxBytes()
	data := make([]byte, 0, min(max(info.Size(), 512), limit)+1) // read into one place, which is overwritten later
	for int64(len(data)) <= limit {
		if len(data) == cap(data) {
			grown := append(make([]byte, 0, 2*cap(data)), data...)
			clear(data)
			data = grown
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			clear(data)
			return nil, usagef("the key file %s cannot be read: %s", file, disk.Cause(err))
		}
	}
	return data, nil // too large, which its reader refuses
}
