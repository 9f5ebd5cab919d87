package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer second.Close()
	if ok, err := Try(first); !ok || err != nil {
		t.Fatalf("the first: %v, %v", ok, err)
	}
	if ok, err := Try(second); ok || err != nil {
		t.Errorf("the second, while the first has it: %v, %v", ok, err)
	}
	first.Close()
	if ok, err := Try(second); !ok || err != nil {
		t.Errorf("the second, after the first: %v, %v", ok, err)
	}
}
