package parallel_test

import (
	"context"
	"errors"
	"strings"
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
	g.SetLimit(1)
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
