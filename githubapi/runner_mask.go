package githubapi

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"slices"
	"strings"
)

// hidden stands where a secret was.
const hidden = "***"

// Masker replaces the token, and the Base64 form in which git's HTTP header
// carries it, by ***. Everything the program writes goes through it: the log,
// the summary, outputs, reports, request bodies, errors. The token is never
// announced with ::add-mask::; the runner masks it already, and elsewhere that
// line would be what publishes it. In what a renderer has escaped, a secret may be
// spelled otherwise: a report goes through it before it is rendered.
type Masker struct {
	secrets  []string // longest first
	replacer *strings.Replacer
}

// NewMasker makes a Masker for a token; with an empty one it changes nothing.
func NewMasker(token string) *Masker {
	m := &Masker{}
	if token != "" {
		m.secrets = []string{token, base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))}
		slices.SortFunc(m.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	var pairs []string
	for _, s := range m.secrets {
		pairs = append(pairs, s, hidden)
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

// String is s without secrets.
func (m *Masker) String(s string) string { return m.replacer.Replace(s) }

// Bytes is b without secrets; b itself when it has none.
func (m *Masker) Bytes(b []byte) []byte {
	for _, s := range m.secrets {
		if bytes.Contains(b, []byte(s)) {
			return []byte(m.replacer.Replace(string(b)))
		}
	}
	return b
}

// Writer passes on to w what it is given, without secrets, also where a secret
// comes in several writes. It holds back what may be the beginning of one:
// Flush before w is read or closed.
func (m *Masker) Writer(w io.Writer) *MaskWriter { return &MaskWriter{m: m, w: w} }

// MaskWriter is made by Masker.Writer. It is not for concurrent use.
type MaskWriter struct {
	m    *Masker
	w    io.Writer
	held []byte // what may be the beginning of a secret; shorter than one
}

// Write takes all of p, or fails with what the writer below says.
func (w *MaskWriter) Write(p []byte) (int, error) {
	if len(w.m.secrets) == 0 {
		return w.w.Write(p)
	}
	in := append(w.held, p...)
	out, rest := w.m.scan(in)
	w.held = append([]byte(nil), rest...)
	if _, err := w.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back.
func (w *MaskWriter) Flush() error {
	if len(w.held) == 0 {
		return nil
	}
	// Held back is a beginning of a secret, which may hold a whole other one.
	out := w.m.Bytes(w.held)
	w.held = nil
	_, err := w.w.Write(out)
	return err
}

// scan replaces what it can decide, and returns the rest: a beginning of some
// secret that the next write may complete.
func (m *Masker) scan(in []byte) (out, rest []byte) {
	out = make([]byte, 0, len(in))
next:
	for i := 0; i < len(in); {
		tail := in[i:]
		for _, s := range m.secrets {
			switch {
			case len(tail) >= len(s):
				if string(tail[:len(s)]) == s {
					out = append(out, hidden...)
					i += len(s)
					continue next
				}
			case strings.HasPrefix(s, string(tail)):
				return out, tail
			}
		}
		out = append(out, in[i])
		i++
	}
	return out, nil
}
