// Package packaging holds the tests of what is shipped around the program: the
// action's metadata, the workflows and examples, the image. There is no code in it.
package packaging
