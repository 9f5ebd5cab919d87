package ecma

import (
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as JSON.stringify writes it: only the quotation mark,
// the backslash and U+0000 to U+001F are escaped, and all else stands as it is.
// What is not UTF-8 becomes U+FFFD, as Decode says.
func AppendString(dst []byte, s string) []byte {
	s = Decode([]byte(s))
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
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
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

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
