package audit_test

import (
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/audit"
)

func source(files map[string]string, change ...func(*audit.Input)) governance.Gate {
	in := audit.Input{Tree: workflows(files), Repo: "o/n", Package: "fx", Commands: gate.Commands{Again: "handoff-gate doctor ."}}
	for _, c := range change {
		c(&in)
	}
	return audit.Read(in).CLISource()
}

// What one command is in a job without any other step.
func TestSourceOfCommands(t *testing.T) {
	const (
		fetch   = "fail | registry-fetch a.yml:7"
		foreign = "fail | unowned-name a.yml:7"
		doubt   = "advisory | unowned-name a.yml:7"
		install = "fail | no-install a.yml:7"
		path    = "fail | checkout-path a.yml:7"
		moves   = "advisory | unpinned-action a.yml:7"
		none    = "not-applicable"
		ok      = "pass"
		digest  = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	)
	for run, want := range map[string]string{
		"npx @elvatis_com/aahp verify .":                                 fetch,
		"npx @elvatis_com/aahp@4.0.0 verify .":                           fetch,
		"npx -y @elvatis_com/aahp verify .":                              fetch,
		"npx --no-install --yes @elvatis_com/aahp verify .":              fetch,
		"npx --no -y @elvatis_com/aahp verify .":                         fetch,
		"npx --package @elvatis_com/aahp -- aahp verify .":               fetch,
		"npx --package=@elvatis_com/aahp@4 aahp verify .":                fetch,
		"npx -p @elvatis_com/aahp -c 'aahp verify .'":                    fetch,
		"npx -p other -p @elvatis_com/aahp aahp verify":                  fetch,
		"npx --cache /tmp/x @elvatis_com/aahp verify":                    fetch,
		"npx '@elvatis_com/aahp' verify":                                 fetch,
		"npm exec @elvatis_com/aahp -- verify .":                         fetch,
		"npm exec --no -- @elvatis_com/aahp verify .":                    fetch,
		"npm x --package=@elvatis_com/aahp -- aahp verify .":             fetch,
		"npm --prefix sub exec @elvatis_com/aahp":                        fetch,
		"pnpm dlx @elvatis_com/aahp verify":                              fetch,
		"yarn dlx -p @elvatis_com/aahp aahp verify":                      fetch,
		"bunx @elvatis_com/aahp verify":                                  fetch,
		"bun x @elvatis_com/aahp verify":                                 fetch,
		"npm install @elvatis_com/aahp":                                  fetch,
		"npm i -g @elvatis_com/aahp@4":                                   fetch,
		"npm isntall --save-dev other @elvatis_com/aahp":                 fetch,
		"npm add gate@npm:@elvatis_com/aahp@4":                           fetch,
		"pnpm add @elvatis_com/aahp":                                     fetch,
		"cd sub && npx @elvatis_com/aahp verify":                         fetch,
		"x=$(npx @elvatis_com/aahp verify)":                              fetch,
		"go run github.com/o/handoff-gate@latest verify":                 fetch,
		"go run github.com/o/handoff-gate@v1 verify":                     fetch,
		"go run github.com/o/handoff-gate@main verify":                   fetch,
		"go install -v github.com/o/handoff-gate/cmd/x@v1.2":             fetch,
		"go install github.com/o/handoff-gate@v1.2.3+x":                  fetch,
		"npx aahp verify":                                                foreign,
		"npx aahp@latest verify":                                         foreign,
		"npx --no-install -y aahp verify":                                foreign,
		"npm exec aahp verify":                                           foreign,
		"npm i -g aahp":                                                  foreign,
		"pnpm dlx aahp verify":                                           foreign,
		"npx --no-install aahp verify":                                   doubt,
		"npx --no aahp verify":                                           doubt,
		"node bin/aahp.js verify":                                        path,
		"node ./bin/aahp.js verify":                                      path,
		"node --no-warnings bin/aahp.js doctor":                          path,
		"timeout 60 node bin/aahp.js verify":                             path,
		"node node_modules/@elvatis_com/aahp/bin/aahp.js verify":         install,
		"node ./node_modules/@elvatis_com/aahp/bin/aahp.js status":       install,
		"node_modules/.bin/aahp verify":                                  install,
		"./sub/node_modules/.bin/aahp verify":                            install,
		"npx --no-install @elvatis_com/aahp verify":                      install,
		"npx --no @elvatis_com/aahp verify":                              install,
		"docker run --rm ghcr.io/o/handoff-gate:1 verify":                moves,
		"docker run handoff-gate verify":                                 moves,
		"docker run -itv /a:/b -e X=y --name n o/handoff-gate":           moves,
		"docker pull -q --platform linux/amd64 o/handoff-gate:1":         moves,
		"docker run --rm ghcr.io/o/handoff-gate@sha256:0 verify":         moves,
		"docker --context x container run o/handoff-gate:1":              moves,
		"docker run --rm ghcr.io/o/handoff-gate:1@" + digest + " verify": ok,
		"docker run --name handoff-gate other:1":                         none,
		"docker run -e A=handoff-gate other:1 handoff-gate":              none,
		"docker build -t handoff-gate .":                                 none,
		"aahp verify .":                                                  ok,
		"aahp status":                                                    ok,
		"handoff-gate verify .":                                          ok,
		"./handoff-gate lint":                                            ok,
		"pnpm exec aahp verify":                                          ok,
		"go run github.com/o/handoff-gate@v1.2.3 verify":                 ok,
		"go run github.com/o/handoff-gate@v1.2.3-rc.1 verify":            ok,
		"timeout 60 npx aahp verify":                                     foreign,
		"nice -n 5 npm exec --yes -- @elvatis_com/aahp verify":           fetch,
		"xargs go run github.com/o/handoff-gate@main":                    fetch,
		"docker run --rm node:22 npx aahp verify":                        foreign,
		"timeout 60 docker pull ghcr.io/o/handoff-gate:1":                moves,
		"pnpx @elvatis_com/aahp verify":                                  fetch,
		"yarn global add aahp":                                           foreign,
		"timeout 300 npm ci; node_modules/.bin/aahp verify":              ok,
		"docker run node:22 npm ci; node_modules/.bin/aahp verify":       install,
		"apt-get install npm aahp":                                       none,
		"go run ./cmd/handoff-gate verify":                               ok,
		"cd aahp && node bin/aahp.js verify":                             ok,
		"pushd aahp; node bin/aahp.js verify":                            ok,
		"npm ci && node node_modules/@elvatis_com/aahp/bin/aahp.js x":    ok,
		"bash scripts/verify-handoff.sh --level ci":                      none,
		"npm ci":                   none,
		"npm test":                 none,
		"npx other aahp":           none,
		"npx --package other aahp": none,
		"npm install aahp-other @elvatis_com/aahp-x":           none,
		"go run ./internal/x github.com/o/handoff-gate@latest": none,
		"go build github.com/o/handoff-gate":                   none,
		"echo npx @elvatis_com/aahp verify":                    none,
		"npm run aahp":                                         none,
		"# npx aahp":                                           none,
		"ls bin/aahp.js node_modules/.bin/aahp":                none,
	} {
		text := gateJob(pullRequest, "", "      - run: |\n          "+run+"\n")
		if got := found(source(map[string]string{"a.yml": text})); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", run, got, want)
		}
	}
}

