package plural

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct {
		n          int
		noun, want string
	}{{0, "row", "0 rows"}, {1, "row", "1 row"}, {2, "row", "2 rows"}, {1, "branch", "1 branch"}, {3, "branch", "3 branches"}, {1, "entry", "1 entry"}, {0, "entry", "0 entries"}} {
		if got := Of(c.n, c.noun); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestAre(t *testing.T) {
	for n, want := range map[int]string{0: "are", 1: "is", 2: "are"} {
		if got := Are(n); got != want {
			t.Errorf("%d %s", n, got)
		}
	}
}
