package ecma

import (
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as JSON.stringify writes it: only the quotation mark,
// the backslash and U+0000 to U+001F are escaped, and all else stands as it is.
// What is not UTF-8 becomes U+FFFD, as Decode says.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if asItStands(s) {
		dst = append(dst, s...)
	} else {
		dst = appendEscaped(dst, []byte(Decode([]byte(s))))
	}
	return append(dst, '"')
}

// asItStands tells a string that is written as it is, as most are.
func asItStands(s string) bool {
	for i := range len(s) {
		if special[s[i]] {
			return false
		}
	}
	return utf8.ValidString(s)
}

// appendEscaped appends a part of a string with JSON.stringify's escapes. A
// surrogate that stands alone, three bytes here, is escaped as well.
func appendEscaped(dst, part []byte) []byte {
	from := 0
	for i := 0; i < len(part); i++ {
		c := part[i]
		if !special[c] {
			continue
		}
		if c == 0xed {
			u, ok := surrogate(part[i:])
			if !ok {
				continue
			}
			dst = append(dst, part[from:i]...)
			dst = append(dst, '\\', 'u', 'd', hexDigits[u>>8&0xf], hexDigits[u>>4&0xf], hexDigits[u&0xf])
			i += 2
			from = i + 1
			continue
		}
		dst = append(dst, part[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
	}
	return append(dst, part[from:]...)
}

// special are the bytes of a string that appendEscaped looks at: what is escaped,
// and the first byte of a surrogate.
var special = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'], t[0xed] = true, true, true
	return t
}()

// AppendSpelled appends a value of src in the layout of JSON.stringify(value,
// null, 2), every token spelled as src spells it: 1.50 stays 1.50, and members
// keep their order. The value begins on a line that is indented by level. It
// recurses as deep as the value is nested, so the caller limits the depth when
// it parses.
func AppendSpelled(dst, src []byte, v *jsondoc.Value, level int) []byte {
	switch {
	case v.Kind == jsondoc.Object && len(v.Members) > 0:
		dst = append(dst, '{')
		for i, m := range v.Members {
			dst = lineBreak(dst, i, level)
			dst = append(dst, src[m.KeyOff:m.KeyEnd]...)
			dst = append(dst, ": "...)
			dst = AppendSpelled(dst, src, m.Value, level+1)
		}
		return append(lineEnd(dst, level), '}')
	case v.Kind == jsondoc.Array && len(v.Items) > 0:
		dst = append(dst, '[')
		for i, item := range v.Items {
			dst = lineBreak(dst, i, level)
			dst = AppendSpelled(dst, src, item, level+1)
		}
		return append(lineEnd(dst, level), ']')
	case v.Kind == jsondoc.Object:
		return append(dst, "{}"...)
	case v.Kind == jsondoc.Array:
		return append(dst, "[]"...)
	}
	return append(dst, src[v.Off:v.End]...)
}

func lineBreak(dst []byte, i, level int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return lineEnd(dst, level+1)
}

func lineEnd(dst []byte, level int) []byte {
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, ' ', ' ')
	}
	return dst
}
