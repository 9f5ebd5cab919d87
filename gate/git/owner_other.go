//go:build !unix

package git

import "context"

// giveBack does nothing: there is no root whose files would be in the way.
func (r *Repo) giveBack(context.Context) {}
