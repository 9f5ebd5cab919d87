package run

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/packet"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// JudgePacket runs all checks of a packet but the third, which is the ledger's.
// workspace is where artifacts and evidence are; nil where there is none.
func JudgePacket(ctx context.Context, doc *packet.Document, registry *packet.Registry, workspace *disk.Tree, o packet.Options) (*packet.Judged, error) {
	o.Workspace = workspace != nil
	c := packet.Check(doc, registry, o)
	if c.Malformed() {
		return c, ctx.Err()
	}
	files, err := ExamineFiles(ctx, workspace, c.Needs())
	if err != nil {
		return nil, err
	}
	c.Files(files)
	return c, nil
}

// ExamineFiles looks at files of a workspace, several at a time.
func ExamineFiles(ctx context.Context, workspace *disk.Tree, needs []packet.Need) ([]packet.File, error) {
	files := make([]packet.File, len(needs))
	return files, parallel.Each(ctx, len(needs), func(ctx context.Context, i int) error {
		files[i] = examine(workspace, needs[i])
		return ctx.Err()
	})
}

// examine looks at one file of a workspace. What cannot be read is as good as
// missing.
func examine(workspace *disk.Tree, need packet.Need) packet.File {
	f, err := packet.Examine(func() (io.ReadCloser, error) {
		f, err := workspace.OpenWithin(need.Path)
		if err != nil {
			return nil, err
		}
		return f, nil
	}, need)
	switch {
	case errors.Is(err, disk.ErrOutside):
		return packet.File{State: packet.Escapes}
	case err != nil:
		return packet.File{State: packet.Missing}
	}
	return f
}

// BaseRegistry reads the registry from a base commit's tree. changed says that
// HEAD's, where there is one, is another; is is nil where HEAD names no commit.
func BaseRegistry(path string, was, is gate.Tree) (r *packet.Registry, changed bool) {
	before, beforeErr := was.Stat(path)
	r = ReadRegistry(was, path, "the base")
	if is == nil {
		return r, false
	}
	after, afterErr := is.Stat(path)
	if errors.Is(beforeErr, fs.ErrNotExist) && afterErr == nil {
		r = packet.NoRegistry(path, "the base has no registry at this path, and HEAD has one: a registry must be merged first, before the packets that it is to judge")
	}
	return r, (beforeErr == nil) != (afterErr == nil) || before.ID != after.ID || before.Mode != after.Mode
}

// ReadRegistry reads the registry from a commit's tree, which messages call whose.
func ReadRegistry(tree gate.Tree, path, whose string) *packet.Registry {
	doc := gate.ReadDocument(tree, path, strict.Registry.MaxBytes())
	switch doc.State {
	case gate.Present:
		return packet.ReadRegistry(path, doc.Data)
	case gate.Absent:
		return packet.NoRegistry(path, whose+" has no registry at this path")
	case gate.NotRegular, gate.TooLarge, gate.Unreadable:
	}
	return packet.NoRegistry(path, "the registry of "+whose+" cannot be read: "+safetext.Clean(doc.Err.Error()))
}

// PacketReport is the report of one packet, but for its tool.
func PacketReport(p report.Project) *report.Report {
	rewordPacket(p, lint.Redact)
	rep := &report.Report{Projects: []report.Project{p}}
	rep.Finish()
	return rep
}

// rewordPacket changes what is said of a packet, but for the codes of its reasons.
// Reasons and findings stay the same.
func rewordPacket(p report.Project, change func(string) string) {
	reworded := map[string]string{}
	for i := range p.Packet.Reasons {
		r := &p.Packet.Reasons[i]
		code := r.Code + ": "
		reworded[r.Message] = code + change(strings.TrimPrefix(r.Message, code))
		r.Message = reworded[r.Message]
	}
	for _, l := range p.Layers {
		for i := range l.Findings {
			f := &l.Findings[i]
			if message, ok := reworded[f.Message]; ok && f.Severity == report.Error {
				f.Message = message
			} else {
				f.Message = change(f.Message)
			}
		}
	}
}
