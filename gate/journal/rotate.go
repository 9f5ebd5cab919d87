package journal

import "io"

// Set is the journal of a handoff set. What is absent is nil.
type Set struct {
	Log, Archive *Document
	Index        *Index
}

// Problem is a way in which archive and index contradict themselves or each other
// (aahp-authoring.md 4.3).
type Problem struct {
	Kind ProblemKind
	at   int // of an entry of the archive, or a record of the index
}

// ProblemKind says what a Problem is.
type ProblemKind uint8

// The problems of a Set.
const (
	ArchivedTwice ProblemKind = iota + 1 // the archive holds two entries with the digest
	IndexedTwice                         // the index has it on record twice
	Lost                                 // the index has it on record, the archive no longer holds it
)

// Problems lists what is wrong, in the order of archive and index. With reindex,
// the entries that the archive has lost are none: the index is what is to follow.
func (s *Set) Problems(reindex bool) []Problem {
	var problems []Problem
	archived := make(map[Digest]bool, len(s.archived()))
	for i, e := range s.archived() {
		if archived[e.Digest] {
			problems = append(problems, Problem{ArchivedTwice, i})
		}
		archived[e.Digest] = true
	}
	indexed, odd := make(map[Digest]bool, len(s.records())), map[string]bool{}
	for i, r := range s.records() {
		switch {
		case r.odd == "" && indexed[r.digest] || odd[r.odd]:
			problems = append(problems, Problem{IndexedTwice, i})
		case !reindex && !r.known(archived):
			problems = append(problems, Problem{Lost, i})
		}
		if r.odd == "" {
			indexed[r.digest] = true
		} else {
			odd[r.odd] = true
		}
	}
	return problems
}

// Concerns gives digest and title of the entry that a problem is about.
func (s *Set) Concerns(p Problem) (digest, title string, err error) {
	if p.Kind == ArchivedTwice {
		e := s.Archive.Entries[p.at]
		title, err = s.Archive.Title(e)
		return e.Digest.String(), title, err
	}
	r := s.Index.Records[p.at]
	title, err = s.Index.Title(r)
	return r.Digest(), title, err
}

func (s *Set) archived() []Entry {
	if s.Archive == nil {
		return nil
	}
	return s.Archive.Entries
}

func (s *Set) records() []Record {
	if s.Index == nil {
		return nil
	}
	return s.Index.Records
}

// indexed are the digests that the index has on record.
func (s *Set) indexed() map[Digest]bool {
	all := make(map[Digest]bool, len(s.records()))
	for _, r := range s.records() {
		if r.odd == "" {
			all[r.digest] = true
		}
	}
	return all
}

// digests are those of entries.
func digests(entries []Entry) map[Digest]bool {
	all := make(map[Digest]bool, len(entries))
	for _, e := range entries {
		all[e.Digest] = true
	}
	return all
}

// without gives the entries that are not among the known ones, which it adds there:
// each once. It shares memory with entries where that is all of them.
func without(entries []Entry, known map[Digest]bool) []Entry {
	var rest []Entry
	shared := true
	for i, e := range entries {
		switch {
		case !known[e.Digest]:
			known[e.Digest] = true
			if !shared {
				rest = append(rest, e)
			}
		case shared:
			shared = false
			rest = append(rest, entries[:i]...)
		}
	}
	if shared {
		return entries
	}
	return rest
}

// Unindexed lists the archived entries that the index does not have on record.
func (s *Set) Unindexed() []Entry { return without(s.archived(), s.indexed()) }

// Rotation is what moves when a log keeps only its newest entries.
type Rotation struct {
	set   *Set
	Kept  []Entry
	Moved []Entry // all others
	Added []Entry // those of Moved that the archive does not hold, each once
	// Recorded are those of Moved that the index does not have, each once. A run
	// that was cut short may have left some of them in the archive alone.
	Recorded []Entry
}

// Rotate works out what moves when the log keeps so many entries.
func (s *Set) Rotate(keep int) *Rotation {
	keep = min(keep, len(s.Log.Entries))
	r := &Rotation{set: s, Kept: s.Log.Entries[:keep], Moved: s.Log.Entries[keep:]}
	if len(r.Moved) == 0 {
		return r
	}
	r.Added = without(r.Moved, digests(s.archived()))
	r.Recorded = without(r.Moved, s.indexed())
	return r
}

