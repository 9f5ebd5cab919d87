package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/packet"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/fileledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/gitledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/run"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// ledgerFlags are the flags about the ledger.
type ledgerFlags struct {
	ledger    once
	claimFile once
	dryRun    bool
	ttl       hours

	kind, place string // of --ledger: file, git, remote or github, and what follows
}

// The kinds of ledger (packets.md 7 and 9).
const (
	kindFile   = "file"
	kindGit    = "git"
	kindRemote = "remote"
	kindGitHub = "github"
)

// hours is a flag of a number above 0.
type hours struct {
	value time.Duration
	text  string
}

func (h *hours) String() string { return h.text }

// Set takes any number of hours in the digits of people: ParseFloat takes 1_0 and
// 0x1p4 too. More than a Duration holds, some 292 years, is as good as for ever.
func (h *hours) Set(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.Trim(s, "0123456789.eE+-") != "" || !(n > 0) || math.IsInf(n, 0) {
		return errors.New("it must be a number of hours above 0")
	}
	h.value, h.text = math.MaxInt64, s
	if ns := n * float64(time.Hour); ns < math.MaxInt64 {
		h.value = time.Duration(ns)
	}
	return nil
}

// register registers the flags; only packet check has a dry run, and completing
// knows no age.
func (l *ledgerFlags) register(flags *flag.FlagSet, name string) {
	l.ttl = hours{value: ledger.DefaultTTL}
	claimFile := "make `FILE` with a token, without which the claim cannot be completed"
	if name == "complete" || name == "abandon" {
		claimFile = "the token that claiming wrote to `FILE`"
	}
	flags.Var(&l.ledger, "ledger", "the `LEDGER` of claims: a file, git:DIR, remote:URL-or-NAME or github:OWNER/REPO")
	flags.Var(&l.claimFile, "claim-file", claimFile)
	if name != "complete" {
		flags.Var(&l.ttl, "reserve-ttl-hours", "the hours `N` for which a claim counts as work in progress (default: 24)")
	}
	if name == "check" {
		flags.BoolVar(&l.dryRun, "dry-run", false, "ask the ledger and record nothing")
	}
}

func (l *ledgerFlags) given() bool { return l.ledger.given }

// usable finds mistakes that need no file.
func (l *ledgerFlags) usable() error {
	switch {
	case l.claimFile.given && l.claimFile.value == "":
		return usagef("--claim-file needs a file")
	case l.claimFile.given && !l.ledger.given:
		return usagef("--claim-file needs --ledger")
	case l.claimFile.given && l.dryRun:
		return usagef("--claim-file and --dry-run exclude each other")
	case !l.ledger.given:
		return nil
	}
	l.kind, l.place = kindFile, l.ledger.value
	for _, kind := range []string{kindGit, kindRemote, kindGitHub} {
		if place, ok := strings.CutPrefix(l.ledger.value, kind+":"); ok {
			l.kind, l.place = kind, place
		}
	}
	switch {
	case l.place == "":
		return usagef("--ledger needs a file, git:DIR, remote:URL-or-NAME or github:OWNER/REPO")
	case l.kind != kindFile && strings.HasPrefix(l.place, "-"):
		return usagef("--ledger %s:… must not begin with a hyphen there", l.kind)
	case l.kind == kindGitHub:
		// An address of the API that is none is no mistake of the flag.
		if _, err := githubapi.NewLedger(githubapi.Options{Repository: l.place}); err != nil {
			return usagef("--ledger github: needs OWNER/REPO")
		}
	}
	return nil
}

// again gives the flag once more, for a command that people paste.
func (l *ledgerFlags) again() string {
	if !l.ledger.given {
		return ""
	}
	value := l.ledger.value
	if l.kind == kindRemote {
		value = kindRemote + ":" + git.WithoutUser(l.place)
	}
	s := " --ledger " + safetext.ShellQuote(value)
	if l.dryRun {
		s += " --dry-run"
	}
	if l.ttl.text != "" {
		s += " --reserve-ttl-hours " + safetext.ShellQuote(l.ttl.text)
	}
	return s
}

