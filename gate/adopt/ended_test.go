package adopt

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"
)

// A run that is ended while it reads stops there and changes nothing, however long
// the files are. Once it has begun to change something it goes on to its end.
func TestEnded(t *testing.T) {
	facts := Facts{Commit: UnknownCommit, Project: "p", Now: time.Unix(0, 0)}
	session := Session{Agent: "a", Phase: "idle"}
	for _, tt := range []struct {
		name string
		run  func(f *Folder) error
	}{
		{"manifest", func(f *Folder) error {
			m, err := f.Generate(session, facts, true)
			if err != nil {
				return err
			}
			return f.Write(m)
		}},
		{"manifest --check", func(f *Folder) error {
			_, _, err := f.Check(session, facts)
			return err
		}},
		{"status", func(f *Folder) error {
			_, err := f.Status(".")
			return err
		}},
		{"archive", func(f *Folder) error {
			j, err := f.ReadLog()
			if err != nil {
				return err
			}
			defer j.Close()
			_, err = j.Rotate(1)
			return err
		}},
		{"init --force", func(f *Folder) error {
			_, _, err := f.Init(InitOptions{Force: true}, session, facts)
			return err
		}},
		{"migrate", func(f *Folder) error {
			plan, err := f.PlanMigration()
			if err != nil {
				return err
			}
			_, _, err = f.Migrate(plan, facts)
			return err
		}},
		{"migrate-grounding", func(f *Folder) error {
			_, err := f.Ground(facts)
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for asked := 0; ; asked++ {
				if asked > 1000 {
					t.Fatal("it reads without an end")
				}
				project := handoff(t, map[string]string{
					ManifestName: "{}", statusName: "# Status\n\nAll is well.\n", logName: entriesOf(3), trustName: "# Trust\n",
				})
				before := files(t, project)
				left := asked
				f, err := OpenFolder(project, project, Hooks{Ended: func() error {
					if left--; left < 0 {
						return context.Canceled
					}
					return nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				err = tt.run(f)
				f.Close()
				var ended *EndedError
				switch {
				case err == nil && asked == 0:
					t.Error("it was not asked")
				case err == nil:
					return
				case !errors.As(err, &ended) || !errors.Is(err, context.Canceled):
					t.Fatalf("ended at question %d: %v", asked, err)
				}
				if now := files(t, project); !maps.Equal(now, before) {
					t.Fatalf("ended at question %d, it changed %v to %v", asked, before, now)
				}
			}
		})
	}
}
