// Package localpath is about the paths of one machine: which give it away, and which
// lie in a folder.
package localpath

import "strings"

// Is tells whether a recorded path is one of somebody's machine (sessions.md
// 7.6): it begins with "/", "\", "~", a drive such as "C:/" or "C:\", or
// "file:".
func Is(p string) bool {
	if p == "" {
		return false
	}
	switch p[0] {
	case '/', '\\', '~':
		return true
	}
	letter := p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z'
	return letter && (strings.HasPrefix(p[1:], ":/") || strings.HasPrefix(p[1:], `:\`)) || strings.HasPrefix(p, "file:")
}
