package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/internal/wholefile"
	"github.com/handoff-gate/handoff-gate/gate/proc"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// files checks the inputs report and sarif before anything is judged: a report
// goes to a place in the workspace that no link leads to and that is neither
// git's nor tracked by it.
func (a *action) files(ctx context.Context) error {
	for _, f := range []struct{ input, path string }{{"report", a.in.Report}, {"sarif", a.in.SARIF}} {
		if f.path == "" {
			continue
		}
		if err := a.mayWrite(ctx, f.path); err != nil {
			return cannot("input %s: %s %s", f.input, safetext.Clean(f.path), err)
		}
	}
	return nil
}

func (a *action) mayWrite(ctx context.Context, file string) error {
	root, err := os.OpenRoot(a.env.Workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	if gate.InGit(file) {
		return errors.New("lies below .git")
	}
	if err := realPath(root, file); err != nil {
		return err
	}
	return a.notTracked(ctx, root, file)
}

// notTracked asks the repository that a file of the workspace lies in. That
// need not be the one under review: a workspace may hold several checkouts, and
// submodules.
func (a *action) notTracked(ctx context.Context, root *os.Root, file string) error {
	dir := path.Dir(file)
	for {
		if _, err := root.Lstat(path.Join(dir, ".git")); err == nil {
			break
		}
		if dir == "." {
			return nil // no repository, so git tracks nothing there
		}
		dir = path.Dir(dir)
	}
	rel := strings.TrimPrefix(file, dir+"/")
	repo, top := (*git.Repo)(nil), filepath.Join(a.env.Workspace, filepath.FromSlash(dir))
	if a.checkout != nil && a.checkout.Top == top {
		repo = a.checkout.Repo
	} else {
		var err error
		if repo, err = git.Open(ctx, git.Options{Dir: top, StartDir: top, Environ: a.p.Environ}); err != nil {
			return errors.New("lies in a repository that cannot be asked whether it tracks it")
		}
		defer repo.Close()
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return fmt.Errorf("cannot be looked up in git's index: %w", err)
	}
	if _, err := index.Stat(rel); err == nil {
		return errors.New("is tracked by git")
	}
	// What is tracked need not be there: a sparse checkout has only some of it.
	for p := path.Dir(rel); p != "."; p = path.Dir(p) {
		if e, err := index.Stat(p); err == nil && e.Kind != gate.Folder {
			return errors.New("lies below " + e.Kind.Article() + " that git tracks")
		}
	}
	return nil
}

// realPath makes sure that what is there of a path are real folders and, at its
// end, a regular file.
func realPath(root *os.Root, file string) error {
	at := ""
	for segment := range strings.SplitSeq(file, "/") {
		at = path.Join(at, segment)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return errors.New("cannot be looked at")
		case info.Mode()&fs.ModeSymlink != 0:
			return errors.New("is reached through a symbolic link")
		case at != file && !info.IsDir():
			return errors.New("lies below a file")
		case at == file && !info.Mode().IsRegular():
			return errors.New("is there and no regular file")
		}
	}
	return nil
}

// rendered is a report as it will stand in a file.
type rendered struct {
	input, path string
	output      *string // gets the path once the file is written
	data        []byte
	err         error
}

// render makes the reports that were asked for.
func (a *action) render(rep *report.Report) []rendered {
	var out []rendered
	for _, f := range []struct {
		input, path string
		output      *string
		render      func(io.Writer) error
	}{
		{"report", a.in.Report, &a.outputs.ReportPath, func(w io.Writer) error { return render.JSON(w, rep) }},
		{"sarif", a.in.SARIF, &a.outputs.SARIFPath, func(w io.Writer) error { return render.SARIF(w, rep, catalog.Rules()) }},
	} {
		if f.path == "" {
			continue
		}
		var b bytes.Buffer
		err := f.render(&b)
		out = append(out, rendered{f.input, f.path, f.output, a.mask.Bytes(b.Bytes()), err})
	}
	return out
}

// write writes the reports. A failure is a warning: the verdict stands.
func (a *action) write(files []rendered) {
	for _, f := range files {
		if f.err == nil {
			f.err = a.writeInside(f.path, f.data)
		}
		if f.err != nil {
			a.log.Message(report.Warning, fmt.Sprintf("The input %s is not served: %s", f.input, f.err))
			continue
		}
		*f.output = f.path
	}
}

// writeInside writes a file of the workspace, folders made as needed. A link that is
// put in its place meanwhile is replaced and not followed.
func (a *action) writeInside(file string, data []byte) error {
	root, err := os.OpenRoot(a.env.Workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := realPath(root, file); err != nil {
		return err
	}
	// What root makes there would break the next job's clean-up on a self-hosted
	// runner. Where it cannot be given away, the report is there all the same.
	owner, _ := proc.ProjectOwner(a.env.Workspace)
	give := func(name string) {
		if owner != nil {
			_ = root.Lchown(name, int(owner.UID), int(owner.GID))
		}
	}
	var above []string
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		above = append(above, dir)
	}
	for _, dir := range slices.Backward(above) {
		err := root.Mkdir(dir, 0o755)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err == nil {
			give(dir)
		}
	}
	folder, err := root.OpenRoot(path.Dir(file))
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := wholefile.Write(wholefile.InRoot(folder), path.Base(file), bytes.NewReader(data), wholefile.Options{Mode: 0o644}); err != nil {
		return err
	}
	give(file)
	return nil
}
