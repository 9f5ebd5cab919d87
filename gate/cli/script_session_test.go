package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/gate/internal/sessiontest"
)

// sessionCommands are for scripts about session folders.
//
//	session DIR TURNS SETTINGS   writes a session folder of so many turns that
//	                             agrees with itself, as the engine does. A setting
//	                             "revisions=2" is a field of the manifest and its
//	                             JSON, "model=" leaves the field out, "turn 1=Yes"
//	                             is the text of the second turn
var sessionCommands = map[string]func(*testscript.TestScript, bool, []string){"session": writeSession}

func writeSession(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 100)
	turns, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	s := sessiontest.New(filepath.Base(filepath.Dir(dir)), filepath.Base(dir), turns)
	for _, setting := range args[2:] {
		field, value, ok := strings.Cut(setting, "=")
		if !ok {
			ts.Fatalf("%q is no setting", setting)
		}
		number, isTurn := strings.CutPrefix(field, "turn ")
		switch {
		case isTurn:
			n, err := strconv.Atoi(number)
			ts.Check(err)
			s.Turns[n].Text = value
		case value == "":
			s.Delete(field)
		default:
			s.Set(field, value)
		}
	}
	ts.Check(os.MkdirAll(dir, 0o755))
	for name, text := range s.Files() {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}
