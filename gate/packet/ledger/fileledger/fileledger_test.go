package fileledger

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

// members reads a ledger file; nil when there is none.
func members(t testing.TB, path string) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var out map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return out
}

func TestConformance(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledgertest.Kind {
		path := filepath.Join(t.TempDir(), "ledger.json")
		return ledgertest.Kind{
			Open: func() ledger.Store { return Open(path) },
			Put: func(key, entry string) {
				m := members(t, path)
				if m == nil {
					m = map[string]json.RawMessage{}
				}
				clear(m) // one that is corrupt makes the others so
				m[key] = json.RawMessage(entry)
				data, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			Get: func(key string) string { return string(members(t, path)[key]) },
		}
	})
}
