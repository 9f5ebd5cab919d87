package lint

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Order gives the byte order of a text that begins with a UTF-16 byte
// order mark; nil when it does not.
func utf16Order(text []byte) binary.ByteOrder {
	if len(text) < 2 {
		return nil
	}
	switch {
	case text[0] == 0xff && text[1] == 0xfe:
		return binary.LittleEndian
	case text[0] == 0xfe && text[1] == 0xff:
		return binary.BigEndian
	}
	return nil
}

// utf16Reader decodes a UTF-16 file as it streams past and scans the text, for
// a scan of its bytes cannot read it.
type utf16Reader struct {
	order binary.ByteOrder
	inner *Scanner
	half  []byte // of a code unit
	high  rune   // a high surrogate that waits for its low one
	bom   bool
	buf   []byte
}

// newUTF16Reader makes the reader for the file that outer reads.
func newUTF16Reader(order binary.ByteOrder, outer *Scanner) *utf16Reader {
	inner := NewScanner(outer.name, Options{Secrets: outer.opts.Secrets})
	inner.json, inner.inner, inner.encoded = false, true, true
	inner.buf = nil
	inner.scan.checks = outer.scan.checks
	return &utf16Reader{order: order, inner: inner}
}

func (u *utf16Reader) write(p []byte) {
	for len(p) > 0 {
		n := min(len(p), 32<<10)
		u.decode(p[:n])
		p = p[n:]
	}
}

func (u *utf16Reader) decode(p []byte) {
	u.buf = u.buf[:0]
	for len(p) > 0 {
		if need := 2 - len(u.half); len(p) < need || len(u.half) > 0 {
			need = min(need, len(p))
			u.half = append(u.half, p[:need]...)
			p = p[need:]
			if len(u.half) == 2 {
				u.unit(rune(u.order.Uint16(u.half)))
				u.half = u.half[:0]
			}
			continue
		}
		u.unit(rune(u.order.Uint16(p)))
		p = p[2:]
	}
	_, _ = u.inner.Write(u.buf)
}

// unit takes the next code unit. Lone surrogates read as U+FFFD.
func (u *utf16Reader) unit(c rune) {
	if !u.bom {
		u.bom = true // The byte order mark is not text.
		return
	}
	if u.high != 0 {
		high := u.high
		u.high = 0
		if r := utf16.DecodeRune(high, c); r != utf8.RuneError {
			u.buf = utf8.AppendRune(u.buf, r)
			return
		}
		u.buf = utf8.AppendRune(u.buf, utf8.RuneError)
	}
	if c >= 0xd800 && c < 0xdc00 {
		u.high = c
		return
	}
	u.buf = utf8.AppendRune(u.buf, c)
}

func (u *utf16Reader) finish() FileResult { return u.inner.Finish() }
