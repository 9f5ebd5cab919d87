package timestamp

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // want in UTC; "" is refused
		{"2026-10-02T12:00:00Z", "2026-10-02T12:00:00Z"},
		{"2026-10-02t12:00:00Z", "2026-10-02T12:00:00Z"},
		{"2026-10-02T13:30:00+02:00", "2026-10-02T11:30:00Z"},
		{"2026-10-02T10:30:00-02:00", "2026-10-02T12:30:00Z"},
		{"2026-10-02T12:00:00-00:00", "2026-10-02T12:00:00Z"},
		{"2026-10-02T12:00:00.5Z", "2026-10-02T12:00:00.5Z"},
		{"2026-10-02T12:00:00.123456789+00:00", "2026-10-02T12:00:00.123456789Z"},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
		{"2026-10-02T12:00:00", ""},             // no offset
		{"2026-10-02", ""},                      // no time
		{"2026-10-02 12:00:00Z", ""},            // no T
		{"2026-10-02T12:00:00z", ""},            // only T may be small
		{"2026-10-02T12:00:60Z", ""},            // a leap second
		{"2026-10-02T24:00:00Z", ""},            //
		{"2026-02-29T00:00:00Z", ""},            // no such day
		{"2026-13-01T00:00:00Z", ""},            //
		{"2026-10-02T12:00Z", ""},               //
		{"2026-10-02T1:00:00Z", ""},             //
		{"2026-10-02T12:00:00,5Z", ""},          // time.Parse takes it
		{"2026-10-02T12:00:00.Z", ""},           //
		{"2026-10-02T12:00:00.1234567890Z", ""}, // ten digits
		{"2026-10-02T12:00:00+0200", ""},        //
		{"2026-10-02T12:00:00+02", ""},          //
		{"2026-10-02T12:00:00+24:00", ""},       //
		{"2026-10-02T12:00:00+00:60", ""},       //
		{"2026-10-02T12:00:00Z ", ""},           //
		{" 2026-10-02T12:00:00Z", ""},           //
		{"20261002T120000Z", ""},                //
		{"2026-10-02T12:00:00Z+00:00", ""},      //
		{"+2026-10-02T12:00:00Z", ""},           //
		{"２026-10-02T12:00:00Z", ""},            // digits of another script
		{"", ""},
	} {
		got, ok := Parse(c.in)
		if ok != (c.want != "") || ok && Format(got) != c.want {
			t.Errorf("Parse(%q) = %v, %v, want %q", c.in, got, ok, c.want)
		}
	}
}

// FuzzParse: whatever is read is read the same by time.Parse, and written back
// in the one form that is read again.
func FuzzParse(f *testing.F) {
	f.Add("2026-10-02T12:00:00.5+02:00")
	f.Add("2026-10-02t12:00:00Z")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := Parse(s)
		if !ok {
			return
		}
		want, err := time.Parse(time.RFC3339, s[:10]+"T"+s[11:])
		if err != nil || !got.Equal(want) {
			t.Fatalf("%q is read as %v, time.Parse says %v, %v", s, got, want, err)
		}
		if y := got.Year(); y < 0 || y > 9999 {
			return // an offset took it out of what the form can hold
		}
		if again, ok := Parse(Format(got)); !ok || !again.Equal(got) {
			t.Fatalf("%q is written as %q, which is not read back", s, Format(got))
		}
	})
}

func TestFormatSeconds(t *testing.T) {
	at := time.Date(2026, 10, 2, 14, 0, 0, 999_999_999, time.FixedZone("", 2*60*60))
	if got := FormatSeconds(at); got != "2026-10-02T12:00:00Z" {
		t.Errorf("got %s", got)
	}
}
