package githubapi

// Comparison is what the compare endpoint says of two commits.
type Comparison struct {
	MergeBase string // full commit id, lower case
	AheadBy   int    // commits of head that base does not have
	BehindBy  int    // commits of base that head does not have; 0: head contains base
}

// Tag is one tag of the repository, peeled.
type Tag struct {
	Name   string // without refs/tags/
	Commit string // full id of the commit it stands for, lower case
}
