package strict

import (
	"errors"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// code gives the code of an error, or "".
func code(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
	if e.Error() == "" || e.Line < 1 || strings.ContainsAny(e.Error(), "\n\r\x00") {
		t.Errorf("error %+v has no sentence of one line", e)
	}
	return e.Code
}

// One reason is reported: the first that is met from left to right.
func TestRefused(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", Unreadable},
		{"byte order mark", "\xef\xbb\xbf{}", Unreadable},
		{"two values", "{} {}", Unreadable},
		{"a raw control character", "\"a\tb\"", Unreadable},
		{"invalid UTF-8", "\"\xff\"", Unreadable},
		{"UTF-16", "\xff\xfe{\x00}\x00", Unreadable},
		{"a comment", "{} // x", Unreadable},
		{"a trailing comma", "[1,]", Unreadable},
		{"deeper than 64", deep(65), Unreadable},
		{"deeper than 64 in an object", `{"a":` + deep(64) + "}", Unreadable},
		{"a digit too many", strings.Repeat("9", 4301), Unreadable},
		{"a digit too many, negative", "-" + strings.Repeat("9", 4301), Unreadable},
		{"too large", strings.Repeat(" ", 1<<20) + "1", Unreadable},
		{"NaN", `{"a":NaN}`, NonFinite},
		{"Infinity", `[Infinity]`, NonFinite},
		{"-Infinity", `-Infinity`, NonFinite},
		{"overflow", `1e999`, NonFinite},
		{"overflow with a fraction", strings.Repeat("9", 310) + ".0", NonFinite},
		{"a lone high surrogate", `"\ud800"`, LoneSurrogate},
		{"a lone low surrogate in a key", `{"\udc00":1}`, LoneSurrogate},
		{"surrogates in the wrong order", `"\udc00\ud800"`, LoneSurrogate},
		{"a repeated key", `{"a":1,"a":1}`, "duplicate_field:a"},
		{"a repeated key, one of them escaped", `{"from":1,"\u0066rom":2}`, "duplicate_field:from"},
		{"a repeated key deep inside", `{"x":[{"y":{"b":1,"b":2}}]}`, "duplicate_field:b"},
		{"a repeated empty key", `{"":1,"":2}`, "duplicate_field:"},
		{"a repeated key with control characters", `{"a\n\u202e":1,"a\n\u202e":2}`, `duplicate_field:a\u000a\u202e`},
		{"a repeated key of 64 characters", `{"` + strings.Repeat("é", 64) + `":1,"` + strings.Repeat("é", 64) + `":1}`, "duplicate_field:" + strings.Repeat("é", 64)},
		{"a repeated key of 65 characters", `{"` + strings.Repeat("é", 65) + `":1,"` + strings.Repeat("é", 65) + `":1}`, "duplicate_field:" + strings.Repeat("é", 61) + "..."},

		{"a surrogate before NaN", `["\ud800",NaN]`, LoneSurrogate},
		{"NaN before a surrogate", `[NaN,"\ud800"]`, NonFinite},
		{"a repeated key before the end that is missing", `{"a":1,"a":`, "duplicate_field:a"},
		{"an inner repetition before the outer one", `{"a":{"b":1,"b":2},"a":3}`, "duplicate_field:b"},
		{"bad syntax before a repeated key", `{"a":1 "a":2}`, Unreadable},
		{"the size before everything", `{"a":1,"a":2,` + strings.Repeat(" ", 1<<20) + `NaN}`, Unreadable},

		{"as deep as allowed", deep(64), ""},
		{"a scalar does not count", strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64), ""},
		{"as many digits as allowed", "-" + strings.Repeat("9", 4300), ""},
		{"a long literal that is no integer", "0." + strings.Repeat("1", 5000), ""},
		{"an integer beyond binary64", "1" + strings.Repeat("0", 400), ""},
		{"too small is zero", "1e-999", ""},
		{"the largest size", strings.Repeat(" ", 1<<20-1) + "1", ""},
		{"equal keys of two objects", `[{"a":1},{"a":1}]`, ""},
		{"keys that differ in case or normal form", "{\"a\":1,\"A\":2,\"\u00e9\":3,\"e\u0301\":4}", ""},
		{"a pair of surrogates", `"\ud83d\ude00"`, ""},
		{"a scalar alone", "0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []Input{Packet, Registry, Ledger, Key} {
				want := tt.want
				switch {
				case strings.Contains(tt.name, "size") || strings.Contains(tt.name, "large"):
					if in == Registry || in == Ledger {
						continue
					}
				case want == "":
				case in == Registry:
					want = RegistryUnreadable
				case in == Ledger:
					want = LedgerCorrupt
				}
				_, err := Parse(in, []byte(tt.src))
				if got := code(t, err); got != want {
					t.Errorf("the %s: %q, want %q", in, got, want)
				}
				if got := code(t, Scan(in, []byte(tt.src), func(jsondoc.Token) error { return nil })); got != want {
					t.Errorf("the %s, scanned: %q, want %q", in, got, want)
				}
			}
		})
	}
}

func TestSizes(t *testing.T) {
	for in, size := range map[Input]int64{Packet: 1 << 20, Key: 1 << 20, Registry: 4 << 20} {
		if in.MaxBytes() != size {
			t.Errorf("a %s may have %d bytes, want %d", in, in.MaxBytes(), size)
		}
		doc := []byte(strings.Repeat(" ", int(size)-2) + "{}")
		if _, err := Parse(in, doc); err != nil {
			t.Errorf("the largest %s: %v", in, err)
		}
		if _, err := Parse(in, append(doc, ' ')); err == nil {
			t.Errorf("a %s of one byte more is read", in)
		}
	}
	if Ledger.MaxBytes() != 256<<20 {
		t.Errorf("a ledger may have %d bytes", Ledger.MaxBytes())
	}
}

// A refusal names the line, and of the document's text only the repeated key.
func TestErrorSaysWhere(t *testing.T) {
	_, err := Parse(Packet, []byte("{\n  \"secret\": 1,\n  \"se\\u0063ret\": 2\n}"))
	var e *Error
	if !errors.As(err, &e) || e.Line != 3 || e.Error() != `an object has the key "secret" twice (line 3)` {
		t.Errorf("got %+v", e)
	}
	if _, err := Parse(Key, []byte(`{"private_key": hunter2}`)); err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("got %v", err)
	}
}

func TestScanGivesTheVisitorsError(t *testing.T) {
	stop := errors.New("enough")
	if err := Scan(Ledger, []byte(`{"a":1}`), func(jsondoc.Token) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestIsInteger(t *testing.T) {
	doc, err := Parse(Packet, []byte(`[0, -0, 12345678901234567890, 1.0, 1e3, 1E3, "1", null]`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, true, false, false, false, false, false} {
		if got := IsInteger(doc.Root.Items[i]); got != want {
			t.Errorf("item %d: %v", i, got)
		}
	}
	if IsInteger(nil) {
		t.Error("nothing is no integer")
	}
}
