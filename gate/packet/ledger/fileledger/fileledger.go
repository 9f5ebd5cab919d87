// Package fileledger keeps a packet ledger in one JSON file, in the format and
// behind the lock file of Synthe (packets.md 7).
//
// A change is made under an exclusive lock on FILE.lock: the file is read, the
// decision is made, and the new text is written beside the old one, flushed and
// renamed over it. So whoever reads without the lock sees a whole ledger, and
// after a crash at any moment the ledger is the old or the new one.
package fileledger

import (
	"context"
	"errors"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/filelock"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// Ledger is a ledger.Store in a file, which need not exist yet.
type Ledger struct {
	path string
	wait time.Duration // for the lock
	// before is asked ahead of each operation that changes the folder.
	before func(operation string) error
}

// Open names a ledger; nothing is read or made before it is used.
func Open(path string) *Ledger {
	return &Ledger{path: filepath.Clean(path), wait: ledger.Wait}
}

// Lists is true: a file holds all claims at once.
func (l *Ledger) Lists() bool { return true }

// Look decides by what the file holds now. It takes no lock and makes no file.
func (l *Ledger) Look(ctx context.Context, _ string, judge ledger.Judge) (ledger.Verdict, error) {
	path, err := resolve(l.path)
	if err != nil {
		return ledger.Verdict{}, ledger.Unreachable("the ledger cannot be opened", err)
	}
	doc, _, err := read(path)
	if err != nil {
		return ledger.Verdict{}, err
	}
	return judge(ctx, view{doc})
}

// Update decides and writes under the lock.
func (l *Ledger) Update(ctx context.Context, key string, judge ledger.Judge) (ledger.Verdict, error) {
	path, err := resolve(l.path)
	if err != nil {
		return ledger.Verdict{}, ledger.Unreachable("the ledger cannot be opened", err)
	}
	unlock, err := l.lock(ctx, path+".lock")
	if err != nil {
		return ledger.Verdict{}, ledger.Unreachable("the ledger cannot be locked", err)
	}
	defer unlock()
	doc, mode, err := read(path)
	if err != nil {
		return ledger.Verdict{}, err
	}
	verdict, err := judge(ctx, view{doc})
	if err != nil || verdict.Entry == nil {
		return verdict, err
	}
	if err := replace(path, mode, doc.With(key, verdict.Entry), l.before); err != nil {
		return ledger.Verdict{}, ledger.Unreachable("the ledger cannot be written", err)
	}
	return verdict, nil
}

// view is a Document as a ledger.View.
type view struct{ doc *ledger.Document }

// Entries gives entries by key.
func (v view) Entries(_ context.Context, keys ...string) (map[string]*ledger.Entry, error) {
	out := make(map[string]*ledger.Entry, len(keys))
	for _, key := range keys {
		e, err := v.doc.Entry(key)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out[key] = e
		}
	}
	return out, nil
}

// Reserved visits the claims in progress.
func (v view) Reserved(visit func(string, *ledger.Entry)) error { return v.doc.Reserved(visit) }

// maxLinks is how many links in a row are followed, as in Linux.
const maxLinks = 40

var errLinks = errors.New("too many symbolic links")

// resolve gives the path with no link left in it, so that a link to a ledger
// stays one and all its names have one lock. The file need not be there, its
// folder must.
func resolve(path string) (string, error) {
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil {
			// It is no link, or nothing at all.
			return filepath.Abs(path)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", errLinks
}

// newMode is the mode of a ledger that this package makes.
const newMode = 0o600

var errNoFile = errors.New("it is not a regular file")

// read reads the whole ledger; one that is not there is empty.
func read(path string) (*ledger.Document, fs.FileMode, error) {
	// A FIFO must not be waited for, so it is opened without blocking.
	f, err := os.OpenFile(path, os.O_RDONLY|noWaiting, 0) //nolint:gosec // the ledger is the operator's choice.
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, 0, ledger.Unreachable("the ledger cannot be opened", err)
		}
		return ledger.EmptyDocument(), newMode, nil
	}
	if err != nil {
		return nil, 0, ledger.Unreachable("the ledger cannot be opened", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		return nil, 0, ledger.Unreachable("the ledger cannot be read", err)
	}
	limit := strict.Ledger.MaxBytes() + 1
	var text strings.Builder
	text.Grow(int(min(info.Size(), limit)))
	if _, err := io.Copy(&text, io.LimitReader(f, limit)); err != nil {
		return nil, 0, ledger.Unreachable("the ledger cannot be read", err)
	}
	doc, err := ledger.ReadDocument(text.String())
	return doc, info.Mode().Perm(), err
}

// The waits between two looks at a lock that somebody has. Many who wait look at
// different times, and each of them soon.
const (
	firstLook   = time.Millisecond
	longestLook = 25 * time.Millisecond
)

var errLockTime = errors.New("somebody else has held its lock all the time")

// lock takes the lock file, made if it is not there and never deleted. It waits
// no longer than l.wait.
func (l *Ledger) lock(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.wait, errLockTime)
	defer cancel()
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		f, err := openLock(path)
		if err != nil {
			return nil, err
		}
		locked, err := filelock.Try(f)
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		if locked && still(path, f) {
			return func() { _ = f.Close() }, nil // which gives the lock up
		}
		_ = f.Close()
		timer := time.NewTimer(pause/2 + time.Duration(mathrand.Int64N(int64(pause)))) //nolint:gosec // who waits how long is no secret.
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// still tells whether the file that was locked has its name yet. Somebody may
// have deleted it, and then others lock another one.
func still(path string, f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, now)
}

// openLock opens the lock file. To lock it, reading it is enough: the ledger's
// other users may have made it.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noWaiting|noFollowing, newMode) //nolint:gosec // it stands beside the ledger.
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.OpenFile(path, os.O_RDONLY|noWaiting|noFollowing, 0) //nolint:gosec // it stands beside the ledger.
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
