package journal

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func entry(n int) string { return fmt.Sprintf("## [2026-06-%02d] Agent: n%d\n\nText %d.", n, n, n) }

func entries(from, to int) []string {
	var all []string
	for n := from; n >= to; n-- {
		all = append(all, entry(n))
	}
	return all
}

// document lays a journal file out as it is to be.
func document(preamble string, texts []string) string {
	return preamble + "\n\n" + strings.Join(texts, separator) + "\n"
}

func written(t testing.TB, w io.WriterTo) string {
	t.Helper()
	var b strings.Builder
	n, err := w.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d counted, %v", b.Len(), n, err)
	}
	return b.String()
}

func set(t testing.TB, log, archive, index string) *Set {
	t.Helper()
	s := &Set{}
	if log != "" {
		s.Log = read(t, log)
	}
	if archive != "" {
		s.Archive = read(t, archive)
	}
	if index != "" {
		s.Index = readIndex(t, index)
	}
	return s
}

// indexOf is an index of such texts.
func indexOf(t testing.TB, texts []string) string {
	t.Helper()
	return indexText(t, document("", texts), "")
}

func TestRotate(t *testing.T) {
	const head = "# Journal\n\nOur own.\n\n---"
	for _, tt := range []struct {
		name                string
		log, archive, index string
		keep                int
		wantLog             string
		wantArchive         string
		indexed             []string
		moved, added        int
	}{
		{
			name: "the first time", keep: 2,
			log: document(head, entries(5, 1)), wantLog: document(head, entries(5, 4)), wantArchive: document(archivePreamble, entries(3, 1)),
			indexed: entries(3, 1), moved: 3, added: 3,
		},
		{
			name: "few enough", keep: 5, log: document(head, entries(5, 1)),
		},
		{
			name: "in front of the archive, whose head stays", keep: 1,
			log: document(head, entries(5, 3)), archive: "Old head\r\n\r\nof ours \r\n\r\n\r\n" + document("", entries(2, 1)), index: indexOf(t, entries(2, 1)),
			wantLog: document(head, entries(5, 5)), wantArchive: document("Old head\n\nof ours", entries(4, 1)), indexed: entries(4, 1), moved: 2, added: 2,
		},
		{
			name: "two that are equal", keep: 1,
			log:     document(head, []string{entry(9), entry(3), entry(3), entry(2), entry(3) + "\n\n---\n"}),
			wantLog: document(head, entries(9, 9)), wantArchive: document(archivePreamble, entries(3, 2)), indexed: entries(3, 2), moved: 4, added: 2,
		},
		{
			name: "what an earlier run has archived, and not indexed", keep: 1,
			log: document(head, entries(5, 3)), archive: document(head, entries(4, 1)), index: indexOf(t, entries(2, 1)),
			wantLog: document(head, entries(5, 5)), wantArchive: document(head, entries(4, 1)), indexed: entries(4, 1), moved: 2,
		},
		{
			name: "what was archived before there was an index", keep: 1,
			log: document(head, entries(5, 4)), archive: document(head, entries(3, 1)),
			wantLog: document(head, entries(5, 5)), wantArchive: document(head, entries(4, 1)), indexed: entries(4, 4), moved: 1, added: 1,
		},
		{
			name: "no head anywhere", keep: 1, log: strings.Join(entries(2, 1), "\n"), archive: " \n\t\n",
			wantLog: document(logPreamble, entries(2, 2)), wantArchive: document(archivePreamble, entries(1, 1)), indexed: entries(1, 1), moved: 1, added: 1,
		},
		{
			name: "hyphens that end an entry stay in it", keep: 1, log: document(head, []string{entry(2) + " ---", entry(1) + " ---"}),
			wantLog: document(head, []string{entry(2) + " ---"}), wantArchive: document(archivePreamble, []string{entry(1) + " ---"}),
			indexed: entries(1, 1), moved: 1, added: 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := set(t, tt.log, tt.archive, tt.index)
			if p := s.Problems(false); p != nil {
				t.Fatalf("problems: %v", p)
			}
			r := s.Rotate(tt.keep)
			if len(r.Moved) != tt.moved || len(r.Added) != tt.added {
				t.Fatalf("%d moved, %d added", len(r.Moved), len(r.Added))
			}
			if tt.moved == 0 {
				return
			}
			if got := written(t, r.Log()); got != tt.wantLog {
				t.Errorf("the log is\n%q\nwant\n%q", got, tt.wantLog)
			}
			archive := written(t, r.Archive())
			if archive != tt.wantArchive {
				t.Errorf("the archive is\n%q\nwant\n%q", archive, tt.wantArchive)
			}
			var digests []string
			for _, e := range read(t, document("", tt.indexed)).Entries {
				digests = append(digests, e.Digest.String())
			}
			var got []string
			for _, x := range readIndex(t, written(t, r.Index())).Records {
				got = append(got, x.Digest())
			}
			if !slices.Equal(got, digests) {
				t.Errorf("the index has %q, want %q", got, digests)
			}
			if missing, sum, err := r.Missing(strings.NewReader(archive)); err != nil || missing != nil || sum != read(t, archive).Sum {
				t.Errorf("the archive misses %v, %v", missing, err)
			}
			if missing, _, err := r.Missing(strings.NewReader("")); err != nil || len(missing) != tt.moved {
				t.Errorf("an empty archive misses %d, %v", len(missing), err)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	digest := func(n int) string { return read(t, entry(n)).Entries[0].Digest.String() }
	title := func(n int) string { return fmt.Sprintf("## [2026-06-%02d] Agent: n%d", n, n) }
	type problem struct {
		kind          ProblemKind
		digest, title string
	}
	twice := strings.Replace(indexOf(t, entries(2, 1)), digest(2), digest(1), 1)
	for _, tt := range []struct {
		name           string
		archive, index string
		want, reindex  []problem
	}{
		{"neither", "", "", nil, nil},
		{"both agree", document("", entries(3, 1)), indexOf(t, entries(3, 1)), nil, nil},
		{"in another order", document("", entries(3, 1)), indexOf(t, []string{entry(1), entry(3)}), nil, nil},
		{"no index", document("", entries(3, 1)), "", nil, nil},
		{"no archive", "", indexOf(t, entries(1, 1)), []problem{{Lost, digest(1), title(1)}}, nil},
		{"an entry that was edited", document("", []string{entry(2) + " no", entry(1)}), indexOf(t, entries(2, 1)), []problem{{Lost, digest(2), title(2)}}, nil},
		{
			"two in the archive", document("", []string{entry(2), entry(1), entry(2) + "\n\n---"}), "",
			[]problem{{ArchivedTwice, digest(2), title(2)}},
			[]problem{{ArchivedTwice, digest(2), title(2)}},
		},
		{
			"two in the index", document("", entries(2, 1)), twice,
			[]problem{{IndexedTwice, digest(1), title(1)}},
			[]problem{{IndexedTwice, digest(1), title(1)}},
		},
		{"no digest", document("", entries(1, 1)), `{"version": 1, "entries": [{"sha256": "x"}]}`, []problem{{Lost, "x", ""}}, nil},
		{"upper case", document("", entries(1, 1)), `{"version": 1, "entries": [{"sha256": "` + strings.ToUpper(digest(1)) + `"}]}`, []problem{{Lost, strings.ToUpper(digest(1)), ""}}, nil},
	} {
		s := set(t, "", tt.archive, tt.index)
		named := func(problems []Problem) (all []problem) {
			for _, p := range problems {
				digest, title, err := s.Concerns(p)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, problem{p.Kind, digest, title})
			}
			return all
		}
		if got := named(s.Problems(false)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if got := named(s.Problems(true)); !slices.Equal(got, tt.reindex) {
			t.Errorf("%s, for --reindex: %v, want %v", tt.name, got, tt.reindex)
		}
	}
}

func TestReindex(t *testing.T) {
	redacted := strings.Replace(entry(2), "Text 2", "[redacted: a key]", 1)
	s := set(t, "", document("", []string{entry(4), redacted, entry(1)}), indexOf(t, entries(3, 1)))
	r := s.Reindex()
	titles := func(es []Entry) (all []string) {
		for _, e := range es {
			all = append(all, titleOf(t, s.Archive, e))
		}
		return all
	}
	var dropped []string
	for _, x := range r.Dropped {
		title, err := s.Index.Title(x)
		if err != nil {
			t.Fatal(err)
		}
		dropped = append(dropped, title)
	}
	if !slices.Equal(dropped, []string{"## [2026-06-03] Agent: n3", "## [2026-06-02] Agent: n2"}) || r.Unchanged != 1 {
		t.Errorf("dropped %q, unchanged %d", dropped, r.Unchanged)
	}
	if got := titles(r.Recorded); !slices.Equal(got, []string{"## [2026-06-04] Agent: n4", "## [2026-06-02] Agent: n2"}) {
		t.Errorf("recorded %q", got)
	}
	if got := written(t, r.Index()); got != indexOf(t, []string{entry(4), redacted, entry(1)}) {
		t.Errorf("the index is\n%s", got)
	}
	if u, err := r.Unexplained(); err != nil || !slices.Equal(titles(u), []string{"## [2026-06-04] Agent: n4"}) {
		t.Errorf("unexplained: %v, %v", u, err)
	}
	// Where nothing was dropped, nothing needs an explanation.
	if u, err := set(t, "", document("", entries(2, 1)), "").Reindex().Unexplained(); err != nil || u != nil {
		t.Errorf("unexplained: %v, %v", u, err)
	}
}

// Whatever is rotated, however often and wherever a run is cut short: no entry is
// lost, each is archived and indexed once, and the order stays.
func TestRotationsLoseNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		log, archive, index := "", "", ""
		next := 1
		var all []string // distinct, the newest first
		for range 1 + rng.IntN(5) {
			var texts []string
			for range rng.IntN(6) {
				texts = append([]string{entry(next)}, texts...)
				if rng.IntN(6) == 0 {
					texts = append(texts, entry(next))
				}
				all = append([]string{entry(next)}, all...)
				next++
			}
			if log != "" {
				d := read(t, log)
				for _, e := range d.Entries {
					texts = append(texts, textOf(t, d, e))
				}
			}
			log = document("# Log", texts)
			s := set(t, log, archive, index)
			if p := s.Problems(false); p != nil {
				t.Fatalf("problems %v of\n%s\n%s\n%s", p, log, archive, index)
			}
			r := s.Rotate(1 + rng.IntN(4))
			if len(r.Moved) == 0 {
				continue
			}
			// Cut short after so many of the three files.
			reached := rng.IntN(4)
			if reached > 0 && len(r.Added) > 0 {
				archive = written(t, r.Archive())
			}
			if reached > 1 {
				index = written(t, r.Index())
			}
			if reached > 2 {
				log = written(t, r.Log())
			}
		}
		s := set(t, log, archive, index)
		r := s.Rotate(1)
		if len(r.Moved) > 0 {
			s = set(t, written(t, r.Log()), written(t, r.Archive()), written(t, r.Index()))
		}
		if p, u := s.Problems(false), s.Unindexed(); p != nil || u != nil {
			t.Fatalf("problems %v, not indexed %v", p, u)
		}
		var got []string
		for _, d := range []*Document{s.Log, s.Archive} {
			if d == nil {
				continue
			}
			for _, e := range d.Entries {
				if text := textOf(t, d, e); !slices.Contains(got, text) {
					got = append(got, text)
				}
			}
		}
		slices.SortFunc(got, strings.Compare)
		slices.SortFunc(all, strings.Compare)
		if !slices.Equal(got, all) {
			t.Fatalf("the entries are\n%q\nwant\n%q", got, all)
		}
	}
}
