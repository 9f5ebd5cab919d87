package manual_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/manual"
)

// completer loads a completion script into a shell and asks it how lines go on. The
// lines begin with the program's name.
type completer func(t *testing.T, script string, lines []string) [][]string

var completers = map[string]completer{"bash": bash, "zsh": zsh, "fish": fish}

// What a person gets who presses tab, in each shell that is installed.
func TestCompletion(t *testing.T) {
	var lines []string
	var wanted [][]string
	add := func(line string, want ...string) {
		lines, wanted = append(lines, line), append(wanted, want)
	}
	add("handoff-gate ver", "verify", "version")
	add("handoff-gate packet ", "abandon", "approve", "check", "claim", "complete", "keygen", "pin", "sign")
	add("handoff-gate packet c", "check", "claim", "complete")
	add("handoff-gate hooks ", "install")
	add("handoff-gate verify --le", "--level")
	add("handoff-gate verify --level p", "precommit", "prepush")
	add("handoff-gate verify --level=p", "precommit", "prepush")
	add("handoff-gate verify . --format s", "sarif")
	add("handoff-gate session verify --c", "--changed")
	add("handoff-gate verify p", "packages")
	add("handoff-gate packet check p", "p.json", "packages")
	add("handoff-gate packet check p.json --registry a", "a registry.json")
	add("handoff-gate packet check p.json --workspace p", "packages")
	add("handoff-gate manifest --agent p")
	add("handoff-gate explain integrity/checksum-m", "integrity/checksum-malformed", "integrity/checksum-mismatch")
	add("handoff-gate completion ", "bash", "fish", "zsh")
	add("handoff-gate help pa", "packet")
	add("handoff-gate help packet si", "sign")
	add("handoff-gate help verify p")
	add("handoff-gate none --le")
	// Every flag of every command, as the help has them.
	for _, path := range paths(t) {
		if path == "help" {
			continue // it goes on by commands
		}
		want := []string{"--help"}
		for _, flag := range regexp.MustCompile(`(?m)^  (--?[a-z-]+)`).FindAllStringSubmatch(gate(t, append([]string{"help"}, strings.Fields(path)...)...), -1) {
			want = append(want, flag[1])
		}
		slices.Sort(want)
		add("handoff-gate "+path+" -", want...)
	}
	for name, complete := range completers {
		t.Run(name, func(t *testing.T) {
			got := complete(t, gate(t, "completion", name), lines)
			for i, line := range lines {
				if !slices.Equal(got[i], wanted[i]) {
					t.Errorf("%q\ngoes on by  %q\nexpected    %q", line, got[i], wanted[i])
				}
			}
		})
	}
}

// paths are the commands that can be run, as the help lists them.
func paths(t *testing.T) []string {
	t.Helper()
	names := regexp.MustCompile(`(?m)^  ([a-z-]+)  `)
	var all []string
	for _, name := range names.FindAllStringSubmatch(gate(t, "help"), -1) {
		page := gate(t, "help", name[1])
		if !strings.Contains(page, "COMMAND [ARGUMENTS]") {
			all = append(all, name[1])
			continue
		}
		for _, below := range names.FindAllStringSubmatch(page, -1) {
			all = append(all, name[1]+" "+below[1])
		}
	}
	return all
}

// A text that means something to a shell stays a text.
func TestCompletionOfOddTexts(t *testing.T) {
	for _, shell := range manual.Shells {
		t.Run(shell.Name, func(t *testing.T) {
			got := completers[shell.Name](t, shell.Script(program), []string{
				"odd-program ", "odd-program say --", "odd-program say --colon ", "odd-program group below ",
			})
			want := [][]string{{"group", "help", "say"}, {"--colon", "--dollar", "--help"}, {"a", "b"}, {"odd/other", "odd/rule"}}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("%d: %q, expected %q", i, got[i], want[i])
				}
			}
		})
	}
}

