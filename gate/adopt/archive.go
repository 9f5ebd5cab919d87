package adopt

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/filelock"
	"github.com/handoff-gate/handoff-gate/gate/journal"
)

// Journal is the journal of a folder as it was read: the log, its archive and the
// archive's index (aahp-authoring.md 4). Its files stay open, as their entries are
// read on when they are written.
type Journal struct {
	journal.Set
	folder    *Folder
	sums      map[string]journal.Digest // of the bytes that were read; of an absent file none
	indexFile *handoffFile
	closing   []func()
}

// JournalProblems says that archive and index contradict themselves or each other.
type JournalProblems struct {
	Named []JournalProblem // the first of them
	Count int
}

// JournalProblem is a problem with the entry that it is about.
type JournalProblem struct {
	Kind          journal.ProblemKind
	Digest, Title string // outside text
}

// maxNamed is how many problems are named.
const maxNamed = 20

func (p *JournalProblems) Error() string { return "the archive and its index do not agree" }

// IndexError says that the index is malformed.
type IndexError struct{ err error }

func (e *IndexError) Error() string {
	return fmt.Sprintf("%s/%s %v", gate.HandoffDir, IndexName, e.err)
}

func (e *IndexError) Unwrap() error { return e.err }

// errNoLog and errNoArchive say that what is to be worked on is not there.
var (
	errNoLog     = errors.New("there is no " + gate.HandoffDir + "/" + logName)
	errNoArchive = errors.New("there is no " + gate.HandoffDir + "/" + ArchiveName)
)

// LockJournal keeps other runs that write the journal away until the folder is closed.
// Where the file system has no locks, what each run does right before it replaces
// a file has to do (aahp-authoring.md 4.4).
func (f *Folder) LockJournal() error {
	dir, err := f.root.Open(".")
	if err != nil {
		return disk.Cause(err)
	}
	if free, err := filelock.Try(dir); err == nil && !free {
		dir.Close()
		return errors.New("another run is writing the journal; run this again when it has ended")
	}
	f.lock = dir
	return nil
}

// ReadLog reads log, archive and index, and makes sure that they agree.
func (f *Folder) ReadLog() (*Journal, error) {
	return f.readJournal(false)
}

// ReadArchive reads archive and index. That the archive has lost entries of the
// index is no problem then.
func (f *Folder) ReadArchive() (*Journal, error) {
	return f.readJournal(true)
}

func (f *Folder) readJournal(reindex bool) (*Journal, error) {
	j := &Journal{folder: f, sums: map[string]journal.Digest{}}
	if err := j.read(reindex); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) read(reindex bool) (err error) {
	if !reindex {
		if j.Log, err = j.document(logName); err != nil {
			return err
		}
		if j.Log == nil {
			return errNoLog
		}
	}
	if j.Archive, err = j.document(ArchiveName); err != nil {
		return err
	}
	if reindex && j.Archive == nil {
		return errNoArchive
	}
	if err := j.readIndex(); err != nil {
		return err
	}
	problems := j.Problems(reindex)
	if len(problems) == 0 {
		return nil
	}
	p := &JournalProblems{Count: len(problems)}
	for _, x := range problems[:min(len(problems), maxNamed)] {
		digest, title, err := j.Concerns(x)
		if err != nil {
			return err
		}
		p.Named = append(p.Named, JournalProblem{x.Kind, digest, title})
	}
	return p
}

// Close lets the files go.
func (j *Journal) Close() {
	for _, end := range j.closing {
		end()
	}
}

// document reads a journal file; nil when there is none.
func (j *Journal) document(name string) (*journal.Document, error) {
	file, err := j.open(name)
	if file == nil {
		return nil, err
	}
	doc, err := journal.Read(file)
	if err != nil {
		return nil, called(name, err)
	}
	j.sums[name] = doc.Sum
	return doc, nil
}

// openJournalFile opens a file; nil and no error when there is none. A link to
// nothing is none: it is replaced when the file is written.
func (f *Folder) openJournalFile(name string) (*handoffFile, error) {
	file, err := f.open(name)
	if isNone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, called(name, err)
	}
	return file, nil
}

// open is openJournalFile for a file that stays open until the journal is closed.
func (j *Journal) open(name string) (*handoffFile, error) {
	file, err := j.folder.openJournalFile(name)
	if file == nil {
		return nil, err
	}
	j.closing = append(j.closing, file.Close)
	if file.info.Size() > gate.MaxHandoffFile {
		return nil, called(name, errTooLarge)
	}
	return file, nil
}

// called puts a file's name before what is said of it.
func called(name string, err error) error { return fmt.Errorf("%s/%s %w", gate.HandoffDir, name, err) }

func (j *Journal) readIndex() error {
	file, err := j.open(IndexName)
	if file == nil {
		return err
	}
	j.Index, err = journal.ReadIndex(file)
	var malformed *journal.MalformedError
	switch {
	case errors.As(err, &malformed):
		return &IndexError{err}
	case err != nil:
		return called(IndexName, err)
	}
	j.indexFile = file
	j.sums[IndexName] = j.Index.Sum
	return nil
}

