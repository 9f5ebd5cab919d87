package cli

import (
	"errors"
	"flag"
	"slices"
	"testing"
)

// Flags and paths come in any order, and a value is taken as it is.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name       string
		args       []string
		positional []string
		text       string
		set        bool
		usage      bool // a usage error is wanted
	}{
		{name: "nothing"},
		{name: "a flag before the path", args: []string{"--text", "v", "p"}, positional: []string{"p"}, text: "v"},
		{name: "a flag after the path", args: []string{"p", "--text", "v", "--set"}, positional: []string{"p"}, text: "v", set: true},
		{name: "with an equals sign", args: []string{"--text=v", "p"}, positional: []string{"p"}, text: "v"},
		{name: "one hyphen", args: []string{"-text", "v", "-set", "p"}, positional: []string{"p"}, text: "v", set: true},
		{name: "an empty value", args: []string{"--text", "", "p"}, positional: []string{"p"}},
		{name: "a value that is a flag", args: []string{"--text", "--set", "p"}, positional: []string{"p"}, text: "--set"},
		{name: "a value that ends flags", args: []string{"--text", "--", "p", "--set"}, positional: []string{"p"}, text: "--", set: true},
		{name: "a negative number", args: []string{"--text", "-5"}, text: "-5"},
		{name: "a value with an equals sign and a hyphen", args: []string{"--text=-=-", "p"}, positional: []string{"p"}, text: "-=-"},
		{name: "the last value counts", args: []string{"--text", "a", "--text", "b"}, text: "b"},
		{name: "a switch takes no value", args: []string{"--set", "p"}, positional: []string{"p"}, set: true},
		{name: "a switch with one", args: []string{"--set=false", "p"}, positional: []string{"p"}},
		{name: "a lone hyphen is a path", args: []string{"-", "--set"}, positional: []string{"-"}, set: true},
		{name: "an empty path", args: []string{"", "--set"}, positional: []string{""}, set: true},
		{name: "paths after the end of flags", args: []string{"--set", "--", "--text"}, positional: []string{"--text"}, set: true},
		{name: "a second path", args: []string{"p", "--set", "q"}, usage: true},
		{name: "an unknown flag", args: []string{"p", "--other"}, usage: true},
		{name: "a missing value", args: []string{"p", "--text"}, usage: true},
		{name: "three hyphens", args: []string{"---set"}, usage: true},
		{name: "a switch with a bad value", args: []string{"--set=maybe"}, usage: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs := flag.NewFlagSet("test", flag.ContinueOnError)
			text := fs.String("text", "", "")
			set := fs.Bool("set", false, "")
			positional, err := parse(fs, tt.args, 1)
			var usage usageError
			if errors.As(err, &usage) != tt.usage || err != nil && !tt.usage {
				t.Fatalf("error %v, want a usage error: %v", err, tt.usage)
			}
			if err == nil && (!slices.Equal(positional, tt.positional) || *text != tt.text || *set != tt.set) {
				t.Errorf("positional %q, text %q, set %v; want %q, %q, %v", positional, *text, *set, tt.positional, tt.text, tt.set)
			}
		})
	}
	for _, arg := range []string{"-h", "--help"} {
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		if _, err := parse(fs, []string{"p", arg}, 1); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v, want the request for help", arg, err)
		}
	}
}
