//go:build !linux

package proc

// HardenSelf does nothing here: PR_SET_DUMPABLE is Linux's.
func HardenSelf() error { return nil }
