// Package gitledger keeps a packet ledger in the refs of a git repository: one
// here (`git:DIR`), or one behind a remote (`remote:URL-or-NAME`). Reading,
// making commits and the compare-and-swap are the steps of packets.md 9.
package gitledger

import (
	"context"

	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
)

// repository is a git.Store or a git.Remote.
type repository interface {
	Refs(ctx context.Context, refs ...string) (map[string]string, error)
	SoleFiles(ctx context.Context, name string, limit int64, commits ...string) (map[string][]byte, error)
	Commit(ctx context.Context, c git.SoleCommit) (string, error)
	SwapRef(ctx context.Context, ref, id, old string) error
}

// Local is the ledger in the repository in a folder.
func Local(s *git.Store) *ledger.Refs { return &ledger.Refs{Host: host{s}} }

// Remote is the ledger in a repository behind a remote.
func Remote(r *git.Remote) *ledger.Refs { return &ledger.Refs{Host: host{r}} }

// host is a repository as a ledger.Host.
type host struct{ repository }

// Read gives the refs that exist, each with the claim behind it.
func (h host) Read(ctx context.Context, refs []string) (map[string]ledger.Stored, error) {
	found, err := h.Refs(ctx, refs...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	commits := make([]string, 0, len(found))
	for _, id := range found {
		commits = append(commits, id)
	}
	files, err := h.SoleFiles(ctx, ledger.ClaimFile, ledger.MaxClaim, commits...)
	if err != nil {
		return nil, err
	}
	out := make(map[string]ledger.Stored, len(found))
	for ref, id := range found {
		out[ref] = ledger.Stored{ID: id, Claim: files[id]}
	}
	return out, nil
}

// Commit makes the commit of a claim.
func (h host) Commit(ctx context.Context, c ledger.Commit) (string, error) {
	return h.repository.Commit(ctx, git.SoleCommit{
		Name: ledger.ClaimFile, Data: c.Claim, Parent: c.Parent, When: c.When, Description: c.Description,
		Author: ledger.Author, Email: ledger.Email,
	})
}

// Write swaps the ref.
func (h host) Write(ctx context.Context, ref, id, old string) error {
	return h.SwapRef(ctx, ref, id, old)
}
