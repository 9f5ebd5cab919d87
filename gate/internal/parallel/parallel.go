// Package parallel is errgroup whose panics come back to whoever waits: a bug in
// a goroutine would otherwise end the program at once, with no outputs written
// and a check run left in progress, which blocks a merge for ever.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

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

// Each runs f for every number below n, as many of them side by side as there are
// processors, and gives the first error. Once there is one, or ctx ends, no more are
// begun: its error is then that of ctx. The goroutines are the same for all numbers,
// as a new one for each would have its stack grown, step by step, each time.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if err := ctx.Err(); err != nil {
		return err // also where there is nothing to run
	}
	g, ctx := WithContext(ctx)
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			for {
				if err := ctx.Err(); err != nil {
					return err
				}
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := f(ctx, i); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}
