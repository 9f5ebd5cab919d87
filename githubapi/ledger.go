package githubapi

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
)

// NewLedger is the packet ledger in the refs of o.Repository, through the Git
// database API (packets.md 9, column github:). o.Timeout is not used: a ledger is
// part of the verdict and has a time of its own, ledger.Wait for each packet.
func NewLedger(o Options) (*ledger.Refs, error) {
	o.Timeout = noBudget
	c, err := NewClient(o)
	if err != nil {
		return nil, err
	}
	return &ledger.Refs{Host: claims{c}}, nil
}

// noBudget leaves the bound to the deadline of each call's context.
const noBudget = 365 * 24 * time.Hour

// claims is a repository at GitHub as a ledger.Host.
type claims struct{ *Client }

// Read asks for each ref by git/matching-refs, whose answer shows that there is
// none: git/ref answers 404 for that and for "no access" alike.
func (c claims) Read(ctx context.Context, refs []string) (map[string]ledger.Stored, error) {
	if !c.token {
		return nil, errNoToken
	}
	found := map[string]ledger.Stored{}
	for _, ref := range refs {
		id, there, err := c.ref(ctx, ref)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		stored := ledger.Stored{ID: id}
		if id != "" {
			if stored.Claim, err = c.claim(ctx, id); err != nil {
				return nil, err
			}
		}
		found[ref] = stored
	}
	return found, nil
}

// ref gives the commit that a ref names; "" when it names something else.
func (c claims) ref(ctx context.Context, name string) (id string, there bool, err error) {
	err = pages(func(page github.ListOptions) (int, error) {
		list, resp, err := c.gh.Git.ListMatchingRefs(ctx, c.owner, c.name, &github.ReferenceListOptions{
			Ref: strings.TrimPrefix(name, "refs/"), ListOptions: page,
		})
		if err != nil {
			return 0, c.failed(resp, err)
		}
		for _, ref := range list {
			if ref.GetRef() != name {
				continue // a longer name that begins with this one
			}
			there = true
			if o := ref.GetObject(); o.GetType() == "commit" && fullID.MatchString(o.GetSHA()) {
				id = o.GetSHA()
			}
			return 0, nil
		}
		return resp.NextPage, nil
	})
	return id, there, err
}

// claim reads the claim.json of a commit; nil when its tree holds anything else.
func (c claims) claim(ctx context.Context, commit string) ([]byte, error) {
	made, resp, err := c.gh.Git.GetCommit(ctx, c.owner, c.name, commit)
	if err := c.failed(resp, err); err != nil {
		return nil, err
	}
	id := made.GetTree().GetSHA()
	if !fullID.MatchString(id) {
		return nil, unreadable("git/commits", "a commit without a tree")
	}
	tree, resp, err := c.gh.Git.GetTree(ctx, c.owner, c.name, id, false)
	if err := c.failed(resp, err); err != nil {
		return nil, err
	}
	if len(tree.Entries) != 1 {
		return nil, nil
	}
	e := tree.Entries[0]
	if e.GetPath() != ledger.ClaimFile || e.GetMode() != "100644" || e.GetType() != "blob" || !fullID.MatchString(e.GetSHA()) || e.GetSize() > ledger.MaxClaim {
		return nil, nil
	}
	blob, resp, err := c.gh.Git.GetBlob(ctx, c.owner, c.name, e.GetSHA())
	if err := c.failed(resp, err); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(blob.GetContent(), "\n", ""))
	if err != nil || blob.GetEncoding() != "base64" || blob.Content == nil {
		return nil, unreadable("git/blobs", "a blob that is not base64")
	}
	return data, nil
}

// Commit makes the tree with its file inline, and the commit. Made twice after a
// lost answer, they are one object, or one that nothing names.
func (c claims) Commit(ctx context.Context, claim ledger.Commit) (string, error) {
	if !c.token {
		return "", errNoToken
	}
	tree, resp, err := c.gh.Git.CreateTree(ctx, c.owner, c.name, "", []*github.TreeEntry{{
		Path: github.String(ledger.ClaimFile), Mode: github.String("100644"), Type: github.String("blob"), Content: github.String(string(claim.Claim)),
	}})
	if err := c.failed(resp, err); err != nil {
		return "", err
	}
	who := &github.CommitAuthor{Name: github.String(ledger.Author), Email: github.String(ledger.Email), Date: &github.Timestamp{Time: dated(claim.When)}}
	commit := &github.Commit{
		Message: github.String(claim.Description), Tree: &github.Tree{SHA: tree.SHA}, Author: who, Committer: who,
	}
	if claim.Parent != "" {
		commit.Parents = []*github.Commit{{SHA: github.String(claim.Parent)}}
	}
	made, resp, err := c.gh.Git.CreateCommit(ctx, c.owner, c.name, commit, nil)
	if err := c.failed(resp, err); err != nil {
		return "", err
	}
	if !fullID.MatchString(made.GetSHA()) {
		return "", &CallError{Method: http.MethodPost, Path: "git/commits", Cause: Unreadable, Status: resp.StatusCode, Message: "a commit without an id", Tries: 1}
	}
	return made.GetSHA(), nil
}

// dated keeps a date within the years that git takes.
func dated(t time.Time) time.Time {
	switch y := t.UTC().Year(); {
	case y < 1970:
		return time.Unix(0, 0).UTC()
	case y > 2099:
		return time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	return t.UTC().Truncate(time.Second)
}

// Write creates the ref, or moves it forward. Each is sent once: after a lost
// answer the ref must be looked at before another try.
func (c claims) Write(ctx context.Context, ref, id, old string) error {
	if !c.token {
		return errNoToken
	}
	body := &github.Reference{Ref: github.String(ref), Object: &github.GitObject{SHA: github.String(id)}}
	var err error
	var resp *github.Response
	if old == "" {
		_, resp, err = c.gh.Git.CreateRef(sent(ctx, once), c.owner, c.name, body)
	} else {
		_, resp, err = c.gh.Git.UpdateRef(sent(ctx, once), c.owner, c.name, body, false)
	}
	if err := c.failed(resp, err); err != nil {
		return fmt.Errorf("the ref was not written: %w", err)
	}
	return nil
}