// newClaimFile finds a claim file that is there already: the token in it belongs to
// another claim, which must not lose it.
func (l *ledgerFlags) newClaimFile() error {
	if !l.claimFile.given {
		return nil
	}
	switch _, err := os.Lstat(l.claimFile.value); {
	case err == nil:
		return usagef("--claim-file %s is there already", l.claimFile.value)
	case !errors.Is(err, fs.ErrNotExist):
		return usagef("--claim-file %s cannot be made: %s", l.claimFile.value, disk.Cause(err))
	}
	if info, err := os.Stat(filepath.Dir(l.claimFile.value)); err != nil || !info.IsDir() {
		return usagef("--claim-file %s cannot be made: its folder is not there", l.claimFile.value)
	}
	return nil
}

// store opens the ledger; what cannot be opened is one that does not answer. Call
// done after the last use.
func (l *ledgerFlags) store(ctx context.Context, p Process) (s ledger.Store, done func(), err error) {
	done = func() {}
	switch l.kind {
	case kindGit:
		r, err := git.OpenStore(l.place, p.Environ, nil)
		if err != nil {
			return noLedger{fmt.Errorf("%s: %w", safetext.Clean(l.place), disk.Cause(err))}, done, nil
		}
		return gitledger.Local(r), done, nil
	case kindRemote:
		start, err := workingFolder()
		if err != nil {
			return nil, done, err
		}
		r, err := git.OpenRemote(ctx, git.RemoteOptions{Name: l.place, Dir: start, Environ: p.Environ})
		if err != nil {
			return noLedger{err}, done, nil
		}
		return gitledger.Remote(r), func() {
			if err := r.Close(); err != nil {
				p.note("handoff-gate packet: a temporary folder is left: %s", disk.Cause(err))
			}
		}, nil
	case kindGitHub:
		refs, err := githubapi.NewLedger(githubapi.Options{
			APIURL: p.getenv("GITHUB_API_URL"), Repository: l.place, Token: p.getenv("GITHUB_TOKEN"), Version: p.Version,
		})
		if err != nil {
			return noLedger{err}, done, nil
		}
		return refs, done, nil
	}
	return fileledger.Open(l.place), done, nil
}

// noLedger is a ledger in git that cannot be opened.
type noLedger struct{ err error }

func (n noLedger) Look(context.Context, string, ledger.Judge) (ledger.Verdict, error) {
	return ledger.Verdict{}, ledger.Unreachable("the ledger cannot be opened", n.err)
}

func (n noLedger) Update(ctx context.Context, key string, judge ledger.Judge) (ledger.Verdict, error) {
	return n.Look(ctx, key, judge)
}

func (n noLedger) Lists() bool { return false }

// judge is check 3. Without write it only looks. With a claim file, a token is made
// and on the disk before the claim that needs it is written.
func (l *ledgerFlags) judge(ctx context.Context, p Process, c ledger.Claim, now time.Time, write bool) (ledger.Outcome, error) {
	store, done, err := l.store(ctx, p)
	if err != nil {
		return ledger.Outcome{}, err
	}
	defer done()
	if l.claimFile.given && write {
		if c.TokenDigest, err = makeClaimFile(p, l.claimFile.value); err != nil {
			return ledger.Outcome{}, err
		}
	}
	o, err := ledger.Check(ctx, store, c, ledger.Terms{Now: now, TTL: l.ttl.value}, write)
	p.explain(o)
	switch {
	case c.TokenDigest == "" || o.Recorded:
	case o.Doubt:
		p.note("handoff-gate packet: the claim may have arrived, so %s is kept: it holds the token of that claim", l.claimFile.value)
	default:
		if err := os.Remove(l.claimFile.value); err != nil {
			p.note("handoff-gate packet: nothing was claimed, and %s cannot be removed: %s", l.claimFile.value, disk.Cause(err))
		}
	}
	return o, err
}

