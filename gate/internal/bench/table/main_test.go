package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	const output = `goos: linux
BenchmarkSmall-2   	      15	         5.000 git-processes	        20.38 ms	        50.00 ms-bound	         3.237 x-floor
BenchmarkNew/case=1-16 	 7	 93.96 ms	 1.300 x-bound	 1.301 x-floor
BenchmarkLarge/peak/ci-2           	       1	        64.00 MB-bound	        64.00 MB-peak
--- BENCH: BenchmarkLarge/peak/ci-2
    bench_test.go:7: a word about it
--- SKIP: BenchmarkAbsent
BenchmarkUnbounded 	 100	 12345 ns/op
PASS
`
	var out strings.Builder
	missed, err := run(strings.NewReader(output), &out)
	if err != nil || !missed {
		t.Errorf("missed %v, %v", missed, err)
	}
	for _, want := range []string{
		"one after another | 20 ms (3.2×) | 50 ms | ok |\n", "| New/case=1 |  | 1.30× | 1.30× | missed |\n", "|  | 64 MiB | 64 MiB | ok |\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 5 {
		t.Errorf("%d lines\n%s", n, out.String())
	}

	for name, output := range map[string]string{
		"a failed benchmark": output + "--- FAIL: BenchmarkLarge\n", "a package that does not build": "FAIL example.com/p [build failed]\n", "nothing": "PASS\n",
	} {
		if _, err := run(strings.NewReader(output), &strings.Builder{}); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}