// unchanged makes sure that files still have the bytes that were read.
func (j *Journal) unchanged(names ...string) error {
	for _, name := range names {
		want, was := j.sums[name]
		file, err := j.open(name)
		if err != nil {
			return err
		}
		is := file != nil
		var got journal.Digest
		if is {
			sum := sha256.New()
			if _, err := io.Copy(sum, file); err != nil {
				return called(name, unreadable(err))
			}
			sum.Sum(got[:0])
		}
		if is != was || got != want {
			return called(name, errors.New("was changed while this run was at work; run it again"))
		}
	}
	return nil
}

// write replaces a file of the journal, when the files of which names are given
// still are as they were read.
func (j *Journal) write(name string, content io.WriterTo, size int64, before ...string) error {
	bounded := &boundedContent{content: content, report: func(done int64) { j.folder.progress("writing "+name, done, size) }}
	err := j.folder.Replace(name, bounded, func() error { return j.unchanged(before...) })
	if err != nil {
		return fmt.Errorf("%s/%s was not written: %w", gate.HandoffDir, name, err)
	}
	return nil
}

// boundedContent is content that must not become larger than what is read of a
// handoff file.
type boundedContent struct {
	content io.WriterTo
	report  func(done int64)
	w       io.Writer
	n       int64
}

func (b *boundedContent) WriteTo(w io.Writer) (int64, error) {
	b.w, b.n = w, 0
	return b.content.WriteTo(b)
}

func (b *boundedContent) Write(p []byte) (int, error) {
	if b.n+int64(len(p)) > gate.MaxHandoffFile {
		return 0, fmt.Errorf("it would be larger than the limit of %d MiB", gate.MaxHandoffFile>>20)
	}
	n, err := b.w.Write(p)
	b.n += int64(n)
	b.report(b.n)
	return n, err
}

// Rotate moves every entry but the newest from the log to the archive, if there
// are more than so many. The files are written in an order in which a run that is
// cut short loses nothing, and the next run completes it.
func (j *Journal) Rotate(keep int) (*journal.Rotation, error) {
	r := j.Set.Rotate(keep)
	if len(r.Moved) == 0 {
		return r, nil
	}
	size := j.Log.Size
	if j.Archive != nil {
		size += j.Archive.Size
	}
	if len(r.Added) > 0 {
		if err := j.write(ArchiveName, r.Archive(), size, logName, ArchiveName, IndexName); err != nil {
			return nil, err
		}
	}
	// What stands in the archive now decides whether the log may be cut.
	archive, err := j.open(ArchiveName)
	if err != nil {
		return nil, err
	}
	if archive == nil {
		return nil, errNoArchive
	}
	missing, sum, err := r.Missing(archive)
	if err != nil {
		return nil, called(ArchiveName, err)
	}
	if len(missing) > 0 {
		return nil, called(ArchiveName, fmt.Errorf("does not hold %s; %s was left as it is", missing[0].Digest, logName))
	}
	j.sums[ArchiveName] = sum
	if len(r.Recorded) > 0 {
		if err := j.write(IndexName, r.Index(), size, ArchiveName, IndexName); err != nil {
			return nil, err
		}
	}
	return r, j.write(logName, r.Log(), j.Log.Size, ArchiveName, logName)
}

// Reindex makes the index anew from the archive as it is. With changed false it
// was that already, and nothing is written.
func (j *Journal) Reindex() (r *journal.Reindexing, changed bool, err error) {
	r = j.Set.Reindex()
	if j.Index != nil {
		same, err := equals(r.Index(), withoutCR{io.NewSectionReader(j.indexFile, 0, j.Index.Size)})
		if same || err != nil {
			return r, false, err
		}
	}
	return r, true, j.write(IndexName, r.Index(), j.Archive.Size, ArchiveName, IndexName)
}

// equals tells whether content is some text.
func equals(content io.WriterTo, text io.Reader) (bool, error) {
	c := &comparison{text: bufio.NewReader(text)}
	if _, err := content.WriteTo(c); err != nil || c.differs {
		return false, err
	}
	_, err := c.text.ReadByte()
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// comparison compares what is written to it with a text.
type comparison struct {
	text    *bufio.Reader
	buf     []byte
	differs bool
}

func (c *comparison) Write(p []byte) (int, error) {
	if c.differs {
		return len(p), nil
	}
	c.buf = append(c.buf[:0], p...)
	n, err := io.ReadFull(c.text, c.buf)
	c.differs = !bytes.Equal(c.buf[:n], p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	return len(p), nil
}

// withoutCR leaves every CR out of what is read.
type withoutCR struct{ io.Reader }

func (r withoutCR) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return copy(p, gate.WithoutCR(p[:n])), err
}