// explain says on standard error what happened to a ledger. It may name places of
// this machine, so it is no part of the report.
func (p Process) explain(o ledger.Outcome) {
	if o.Detail != nil {
		p.note("handoff-gate packet: the ledger: %s", o.Detail)
	}
}

// makeClaimFile makes the file with a new token, and gives the token's digest once
// both the file and its name would survive a loss of power.
func makeClaimFile(p Process, name string) (digest string, err error) {
	token, err := ledger.NewToken(rand.Reader)
	if err != nil {
		return "", err
	}
	o := disk.WriteOptions{Mode: keyMode, Private: true, New: true, Durable: true, Before: p.BeforeChange}
	if err := disk.Write(name, []byte(token), o); err != nil {
		return "", usagef("--claim-file %s cannot be made: %s", name, err)
	}
	return ledger.TokenDigest(token), nil
}

// maxToken is more than any token is long.
const maxToken = 4096

// readClaimFile reads a token. White space after it is an editor's.
func readClaimFile(name string) (string, error) {
	f, err := os.Open(name) //nolint:gosec // the user names it.
	if err != nil {
		return "", usagef("--claim-file %s cannot be opened: %s", name, disk.Cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", usagef("--claim-file %s cannot be read: %s", name, disk.Cause(err))
	}
	return strings.TrimRight(string(data), " \t\r\n"), nil
}

func runPacketComplete(ctx context.Context, p Process, args []string) error {
	return endPacket(ctx, p, "complete", packet.Completed, ledger.Complete, args)
}

func runPacketAbandon(ctx context.Context, p Process, args []string) error {
	return endPacket(ctx, p, "abandon", packet.Released, ledger.Abandon, args)
}

// endPacket is packet complete or packet abandon: none of the seven checks, and no
// registry (packets.md 7).
func endPacket(
	ctx context.Context, p Process, name, decision string,
	end func(context.Context, ledger.Store, ledger.Work, ledger.Terms) (ledger.Outcome, error), args []string,
) error {
	var c common
	var l ledgerFlags
	force := false
	flags := flag.NewFlagSet("packet "+name, flag.ContinueOnError)
	c.registerReport(flags)
	l.register(flags, name)
	if name == "abandon" {
		flags.BoolVar(&force, "force", false, "abandon a claim that may still be worked on")
	}
	files, err := parse(flags, args, 1)
	if err != nil {
		return err
	}
	switch {
	case len(files) == 0 || files[0] == "":
		return usagef("name the packet's file")
	case !l.given():
		return usagef("packet %s needs --ledger", name)
	}
	if err := l.usable(); err != nil {
		return err
	}
	if err := l.apart(&c, files[0]); err != nil {
		return err
	}
	now, err := c.time()
	if err != nil {
		return err
	}
	data, err := readInput(files[0], strict.Packet)
	if err != nil {
		return err
	}
	token := ""
	if l.claimFile.given {
		if token, err = readClaimFile(l.claimFile.value); err != nil {
			return err
		}
	}
	var o ledger.Outcome
	doc := packet.Read(placeOf(files[0]), data)
	if doc.Refusal() == nil {
		store, done, err := l.store(ctx, p)
		if err != nil {
			return err
		}
		defer done()
		w := doc.Work()
		w.Token, w.HasToken, w.Force = token, l.claimFile.given, force
		if o, err = end(ctx, store, w, ledger.Terms{Now: now, TTL: l.ttl.value}); err != nil {
			return err
		}
		p.explain(o)
	}
	file := safetext.ShellPath(files[0])
	again := "handoff-gate packet " + name + " " + file + l.again()
	if l.claimFile.given {
		again += " --claim-file " + safetext.ShellQuote(l.claimFile.value)
	}
	rep := run.PacketReport(packet.Ended(doc, decision, o, packet.Commands{File: file, Again: again}))
	c.text = render.Packets
	return finish(p, &c, rep, nil)
}
