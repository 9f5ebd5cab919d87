package run

import (
	"context"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/proc"
	"github.com/handoff-gate/handoff-gate/gate/trust"
)

// checkRunner runs the declared checks of a run, one after another. In the
// action it first takes from them what they could reach: the gate's own memory,
// its rights and its home folder (github-action.md 11).
type checkRunner struct {
	checkout *Checkout
	o        Options
	hardened bool
	homes    []func() error
}

// run runs the checks of one project in their order.
func (r *checkRunner) run(ctx context.Context, project string, checks []policy.DeclaredCheck) (map[string]trust.Outcome, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	dir := filepath.Join(r.checkout.Top, filepath.FromSlash(project))
	top := ""
	if r.checkout.Repo != nil {
		top = r.checkout.Top
	}
	env := proc.CheckEnv(r.o.Environ, top)
	var owner *proc.Owner
	if r.o.Contained {
		if !r.hardened {
			if r.checkout.Repo != nil {
				r.checkout.Repo.Offline()
			}
			if err := proc.HardenSelf(); err != nil {
				return nil, err
			}
			r.hardened = true
		}
		var err error
		if owner, err = proc.ProjectOwner(dir); err != nil {
			return nil, err
		}
		home, remove, err := proc.TempHome(owner)
		if err != nil {
			return nil, err
		}
		r.homes = append(r.homes, remove)
		env = proc.SetEnv(env, "HOME="+home)
	}
	outcomes := map[string]trust.Outcome{}
	for _, c := range checks {
		outcomes[c.ID] = trust.Outcome(proc.RunCheck(ctx, proc.CheckSpec{Argv: c.Run, Dir: dir, Env: env, Owner: owner, Timeout: r.o.CheckTimeout}))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// close removes the home folders.
func (r *checkRunner) close() {
	for _, remove := range r.homes {
		_ = remove() // what is left lies in the system's temporary folder
	}
}
