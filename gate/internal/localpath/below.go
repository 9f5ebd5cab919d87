package localpath

import "path/filepath"

// Below gives the way from a folder to a path in it, with slashes: "." for the folder
// itself. Both are absolute; no link in them is followed.
func Below(dir, p string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, p)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
