package parallel_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
)

func TestAPanicComesBackToWait(t *testing.T) {
	g, ctx := parallel.WithContext(context.Background())
	g.Go(func() error { panic("a bug") })
	g.Go(func() error { <-ctx.Done(); return ctx.Err() })
	defer func() {
		err, ok := recover().(error)
		if !ok || !strings.Contains(err.Error(), "a bug") || !strings.Contains(err.Error(), "parallel_test.go") {
			t.Errorf("recovered %v, want the panic with its stack", err)
		}
	}()
	t.Errorf("Wait gave %v and no panic", g.Wait())
}

func TestWithoutAPanicItIsAnErrgroup(t *testing.T) {
	want := errors.New("first")
	var g parallel.Group
	g.Go(func() error { return want })
	g.Go(func() error { return nil })
	if err := g.Wait(); !errors.Is(err, want) {
		t.Errorf("Wait gave %v, want %v", err, want)
	}
	var empty parallel.Group
	if err := empty.Wait(); err != nil {
		t.Errorf("an empty group gives %v", err)
	}
}

func TestEachRunsEveryNumberOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		times := make([]int, n)
		if err := parallel.Each(t.Context(), n, func(_ context.Context, i int) error {
			times[i]++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, k := range times {
			if k != 1 {
				t.Errorf("of %d, number %d ran %d times", n, i, k)
			}
		}
	}
}

func TestEachBeginsNoMoreAfterAnError(t *testing.T) {
	want := errors.New("first")
	var begun atomic.Int64
	err := parallel.Each(t.Context(), 1000, func(ctx context.Context, i int) error {
		if begun.Add(1); i == 0 {
			return want
		}
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, want) {
		t.Errorf("Each gave %v, want %v", err, want)
	}
	if n := begun.Load(); n > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d were begun", n)
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, n := range []int{0, 3} {
		if err := parallel.Each(ctx, n, func(context.Context, int) error {
			t.Error("one was begun")
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("of %d, Each gave %v", n, err)
		}
	}
}

func TestAPanicComesBackFromEach(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "a bug") {
			t.Errorf("recovered %v, want the panic", err)
		}
	}()
	_ = parallel.Each(t.Context(), 2, func(context.Context, int) error { panic("a bug") })
	t.Error("Each gave no panic")
}
