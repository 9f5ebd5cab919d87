package git

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// hookVariables are the variables by which git tells a hook which repository
// and index it works on. They are let through only where the gate runs as a
// hook (aahp-verify.md 2.1); everywhere else an earlier step could point the
// gate at another repository with them.
var hookVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
}

// setting is one git configuration value forced through the environment.
type setting struct{ key, value string }

// mode says for which of the few purposes a command departs from the common
// environment.
type mode uint8

const (
	plumbing   mode = iota // section 2.1, unchanged
	userConfig             // the user's global configuration counts (ignore files)
	patterns               // pathspecs are patterns (aahp-authoring.md 5.1, aahp-governance.md 4.5)
	allConfig              // git's configuration as the user has it (aahp-authoring.md 8)
	network                // the fetch of a base, or blobs on demand
	records                // a ledger's own repository, which is written
	beyond                 // a ledger behind a remote: the user's configuration counts
)

// environment makes the whole environment of a git child: nothing inherited
// that begins with GIT_, and every setting of aahp-verify.md 2.1.
func (r *Repo) environment(m mode) []string {
	env := make([]string, 0, len(r.inherited)+32)
	for _, kv := range r.inherited {
		if m == network || m == beyond || !r.narrow || plain(kv) {
			env = append(env, kv)
		}
	}
	env = append(env,
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=/dev/null",
		"GIT_PAGER=cat",
		"LC_ALL=C",
		// A .git that git does not accept must not send it up to a repository
		// further out, whose history is none of this project's.
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(r.top),
	)
	if m != patterns {
		env = append(env, "GIT_LITERAL_PATHSPECS=1")
	}
	switch {
	case m == records || m == beyond:
		if r.gitDir != "" {
			env = append(env, "GIT_DIR="+r.gitDir)
		}
	case proc.Getenv(r.inherited, "GIT_WORK_TREE") == "":
		// The repository's own core.worktree could name another folder.
		env = append(env, "GIT_WORK_TREE="+r.top)
	}
	var settings []setting
	switch m {
	case allConfig:
		return append(env, r.config...)
	case beyond:
		files, own := userSettings(r.config)
		env = append(env, files...)
		settings = append(own, r.settings...)
	case userConfig:
		env = append(env, "GIT_CONFIG_NOSYSTEM=1")
	case plumbing, patterns, network, records:
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	}
	settings = append(settings, []setting{
		{"safe.directory", r.top},
		{"safe.bareRepository", "explicit"},
		{"core.fsmonitor", "false"},
		{"core.hooksPath", "/dev/null"},
		{"core.attributesFile", "/dev/null"},
		{"diff.external", ""},
		{"submodule.recurse", "false"},
	}...)
	switch m {
	case network:
		settings = append(settings,
			setting{"http.followRedirects", "false"},
			setting{"gc.auto", "0"},
			setting{"maintenance.auto", "false"},
		)
		settings = append(settings, r.credential()...)
	case beyond:
		env = append(env, silence...)
		settings = append(settings, beyondSettings...)
	case plumbing, userConfig, patterns, allConfig, records:
		env = append(env, "GIT_NO_LAZY_FETCH=1")
		settings = append(settings, setting{"protocol.allow", "never"})
		if m == records {
			// What is said to be written must outlast a loss of power.
			settings = append(settings, setting{"core.fsync", "all"}, setting{"advice.graftFileDeprecated", "false"})
			env = append(env, identity...)
		}
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	for i, s := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}

// plain tells a variable that a git which asks no server has a use for. Where an
// earlier step of a job may have left variables behind, it gets no others: what
// they do to a program and its libraries is more than any list of bad ones knows.
// Nor can a declared check that outlives its time read secrets of the step in
// the environment of a git that is started later.
func plain(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	switch name {
	case "PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TZ", "TMPDIR", "TMP", "TEMP":
		return true
	}
	// Windows needs a dozen of its own to start a program at all.
	return runtime.GOOS == "windows" || strings.HasPrefix(name, "GIT_")
}

// loadsCode tells a variable that makes a program load a library, start another
// program or write down the keys of its connections.
func loadsCode(name string) bool {
	switch name {
	case "GCONV_PATH", "GLIBC_TUNABLES", "SSLKEYLOGFILE", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "OPENSSL_")
}

// inherit drops every GIT_* variable and LC_ALL, and where hooks are served
// takes the hook variables back, made absolute against the start folder. The
// inputs of an action and the runner's own credentials are dropped too: git has
// no use for them, and what a process has in its environment, others of its
// user can read. Where no hooks are served, the environment is not that of a
// person at work, and what would load code into git is dropped as well.
func inherit(environ []string, startDir string, hooks bool) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(strings.ToUpper(name), "GIT_"):
			if !hooks || value == "" {
				continue
			}
			for _, h := range hookVariables {
				if name != h {
					continue
				}
				if name == "GIT_ALTERNATE_OBJECT_DIRECTORIES" {
					parts := filepath.SplitList(value)
					for i, p := range parts {
						parts[i] = absolute(startDir, p)
					}
					value = strings.Join(parts, string(filepath.ListSeparator))
				} else {
					value = absolute(startDir, value)
				}
				out = append(out, name+"="+value)
			}
		case name == "LC_ALL", strings.HasPrefix(name, "INPUT_"), strings.HasPrefix(name, "ACTIONS_"):
		case !hooks && loadsCode(name):
		default:
			out = append(out, kv)
		}
	}
	return out
}

// configuration gives the variables by which the user configures git.
func configuration(environ []string) []string {
	var out []string
	for _, kv := range environ {
		if strings.HasPrefix(kv, "GIT_CONFIG") {
			out = append(out, kv)
		}
	}
	return out
}

// userSettings splits what configuration gives: the variables that name files,
// and the settings that stand in the environment itself.
func userSettings(config []string) (files []string, settings []setting) {
	n, err := strconv.Atoi(proc.Getenv(config, "GIT_CONFIG_COUNT"))
	if err != nil {
		n = 0
	}
	for i := range min(n, len(config)) {
		if key, ok := proc.LookupEnv(config, "GIT_CONFIG_KEY_"+strconv.Itoa(i)); ok {
			settings = append(settings, setting{key, proc.Getenv(config, "GIT_CONFIG_VALUE_"+strconv.Itoa(i))})
		}
	}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
		if value, ok := proc.LookupEnv(config, name); ok {
			files = append(files, name+"="+value)
		}
	}
	return files, settings
}

func absolute(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}