// The bash script passes shellcheck, where that is installed.
func TestBashUnderShellcheck(t *testing.T) {
	complaints, _ := pipe(t, gate(t, "completion", "bash"), "shellcheck", "--shell=bash", "-")
	if complaints != "" {
		t.Error(complaints)
	}
}

// shell runs a script in a folder with some files, and gives its output as one list
// for each line that is only "--". Where the shell is absent, the test is skipped.
func shell(t *testing.T, script string, name string, args ...string) [][]string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: %s is not installed", name)
	}
	dir := t.TempDir()
	for _, file := range []string{"a registry.json", "p.json", "packages/README.md", "home/.keep"} {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A shell that waits for a key would wait for ever.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(script)
	home := filepath.Join(dir, "home")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ZDOTDIR=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "TERM=dumb", "LC_ALL=C"}
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Fatalf("%s ran a text", name)
	}
	var all [][]string
	var list []string
	for line := range strings.Lines(string(output)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "--" {
			list = append(list, strings.TrimSuffix(line, "/"))
			continue
		}
		slices.Sort(list)
		all, list = append(all, slices.Compact(list)), nil
	}
	if list != nil {
		t.Fatalf("%s: unexpected output: %q", name, list)
	}
	return all
}

// bash calls the function that is registered, with the words that bash makes of
// the line.
func bash(t *testing.T, script string, lines []string) [][]string {
	t.Helper()
	var b strings.Builder
	b.WriteString(script + "\n")
	for _, line := range lines {
		words := strings.Fields(strings.ReplaceAll(line, "=", " = "))
		if strings.HasSuffix(line, " ") {
			words = append(words, "''")
		}
		b.WriteString("COMP_WORDS=(" + strings.Join(words, " ") + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n" +
			"call=$(complete -p " + words[0] + "); call=${call##*-F }\n" +
			"${call%% *}\n" +
			"((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n" +
			"echo --\n")
	}
	return shell(t, b.String(), "bash", "--norc", "--noprofile", "-u")
}

// fish has a command for it.
func fish(t *testing.T, script string, lines []string) [][]string {
	t.Helper()
	var b strings.Builder
	b.WriteString(script + "\n")
	for _, line := range lines {
		// A candidate is followed by a tab and its description. A value comes with its flag.
		b.WriteString("complete -C '" + line + "' | string replace -r '\\t.*' '' | string replace -r '^--[a-z]+=' ''\nprintf '%s\\n' --\n")
	}
	return shell(t, b.String(), "fish", "--no-config")
}

// zsh completes only where somebody types: in a terminal of its own, in which the
// function that takes the candidates lists them.
func zsh(t *testing.T, script string, lines []string) [][]string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`cat >home/_script <<'END-OF-SCRIPT'
` + script + `
END-OF-SCRIPT
cat >home/.zshrc <<'END-OF-SCRIPT'
PROMPT= PS2=
unsetopt zle_bracketed_paste 2>/dev/null
autoload -Uz compinit && compinit -u -d $HOME/dump
source $HOME/_script
bindkey '^I' complete-word
zstyle ':completion:*' completer _complete
unsetopt auto_list auto_menu
compadd() {
	if [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]]; then
		builtin compadd "$@"
		return
	fi
	local -a hits
	builtin compadd -A hits "$@"
	print -rl -- ${(Q)hits} >>$HOME/hits
	builtin compadd "$@"
}
integer done
next() {
	zle complete-word
	print -r -- -- >>$HOME/hits
	: >$HOME/done$((done++))
	BUFFER=
}
zle -N next
bindkey '^T' next
: >$HOME/hits
print ready
END-OF-SCRIPT
zmodload zsh/zpty zsh/zselect || exit
zpty z zsh -i
zpty -r z text '*ready*'
`)
	for i, line := range lines {
		b.WriteString("zpty -n -w z '" + line + "'$'\\x14'\n" +
			"until [[ -e home/done" + strconv.Itoa(i) + " ]]; do zpty -r -t z text; zselect -t 1; done\n")
	}
	b.WriteString("zpty -d z\ngrep . home/hits\n")
	return shell(t, b.String(), "zsh", "-f")
}
