package lint

import "testing"

func TestRedact(t *testing.T) {
	key := "gh" + "p_" + "0aB1cD2eF3gH4iJ5kL6m"
	for _, c := range []struct{ in, want string }{
		{"nothing here", "nothing here"},
		{"use " + key + " here", "use *** here"},
		{"ask bob@corp.io\nor al@corp.io.", "ask b***@corp.io\nor a***@corp.io."},
		{"a_KEY=" + key + "x end", "a*** end"},
		{"gh" + "p_0aB1cD2e\u200bF3gH4iJ5kL6m", "***"},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
