// Package parallel is errgroup whose panics come back to whoever waits: a bug in
// a goroutine would otherwise end the program at once, with no outputs written
// and a check run left in progress, which blocks a merge for ever.
package parallel

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Group runs functions side by side; its zero value is ready. See
// errgroup.Group.
type Group struct {
	group *errgroup.Group
	once  sync.Once

	mu       sync.Mutex
	panicked error
}

// WithContext gives a Group and a context that ends with the first error or
// panic, or when Wait returns.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group: group}, ctx
}

func (g *Group) init() {
	g.once.Do(func() {
		if g.group == nil {
			g.group = &errgroup.Group{}
		}
	})
}

// Go runs f in a goroutine.
func (g *Group) Go(f func() error) {
	g.init()
	g.group.Go(func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v\n%s", r, debug.Stack())
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.panicked == nil {
					g.panicked = err
				}
			}
		}()
		return f()
	})
}

// SetLimit bounds how many functions run at once.
func (g *Group) SetLimit(n int) {
	g.init()
	g.group.SetLimit(n)
}

// Wait waits for all functions and gives the first error. It panics where one
// of them did; the value is an error with that goroutine's stack.
func (g *Group) Wait() error {
	g.init()
	err := g.group.Wait()
	if g.panicked != nil {
		panic(g.panicked)
	}
	return err
}
