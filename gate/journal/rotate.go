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
	Kind   ProblemKind
	Digest string
	Title  string
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
	archived := map[Digest]bool{}
	for _, e := range s.archived() {
		if archived[e.Digest] {
			problems = append(problems, Problem{ArchivedTwice, e.Digest.String(), e.Title})
		}
		archived[e.Digest] = true
	}
	indexed := map[string]bool{}
	for _, r := range s.records() {
		d, ok := r.digest()
		switch {
		case indexed[r.Digest]:
			problems = append(problems, Problem{IndexedTwice, r.Digest, r.Title})
		case !reindex && !(ok && archived[d]):
			problems = append(problems, Problem{Lost, r.Digest, r.Title})
		}
		indexed[r.Digest] = true
	}
	return problems
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
	all := map[Digest]bool{}
	for _, r := range s.records() {
		if d, ok := r.digest(); ok {
			all[d] = true
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

// Unindexed lists the archived entries that the index does not have on record.
func (s *Set) Unindexed() []Entry {
	indexed := s.indexed()
	var unindexed []Entry
	for _, e := range s.archived() {
		if !indexed[e.Digest] {
			unindexed = append(unindexed, e)
		}
	}
	return unindexed
}

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
	archived, indexed := digests(s.archived()), s.indexed()
	for _, e := range r.Moved {
		if !archived[e.Digest] {
			archived[e.Digest] = true
			r.Added = append(r.Added, e)
		}
		if !indexed[e.Digest] {
			indexed[e.Digest] = true
			r.Recorded = append(r.Recorded, e)
		}
	}
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
func (r *Rotation) Index() io.WriterTo { return IndexFile{Front: r.Recorded, Rest: r.set.Index} }

// Missing lists the entries that move and that an archive does not hold.
func (r *Rotation) Missing(archive *Document) []Entry {
	held := digests(archive.Entries)
	var missing []Entry
	for _, e := range r.Moved {
		if !held[e.Digest] {
			missing = append(missing, e)
		}
	}
	return missing
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
		if d, ok := x.digest(); ok && archived[d] {
			r.Unchanged++
		} else {
			r.Dropped = append(r.Dropped, x)
		}
	}
	return r
}

// Index is the index as it is to be written: each entry of the archive, in order.
func (r *Reindexing) Index() io.WriterTo { return IndexFile{Front: r.archive.Entries} }

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