func TestSourceInJobs(t *testing.T) {
	const byPath = "      - run: node node_modules/@elvatis_com/aahp/bin/aahp.js verify\n"
	uses := func(action string) string { return "      - uses: " + action + "\n" }
	for _, tt := range []struct{ name, steps, want string }{
		{"npm ci before", "      - run: npm ci --ignore-scripts\n" + byPath, "pass"},
		{"an alias of npm ci before", "      - run: npm clean-install\n" + byPath, "pass"},
		{"npm i before", "      - run: npm i\n" + byPath, "pass"},
		{"pnpm before", "      - run: pnpm install --frozen-lockfile\n" + byPath, "pass"},
		{"yarn alone before", "      - run: yarn\n" + byPath, "pass"},
		{"yarn with options before", "      - run: yarn --immutable\n" + byPath, "pass"},
		{"bun before", "      - run: bun install\n" + byPath, "pass"},
		{"npm ci behind", byPath + "      - run: npm ci\n", "fail | no-install a.yml:7"},
		{"npm ci in an echo", "      - run: echo npm ci\n" + byPath, "fail | no-install a.yml:8"},
		{"npm run before", "      - run: npm run ci\n" + byPath, "fail | no-install a.yml:8"},
		{"yarn test before", "      - run: yarn test\n" + byPath, "fail | no-install a.yml:8"},
		{"plain actions before", uses("actions/checkout@v1") + uses("actions/setup-node@v1") + uses("Actions/Setup-Python@v1") + uses("actions/cache@v1") + byPath, "fail | no-install a.yml:11"},
		{"another action before", uses("pnpm/action-setup@v1") + byPath, "pass"},
		{"a local action before", uses("./.github/actions/setup") + byPath, "pass"},
		{"another action behind", byPath + uses("pnpm/action-setup@v1"), "fail | no-install a.yml:7"},
		{"in another job", "      - run: npm ci\n  other:\n    steps:\n" + byPath, "fail | no-install a.yml:10"},
		{"two in one step", "      - run: npx aahp verify; npx @elvatis_com/aahp verify; npx aahp check\n", "fail | registry-fetch a.yml:7 | unowned-name a.yml:7"},
		{"the step's folder", "      - run: node bin/aahp.js verify\n        working-directory: x\n", "pass"},
		{"a cd behind", "      - run: node bin/aahp.js verify; cd x\n", "fail | checkout-path a.yml:7"},
		{"a cd in another step", "      - run: cd x\n      - run: node bin/aahp.js verify\n", "fail | checkout-path a.yml:8"},

		{"the action by commit", uses("o/handoff-gate@" + sha), "pass"},
		{"the action by a long commit", uses("o/Handoff-Gate/sub@" + sha + sha[:24]), "pass"},
		{"the action by a tag", uses("o/handoff-gate@v1.2.3"), "advisory | unpinned-action a.yml:7"},
		{"the action by a short commit", uses("o/handoff-gate@" + sha[:12]), "advisory | unpinned-action a.yml:7"},
		{"the action by a commit in capitals", uses("o/handoff-gate@" + strings.ToUpper(sha)), "advisory | unpinned-action a.yml:7"},
		{"the image by a tag", uses("docker://ghcr.io/o/handoff-gate:1"), "advisory | unpinned-action a.yml:7"},
		{"the image by digest", uses("docker://ghcr.io/o/handoff-gate@sha256:" + sha + sha[:24]), "pass"},
		{"another action by a tag", uses("o/other@v1"), "not-applicable"},
	} {
		if got := found(source(map[string]string{"a.yml": gateJob(pullRequest, "", tt.steps)})); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
	steps := "      - run: node bin/aahp.js verify\n"
	for name, text := range map[string]string{
		"the job's defaults":      gateJob(pullRequest, "    defaults: {run: {working-directory: x}}\n", steps),
		"the workflow's defaults": gateJob(pullRequest+"defaults: {run: {working-directory: x}}\n", "", steps),
	} {
		if got := found(source(map[string]string{"a.yml": text})); got != "pass" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := found(source(map[string]string{"a.yml": gateJob(pullRequest, "", steps), "./bin/aahp.js": ""})); got != "pass" {
		t.Errorf("the file is there: %s", got)
	}
	if got := found(source(map[string]string{"a.yml": gateJob(pullRequest, "", uses("./")), "./action.yml": "name: handoff gate\n"})); got != "pass" {
		t.Errorf("a local action: %s", got)
	}
}

// In its own repository AAHP may run itself in any way.
func TestSourceOfSelf(t *testing.T) {
	self := func(in *audit.Input) { in.Package = governance.DefaultPin }
	for _, tt := range []struct{ run, want string }{
		{"node bin/aahp.js verify", "self"},
		{"npx @elvatis_com/aahp verify", "self"},
		{"npx aahp verify", "self"},
		{"node_modules/.bin/aahp verify", "self"},
		{"node bin/aahp.js verify; docker run o/handoff-gate:1", "advisory | unpinned-action a.yml:7"},
		{"handoff-gate verify", "pass"},
		{"make", "not-applicable"},
	} {
		if got := found(source(map[string]string{"a.yml": gateJob(pullRequest, "", "      - run: "+tt.run+"\n")}, self)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.run, got, tt.want)
		}
	}
	pinned := func(in *audit.Input) { in.Pinned = "@x/gate" }
	for run, want := range map[string]string{
		"npx @x/gate verify":           "fail | registry-fetch a.yml:7",
		"npx @elvatis_com/aahp verify": "pass",
	} {
		if got := found(source(map[string]string{"a.yml": gateJob(pullRequest, "", "      - run: "+run+"\n")}, pinned)); got != want {
			t.Errorf("%s: %s, want %s", run, got, want)
		}
	}
}

func TestSourceOfBrokenFiles(t *testing.T) {
	for text, want := range map[string]string{
		"# aahp\nx: [\n":                       "fail | undecidable a.yml:3",
		"# handoff-gate\nx: [\n":               "fail | undecidable a.yml:3",
		"# other\nx: [\n":                      "not-applicable",
		"x: &x {a: b}\ny: {<<: *x}\nz: aahp\n": "fail | undecidable a.yml:2",
	} {
		if got := found(source(map[string]string{"a.yml": text})); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
