package ecma

import (
	"io"
	"unicode/utf8"
)

// Decoder decodes a text that comes in parts, as Decode does, and writes it on
// in parts that are UTF-8 and end between characters.
type Decoder struct {
	w     io.Writer
	held  []byte // a character that is not whole yet
	parts []byte
}

// NewDecoder makes a Decoder that writes to w.
func NewDecoder(w io.Writer) *Decoder { return &Decoder{w: w} }

// Reset begins another text, which is written to w.
func (d *Decoder) Reset(w io.Writer) { d.w, d.held = w, d.held[:0] }

// Write takes the next part of the text. The error is that of w.
func (d *Decoder) Write(p []byte) (int, error) {
	n := len(p)
	if len(d.held) > 0 {
		d.parts = append(append(d.parts[:0], d.held...), p...)
		p, d.held = d.parts, d.held[:0]
	}
	cut := len(p) - unfinished(p)
	if err := d.write(p[:cut]); err != nil {
		return 0, err
	}
	d.held = append(d.held, p[cut:]...)
	return n, nil
}

// Flush ends the text. The next Write begins another one.
func (d *Decoder) Flush() error {
	if len(d.held) == 0 {
		return nil
	}
	err := d.write(d.held)
	d.held = d.held[:0]
	return err
}

func (d *Decoder) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if !utf8.Valid(p) {
		p = []byte(Decode(p))
	}
	_, err := d.w.Write(p)
	return err
}

// unfinished is how many bytes at the end of p begin a character that could
// still be completed.
func unfinished(p []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
		tail := p[len(p)-k:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return k
		}
	}
	return 0
}
