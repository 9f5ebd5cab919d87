package drift

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"strconv"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// lockOptions read a lock file, a manifest or a part of one: strictly, with a
// limit on nesting far above what npm writes.
var lockOptions = jsondoc.Options{MaxDepth: 1000}

// maxLockKeys bounds the keys of a lock file. npm writes some ten for each of
// at most a few ten thousand packages; a hostile file of 256 MiB could hold
// enough to fill the memory.
const maxLockKeys = 8 << 20

// member is one member of an object in a text, by place.
type member struct {
	key      string
	keyOff   int
	off, end int // of the value
	kind     jsondoc.Kind
}

func (m member) value(src []byte) []byte { return src[m.off:m.end] }

// lock is a package-lock.json by the places of its parts. The text is read once
// as a stream: a tree of a large lock would take many times its size.
type lock struct {
	src      []byte
	top      []member // without packages
	packages []member
}

// lockError says why a text is no lock file of version 3, and where.
type lockError struct {
	off     int
	message string
}

func (e *lockError) Error() string { return e.message }

// readLock finds the parts of a lock file and checks row 3 of the table. The
// message of what is bad holds no outside text.
func readLock(src []byte) (l *lock, bad *lockError) {
	l = &lock{src: src}
	top, bad := members(src, func(m member) { l.packages = append(l.packages, m) })
	if bad != nil {
		return nil, bad
	}
	version, packages := false, false
	for _, m := range top {
		switch m.key {
		case "packages":
			if m.kind != jsondoc.Object {
				return nil, &lockError{m.off, "packages is not an object"}
			}
			packages = true
			continue
		case "lockfileVersion":
			n, err := strconv.ParseFloat(string(m.value(src)), 64)
			if m.kind != jsondoc.Number || err != nil || n != 3 {
				return nil, &lockError{m.off, "lockfileVersion is not the number 3"}
			}
			version = true
		}
		l.top = append(l.top, m)
	}
	switch {
	case !packages:
		return nil, &lockError{0, "it has no packages"}
	case !version:
		return nil, &lockError{0, "it has no lockfileVersion"}
	}
	return l, nil
}

// members gives the members of the object that src holds. Those of its member
// "packages", where that is an object, go to inPackages (nil: not wanted).
func members(src []byte, inPackages func(member)) (top []member, bad *lockError) {
	var cur, sub member
	keys := 0
	open := false // inside packages
	end := func(t jsondoc.Token) {
		switch {
		case t.Depth == 1:
			cur.end = t.End
			top = append(top, cur)
			open = false
		case t.Depth == 2 && open:
			sub.end = t.End
			inPackages(sub)
		}
	}
	err := jsondoc.Scan(src, lockOptions, func(t jsondoc.Token) error {
		switch depth := t.Depth; {
		case t.Kind == jsondoc.Key:
			if keys++; keys > maxLockKeys {
				return &lockError{t.Off, fmt.Sprintf("it has more than %d keys", maxLockKeys)}
			}
			if depth == 1 {
				cur = member{key: t.Text(src), keyOff: t.Off}
			} else if depth == 2 && open {
				sub = member{key: t.Text(src), keyOff: t.Off}
			}
			return nil
		case t.Closes():
			end(t)
			return nil
		case depth == 0 && t.Kind != jsondoc.Object:
			return &lockError{t.Off, "it is not an object"}
		case depth == 1:
			cur.off, cur.kind = t.Off, t.Kind
			open = inPackages != nil && cur.key == "packages" && t.Kind == jsondoc.Object
		case depth == 2 && open:
			sub.off, sub.kind = t.Off, t.Kind
		}
		if t.Kind != jsondoc.Object && t.Kind != jsondoc.Array {
			end(t)
		}
		return nil
	})
	var syntax *jsondoc.Error
	switch {
	case err == nil:
		return top, nil
	case errors.As(err, &bad):
		return nil, bad
	case errors.As(err, &syntax):
		return nil, &lockError{syntax.Offset, syntax.Error()}
	}
	return nil, &lockError{0, "it cannot be read"}
}

// same compares two values of sound documents as JSON values with their order
// of keys: strings decoded, numbers as binary64.
func same(a, b []byte) bool {
	return bytes.Equal(a, b) || canonical(a, "") == canonical(b, "")
}

// canonical is a digest that two values share exactly when they are the same.
// Of an object's member named skip only the key counts ("": none is skipped).
func canonical(src []byte, skip string) (sum [sha256.Size]byte) {
	h := sha256.New()
	var num [9]byte
	skipping := false
	err := jsondoc.Scan(src, lockOptions, func(t jsondoc.Token) error {
		if !skipping {
			switch t.Kind {
			case jsondoc.Key, jsondoc.String:
				text(h, t, src)
			case jsondoc.Number:
				f, _ := strconv.ParseFloat(string(src[t.Off:t.End]), 64)
				if f == 0 {
					f = 0 // of the two zeros one
				}
				num[0] = byte(t.Kind)
				binary.BigEndian.PutUint64(num[1:], math.Float64bits(f))
				h.Write(num[:])
			default:
				h.Write([]byte{byte(t.Kind)})
			}
		}
		switch t.Kind {
		case jsondoc.Object, jsondoc.Array:
			return nil
		case jsondoc.Key:
			if t.Depth == 1 && skip != "" && !skipping {
				skipping = t.Text(src) == skip
			}
			return nil
		case jsondoc.ObjectEnd, jsondoc.ArrayEnd, jsondoc.String, jsondoc.Number, jsondoc.True, jsondoc.False, jsondoc.Null:
		}
		if t.Depth == 1 {
			skipping = false // a member's value has ended
		}
		return nil
	})
	if err != nil {
		// Only sound documents come here. Should another, it equals nothing.
		h.Write([]byte(err.Error()))
		h.Write(src)
	}
	h.Sum(sum[:0])
	return sum
}

// text writes a key or string so that no two texts give the same bytes.
func text(h hash.Hash, t jsondoc.Token, src []byte) {
	s := src[t.Off+1 : t.End-1]
	if t.Escaped {
		s = []byte(t.Text(src))
	}
	var head [9]byte
	head[0] = byte(t.Kind)
	binary.BigEndian.PutUint64(head[1:], uint64(len(s)))
	h.Write(head[:])
	h.Write(s)
}
