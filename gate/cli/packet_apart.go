package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// spare refuses to write to a file that the same call reads or keeps: a report over
// the ledger would lose every claim, a packet over its key the key. The flag is the
// one whose file is written; of others, "" names none.
func spare(flag, file string, others ...string) error {
	for _, other := range others {
		if file != "" && other != "" && sameFile(file, other) {
			return usagef("%s %s is the same file as %s, which would be lost", flag, file, other)
		}
	}
	return nil
}

// sameFile tells whether two names lead to one file, which need not be there yet.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return resolvedPath(a) == resolvedPath(b)
}

// resolvedPath gives a name without links in its folder.
func resolvedPath(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	_, abs = realFolder(abs)
	return abs
}

// apart finds a file of the call that its ledger, claim file or report would be
// written over.
func (l *ledgerFlags) apart(c *common, inputs ...string) error {
	file := ""
	if l.kind == kindFile {
		file = l.place
	}
	if err := spare("--ledger", file, append(inputs, l.claimFile.value)...); err != nil {
		return err
	}
	return spare("--report", c.report.value, append(inputs, file, l.claimFile.value)...)
}

// apart finds a key that the packet would be written over.
func (d *packetDraft) apart() error {
	if strings.HasPrefix(d.key.value, "env:") {
		return nil
	}
	return spare("--out", d.out.value, d.key.value)
}
