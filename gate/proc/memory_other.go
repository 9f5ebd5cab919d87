//go:build !linux

package proc

import "os"

// limitMemory does nothing here: only Linux lets a process limit another one.
func limitMemory(*os.Process, uint64) {}
