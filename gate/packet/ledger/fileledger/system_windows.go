package fileledger

// How files are opened; there is no FIFO in a folder, and a link is a right of
// administrators.
const (
	noWaiting   = 0
	noFollowing = 0
)
