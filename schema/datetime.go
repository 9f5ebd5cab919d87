package schema

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

var errDateTime = errors.New("not a date and time with a time zone")

// checkDateTime is the format date-time as AAHP's own validator reads it: the
// built-in format of the library knows neither a blank in place of the T nor
// the offsets +02 and +0200. Values that are no strings pass.
func checkDateTime(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	if _, ok := ParseDateTime(s); !ok {
		return errDateTime
	}
	return nil
}

// ParseDateTime reads a date-time of an AAHP document (aahp-schemas.md 1):
// RFC 3339, with any one white-space character allowed in place of the T, either
// letter in either case, and an offset as +02, +0200 or +02:00. The day must
// exist, and second 60 only where the instant is 23:59:60 UTC; it reads as the
// second after. Digits of a fraction beyond the ninth are dropped.
func ParseDateTime(s string) (t time.Time, ok bool) {
	r := reader{s: s, ok: true}
	year := r.number(4)
	r.one("-")
	month := r.number(2)
	r.one("-")
	day := r.number(2)
	r.separator()
	hour := r.number(2)
	r.one(":")
	minute := r.number(2)
	r.one(":")
	second := r.number(2)
	nanos := r.fraction()
	offset := r.offset() // minutes east of UTC
	if !r.ok || r.s != "" {
		return time.Time{}, false
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, false
	}
	if second == 60 {
		if utc := ((hour*60+minute-offset)%1440 + 1440) % 1440; utc != 1439 {
			return time.Time{}, false
		}
	}
	return time.Date(year, time.Month(month), day, hour, minute-offset, second, nanos, time.UTC), true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// reader takes a date-time apart from its front. After the first failure ok is
// false and nothing else counts.
type reader struct {
	s  string
	ok bool
}

// number takes exactly n ASCII digits.
func (r *reader) number(n int) int {
	if len(r.s) < n {
		r.ok = false
		return 0
	}
	v := 0
	for i := range n {
		c := r.s[i]
		if c < '0' || c > '9' {
			r.ok = false
			return 0
		}
		v = v*10 + int(c-'0')
	}
	r.s = r.s[n:]
	return v
}

// one takes one byte out of set and gives it.
func (r *reader) one(set string) byte {
	if r.s == "" || strings.IndexByte(set, r.s[0]) < 0 {
		r.ok = false
		return 0
	}
	c := r.s[0]
	r.s = r.s[1:]
	return c
}

func (r *reader) separator() {
	c, n := utf8.DecodeRuneInString(r.s)
	if c != 'T' && c != 't' && !Blank(c) {
		r.ok = false
		return
	}
	r.s = r.s[n:]
}

// fraction takes a fraction of a second, if there is one, as nanoseconds.
func (r *reader) fraction() int {
	if !strings.HasPrefix(r.s, ".") {
		return 0
	}
	digits := len(r.s) - 1 - len(strings.TrimLeft(r.s[1:], "0123456789"))
	if digits == 0 {
		r.ok = false
		return 0
	}
	nanos := 0
	for i := range 9 {
		nanos *= 10
		if i < digits {
			nanos += int(r.s[1+i] - '0')
		}
	}
	r.s = r.s[1+digits:]
	return nanos
}

func (r *reader) offset() (minutes int) {
	c := r.one("Zz+-")
	if c != '+' && c != '-' {
		return 0
	}
	hour, minute := r.number(2), 0
	if r.s != "" {
		if r.s[0] == ':' {
			r.s = r.s[1:]
		}
		minute = r.number(2)
	}
	if hour > 23 || minute > 59 {
		r.ok = false
	}
	minutes = hour*60 + minute
	if c == '-' {
		return -minutes
	}
	return minutes
}

// Blank tells whether c is white space to AAHP, whose tools have ECMAScript's
// idea of it (aahp-authoring.md 1): without U+0085, with U+FEFF.
func Blank(c rune) bool {
	switch {
	case c >= '\t' && c <= '\r', c == ' ', c == 0xa0, c == 0x1680, c >= 0x2000 && c <= 0x200a,
		c == 0x2028, c == 0x2029, c == 0x202f, c == 0x205f, c == 0x3000, c == 0xfeff:
		return true
	}
	return false
}