// Log is the log as it is to be written.
func (r *Rotation) Log() io.WriterTo {
	return file{preamble: r.set.Log, own: logPreamble, parts: []part{{r.set.Log, r.Kept}}}
}

// Archive is the archive as it is to be written: the entries that move in front.
func (r *Rotation) Archive() io.WriterTo {
	return file{preamble: r.set.Archive, own: archivePreamble, parts: []part{{r.set.Log, r.Added}, {r.set.Archive, r.set.archived()}}}
}

// Index is the index as it is to be written.
func (r *Rotation) Index() io.WriterTo {
	return indexFile{from: r.set.Log, front: r.Recorded, rest: r.set.Index}
}

// Missing reads an archive and gives the entries that move and that it does not
// hold. Sum is that of the archive's bytes.
func (r *Rotation) Missing(archive io.ReaderAt) (missing []Entry, sum Digest, err error) {
	lacking := digests(r.Moved)
	d, err := each(archive, func(e Entry) { delete(lacking, e.Digest) })
	if err != nil {
		return nil, sum, err
	}
	if len(lacking) > 0 {
		for _, e := range r.Moved {
			if lacking[e.Digest] {
				missing = append(missing, e)
			}
		}
	}
	return missing, d.Sum, nil
}

// What stands before the first entry of a file that has nothing there.
const (
	logPreamble     = "# Log\n\n> One entry a session, the newest first. Older ones are in LOG-ARCHIVE.md.\n\n---"
	archivePreamble = "# Log archive\n\n> Entries moved here from LOG.md, the newest first. None is ever edited.\n\n---"
)

// separator stands between two entries.
const separator = "\n\n---\n\n"

// file is a journal file that is to be written (aahp-authoring.md 4.4).
type file struct {
	preamble *Document // whose preamble it takes over; may be nil
	own      string    // the preamble where there is none to take over
	parts    []part
}

type part struct {
	from    *Document
	entries []Entry
}

// WriteTo writes the file.
func (f file) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	err := f.write(c)
	return c.n, err
}

func (f file) write(w io.Writer) error {
	if f.preamble != nil && f.preamble.HasPreamble() {
		if err := f.preamble.WritePreamble(w); err != nil {
			return err
		}
	} else if _, err := io.WriteString(w, f.own); err != nil {
		return err
	}
	between := "\n\n"
	for _, p := range f.parts {
		for _, e := range p.entries {
			if _, err := io.WriteString(w, between); err != nil {
				return err
			}
			if err := p.from.WriteText(w, e); err != nil {
				return err
			}
			between = separator
		}
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Reindexing is what changes when the index is made anew from the archive as it is.
type Reindexing struct {
	Dropped   []Record // the archive no longer holds these
	Recorded  []Entry  // these were not on record
	Unchanged int
	archive   *Document
}

// Reindex compares archive and index.
func (s *Set) Reindex() *Reindexing {
	r := &Reindexing{Recorded: s.Unindexed(), archive: s.Archive}
	archived := digests(s.Archive.Entries)
	for _, x := range s.records() {
		if x.known(archived) {
			r.Unchanged++
		} else {
			r.Dropped = append(r.Dropped, x)
		}
	}
	return r
}

// Index is the index as it is to be written: each entry of the archive, in order.
func (r *Reindexing) Index() io.WriterTo { return indexFile{from: r.archive, front: r.archive.Entries} }

// redactionMark begins what stands for a removed passage.
const redactionMark = "[redacted: "

// Unexplained lists the newly recorded entries without a mark of a redaction, where
// something was dropped: the only edit that the protocol allows is one.
func (r *Reindexing) Unexplained() ([]Entry, error) {
	if len(r.Dropped) == 0 {
		return nil, nil
	}
	var unexplained []Entry
	for _, e := range r.Recorded {
		marked, err := r.archive.Mentions(e, redactionMark)
		if err != nil {
			return nil, err
		}
		if !marked {
			unexplained = append(unexplained, e)
		}
	}
	return unexplained, nil
}
