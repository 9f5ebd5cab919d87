package githubapi

import (
	"cmp"
	"strings"
)

// version is a tag read as a semantic version (semver.org 2.0.0) behind a
// prefix of its own: "v" of v1.4.0, "api/v" of api/v1.4.0.
type version struct {
	prefix string
	core   [3]string // major, minor, patch: digits without leading zeros, of any length
	pre    []string  // identifiers of the pre-release; none for a release
}

// parseVersion reads a tag's name. The version begins where the longest end of
// the name is one, and the character before it is neither a digit nor a dot:
// 2.3.4 is not the version of v1.2.3.4. Floating tags (v1, v1.4) are none.
func parseVersion(tag string) (version, bool) {
	if len(tag) > maxTagName {
		return version{}, false
	}
	for i := range len(tag) {
		if !isDigit(tag[i]) || i > 0 && (isDigit(tag[i-1]) || tag[i-1] == '.') {
			continue
		}
		if v, ok := parseSemver(tag[i:]); ok {
			v.prefix = tag[:i]
			return v, true
		}
	}
	return version{}, false
}

// maxTagName bounds the work on one name; GitHub takes no longer ones.
const maxTagName = 255

func parseSemver(s string) (v version, ok bool) {
	s, build, hasBuild := strings.Cut(s, "+")
	if hasBuild && !identifiers(build, false) {
		return version{}, false
	}
	core, pre, hasPre := strings.Cut(s, "-")
	if hasPre {
		if !identifiers(pre, true) {
			return version{}, false
		}
		v.pre = strings.Split(pre, ".")
	}
	for i := range 3 {
		part, rest, more := strings.Cut(core, ".")
		if !isNumber(part) || len(part) > 1 && part[0] == '0' || more != (i < 2) {
			return version{}, false
		}
		v.core[i], core = part, rest
	}
	return v, true
}

// identifiers checks the dot-separated parts of a pre-release, where numbers
// have no leading zeros, or of build metadata.
func identifiers(s string, pre bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" || pre && isNumber(id) && len(id) > 1 && id[0] == '0' {
			return false
		}
		for i := range len(id) {
			if c := id[i]; !isDigit(c) && c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') {
				return false
			}
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// compare orders versions by precedence: -1 when v is lower than w. Prefix and
// build metadata do not count.
func (v version) compare(w version) int {
	for i := range v.core {
		if c := compareNumbers(v.core[i], w.core[i]); c != 0 {
			return c
		}
	}
	switch {
	case len(v.pre) == 0 && len(w.pre) == 0:
		return 0
	case len(v.pre) == 0:
		return 1
	case len(w.pre) == 0:
		return -1
	}
	for i := range min(len(v.pre), len(w.pre)) {
		a, b := v.pre[i], w.pre[i]
		c := 0
		switch x, y := isNumber(a), isNumber(b); {
		case x && y:
			c = compareNumbers(a, b)
		case x:
			c = -1
		case y:
			c = 1
		default:
			c = strings.Compare(a, b)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.pre), len(w.pre))
}

// compareNumbers compares decimal numbers without leading zeros, of any length.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// precedes tells whether a tag with version v may be the release before w: a
// lower version with the same prefix, a pre-release only before a pre-release.
func (v version) precedes(w version) bool {
	return v.prefix == w.prefix && (len(v.pre) == 0 || len(w.pre) > 0) && v.compare(w) < 0
}

// ReadTag reads a tag's name as a semantic version behind a prefix, "v" of v1.4.0.
// ok is false for a name that is none, as a floating tag.
func ReadTag(name string) (prefix, version string, ok bool) {
	v, ok := parseVersion(name)
	if !ok {
		return "", "", false
	}
	return v.prefix, name[len(v.prefix):], true
}
