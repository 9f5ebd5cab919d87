package lint

import (
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
)

// Input is what Check judges: one project in all the snapshots of its level.
type Input struct {
	Project  string    // from the repository's top level; "." for the top level itself
	Today    time.Time // the clock; its UTC date counts
	Commands gate.Commands

	Snapshots []Snapshot

	// BranchLocks names the local branches whose tip holds the project's lock
	// file, in any order. BranchErr says why git could not tell; both are empty
	// outside a repository.
	BranchLocks []string
	BranchErr   error
}

// Snapshot is what was read of one tree.
type Snapshot struct {
	Name  string       // of the tree, such as gate.WorkingTree
	Files []FileResult // every regular file below the handoff folder that was read to its end

	// Lock tells whether anything of the name LockFile stands directly in the
	// handoff folder: a file, a link or a folder.
	Lock bool

	// Unscannable lists what stands below the handoff folder and was not read:
	// paths relative to it.
	Unscannable []Problem

	// Reported holds the paths, relative to the handoff folder, for which
	// integrity/not-regular or integrity/unverifiable was reported in this
	// snapshot: lint/unscannable is silent about them.
	Reported map[string]bool

	// Markers are the tracked (or walked) files outside the handoff folder that
	// hold a marker: paths from the repository's top level.
	Markers []TreeMarkers

	// TreeProblems are the files of that list which could not be read (paths
	// from the repository's top level), and, with an empty path, a list that
	// could not be made.
	TreeProblems []Problem
}

// Problem is something that could not be read, and why.
type Problem struct {
	Path   string
	Reason string // completes "it could not be scanned: "; outside text allowed
}

// TreeMarkers are the conflict markers of a file outside the handoff folder.
type TreeMarkers struct {
	Path    string // from the repository's top level
	Markers Markers
}
