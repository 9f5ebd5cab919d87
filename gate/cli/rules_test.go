package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/render"
)

var update = flag.Bool("update", false, "write docs/rules.md anew")

// withoutScripts are the rules that no script shows yet. It may only become
// shorter: a rule that has scripts fails the test while it stands here.
var withoutScripts = map[string]string{

