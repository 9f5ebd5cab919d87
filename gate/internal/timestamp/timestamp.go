// Package timestamp reads the one form of time that packets and ledgers are
// judged by (packets.md 3), RFC 3339 with an offset and nothing near it, and writes
// the times that this program records.
package timestamp

import (
	"strings"
	"time"
)

// maxFraction is how many digits of a second are read.
const maxFraction = 9

// Parse reads YYYY-MM-DDThh:mm:ss[.fraction] with Z or ±hh:mm; a small t is read
// as well. A time without an offset, a second 60 and more than nine digits of
// fraction are refused: the first would have to be guessed, and time.Parse takes
// forms that others do not (a comma for the point, one digit of the hour).
func Parse(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02T15:04:05Z") {
		return time.Time{}, false
	}
	for i := range len("2006-01-02T15:04:05") {
		c, ok := s[i], false
		switch i {
		case 4, 7:
			ok = c == '-'
		case 10:
			ok = c == 'T' || c == 't'
		case 13, 16:
			ok = c == ':'
		default:
			ok = digit(c)
		}
		if !ok {
			return time.Time{}, false
		}
	}
	rest := s[19:]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && digit(rest[n]) {
			n++
		}
		if n == 1 || n > maxFraction+1 {
			return time.Time{}, false
		}
		rest = rest[n:]
	}
	if rest != "Z" && !offset(rest) {
		return time.Time{}, false
	}
	// What is left to check is whether there is such a day and hour.
	t, err := time.Parse(time.RFC3339, s[:10]+"T"+s[11:])
	return t.UTC(), err == nil
}

// offset tells ±hh:mm with an hour of the day and a minute of the hour.
func offset(s string) bool {
	return len(s) == 6 && (s[0] == '+' || s[0] == '-') && s[3] == ':' &&
		digit(s[1]) && digit(s[2]) && digit(s[4]) && digit(s[5]) &&
		s[1:3] <= "23" && s[4:6] <= "59"
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// Format gives a time in UTC with what fraction of the second it has, as Parse
// reads it. The year must have four digits.
func Format(t time.Time) string {
	s := t.UTC().Format("2006-01-02T15:04:05.000000000")
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + "Z"
}

// FormatSeconds gives a time in UTC as Format does, without its fraction: the form of
// what is recorded, as not every reader takes nine digits of fraction.
func FormatSeconds(t time.Time) string { return Format(t.Truncate(time.Second)) }
