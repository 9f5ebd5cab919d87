//go:build ignore

// This program writes corpus/: honest handoff text on which no rule of the
// content checks may fire. The sentences of parts/ and the samples of code/ are
// written by hand; here they become journals, tables, diffs, traces and data
// files, with names, numbers and dates that differ from place to place. It gives
// the same bytes in every run: go run ./testdata/honest/generate.go
package main

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

var (
	r          = rand.New(rand.NewSource(2026))
	components = []string{
		"gate/lint", "src/import.go", "web/rows", "the scheduler", "ledger/store", "`queue.py`", "api/v2", "the importer", "cmd/report", "docs/install",
		"services/worker", "ui/table", "the billing job", "infra/dns", "mailer", "search/index", "the cache", "auth/session", "pkg/retry", "the archive",
	}
	files = []string{
		"docs/setup.md", "src/main.rs", "lib/report.rb", "cmd/serve/main.go", "web/src/App.tsx", "Makefile", "go.mod", "db/migrations/0042_sessions.sql",
		".github/workflows/build.yml", "config/default.toml", "tests/fixtures/empty.json", "internal/queue/ring.go", "scripts/release.sh", "README.md",
	}
	people = []string{"Ada", "Bola", "Chen", "Dana", "Emre", "Fatou", "Goran", "Hana", "Ivo", "Jun", "Kaya", "Lena", "Mina", "Noor", "Olu", "Priya"}
)

func pick(list []string) string { return list[r.Intn(len(list))] }

func date() string { return fmt.Sprintf("2026-%02d-%02d", 1+r.Intn(12), 1+r.Intn(28)) }

func version() string { return fmt.Sprintf("%d.%d.%d", r.Intn(6), r.Intn(20), r.Intn(12)) }

func fill(s string) string {
	n := 20 + r.Intn(400)
	return strings.NewReplacer(
		"{c}", pick(components), "{f}", pick(files), "{v}", version(), "{d}", date(),
		"{n}", fmt.Sprint(n), "{m}", fmt.Sprint(1+n/(2+r.Intn(4))),
	).Replace(s)
}

func hash(n int) string {
	b := make([]byte, n)
	r.Read(b)
	return hex.EncodeToString(b)
}

func uuid() string {
	h := hash(16)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

var root string

func write(name, text string) {
	path := filepath.Join(root, "corpus", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// samples reads a folder of text, by name.
func samples(dir string) ([]string, map[string]string) {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		log.Fatal(err)
	}
	var names []string
	texts := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(root, dir, e.Name()))
		if err != nil {
			log.Fatal(err)
		}
		names = append(names, e.Name())
		texts[e.Name()] = string(b)
	}
	sort.Strings(names)
	return names, texts
}

func main() {
	_, here, _, _ := runtime.Caller(0)
	root = filepath.Dir(here)
	languages, texts := samples("parts")
	all := map[string][]string{}
	for _, name := range languages {
		language := strings.TrimSuffix(name, ".txt")
		sentences := strings.Split(strings.TrimSpace(texts[name]), "\n")
		all[language] = sentences
		write(language+".md", journal(language, sentences))
	}
	write("STATUS.md", mixed(all))
	names, code := samples("code")
	write("code.md", codeBlocks(names, code))
	write("diffs.md", diffs(names, code))
	write("traces.txt", traces())
	write("changelog.md", changelog())
	write("hashes.md", hashes())
	write("images.md", images())
	write("emoji.md", emoji())
	write("logs.txt", logs())
	write("links.md", links())
	write("data.json", data(all))
	write("config.toml", configTOML())
	write("compose.yml", compose())
	for _, n := range names {
		write("snippets/"+strings.TrimSuffix(n, ".txt")+".txt", code[n])
	}
}

// journal makes a handoff journal of the sentences of one language.
func journal(language string, sentences []string) string {
	var b strings.Builder
	title := strings.ToUpper(language[:1]) + language[1:]
	fmt.Fprintf(&b, "# %s\n\n", title)
	perm := r.Perm(len(sentences))
	next := 0
	sentence := func() string {
		if next == len(perm) {
			perm, next = r.Perm(len(sentences)), 0
		}
		next++
		return fill(sentences[perm[next-1]])
	}
	for range 2 + len(sentences)/6 {
		fmt.Fprintf(&b, "## %s — %s\n\n", date(), pick(people))
		for range 1 + r.Intn(2) {
			for i := range 2 + r.Intn(3) {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(sentence())
			}
			b.WriteString("\n\n")
		}
		switch r.Intn(4) {
		case 0:
			fmt.Fprintf(&b, "- [x] %s\n- [ ] **%s**\n- *%s*\n\n", sentence(), sentence(), sentence())
		case 1:
			fmt.Fprintf(&b, "> %s\n> %s\n\n", sentence(), sentence())
		case 2:
			fmt.Fprintf(&b, "| # | %s |\n|--:|:--|\n| 1 | %s |\n| 2 | %s |\n\n", title, sentence(), sentence())
		default:
			fmt.Fprintf(&b, "1. %s\n2. %s\n\n", sentence(), sentence())
		}
	}
	return b.String()
}

// mixed puts a sentence of every language into one file, as translated pages do.
func mixed(all map[string][]string) string {
	var names []string
	for n := range all {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString("# Status\n\nThe greeting page is translated; each row shows a sample.\n\n| Language | Sample | Chars |\n|---|---|--:|\n")
	for range 3 {
		for _, n := range names {
			s := fill(pick(all[n]))
			fmt.Fprintf(&b, "| %s | %s | %d |\n", n, s, len([]rune(s)))
		}
	}
	return b.String()
}

func codeBlocks(names []string, code map[string]string) string {
	var b strings.Builder
	b.WriteString("# Code that the notes refer to\n\n")
	for _, n := range names {
		language := strings.Split(n, ".")[1]
		fmt.Fprintf(&b, "The current state of `%s` (%s, commit %s):\n\n```%s\n%s```\n\n", strings.TrimSuffix(n, ".txt"), pick(people), hash(20)[:10], language, code[n])
		lines := strings.Split(strings.TrimSpace(code[n]), "\n")
		for range 3 {
			fmt.Fprintf(&b, "- line `%s` reads well; see `%s:%d`\n", strings.ReplaceAll(strings.TrimSpace(lines[r.Intn(len(lines))]), "`", "'"), pick(files), 1+r.Intn(300))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// diffs shows small changes of the samples as git prints them.
func diffs(names []string, code map[string]string) string {
	var b strings.Builder
	b.WriteString("# What changed\n\n")
	for range 40 {
		n := pick(names)
		lines := strings.Split(strings.TrimRight(code[n], "\n"), "\n")
		at := r.Intn(max(1, len(lines)-8))
		base := strings.TrimSuffix(n, ".txt")
		fmt.Fprintf(&b, "```diff\ndiff --git a/%s b/%s\nindex %s..%s 100644\n--- a/%s\n+++ b/%s\n@@ -%d,7 +%d,8 @@\n", base, base, hash(4)[:7], hash(4)[:7], base, base, at+1, at+1)
		for i, l := range lines[at:min(len(lines), at+8)] {
			switch {
			case i == 3:
				fmt.Fprintf(&b, "-%s\n+%s // %s\n", l, l, pick(components))
			case i == 5:
				fmt.Fprintf(&b, "+%s\n", l)
			default:
				fmt.Fprintf(&b, " %s\n", l)
			}
		}
		fmt.Fprintf(&b, "```\n\n%s reviewed it on %s; %d files changed, %d insertions(+), %d deletions(-)\n\n", pick(people), date(), 1+r.Intn(9), r.Intn(200), r.Intn(90))
	}
	// A conflict as a diff shows it, behind the sign of the line.
	b.WriteString("```diff\n  ours\n+<<<<<<< HEAD\n +left\n+=======\n+ right\n+>>>>>>> topic\n```\n")
	return b.String()
}

func traces() string {
	var b strings.Builder
	pkgs := []string{"net/http", "database/sql", "encoding/json", "github.com/acme/shop/internal/cart", "github.com/acme/shop/cmd/serve"}
	classes := []string{"org.sample.store.Store", "java.util.concurrent.ThreadPoolExecutor", "io.netty.channel.AbstractChannelHandlerContext", "org.sample.web.RowController$Inner"}
	for i := range 30 {
		switch i % 6 {
		case 0:
			fmt.Fprintf(&b, "panic: runtime error: index out of range [%d] with length %d\n\ngoroutine %d [running]:\n", r.Intn(50), r.Intn(9), 1+r.Intn(90))
			for range 5 {
				fmt.Fprintf(&b, "%s.(*Server).serve(0xc%s, {0x%s, 0x%x})\n\t/build/%s:%d +0x%x\n", pick(pkgs), hash(5)[:9], hash(3), r.Intn(64), pick(files), r.Intn(900), r.Intn(4096))
			}
			b.WriteString("exit status 2\n\n")
		case 1:
			b.WriteString("Traceback (most recent call last):\n")
			for range 4 {
				fmt.Fprintf(&b, "  File \"/srv/app/%s\", line %d, in run\n    value = table[key].strip()\n            ~~~~~^^^^^\n", pick(files), r.Intn(500))
			}
			fmt.Fprintf(&b, "KeyError: 'row_%d'\n\n", r.Intn(1000))
		case 2:
			fmt.Fprintf(&b, "java.lang.IllegalStateException: entry %s expired at %sT04:%02d:07Z\n", uuid(), date(), r.Intn(60))
			for range 6 {
				fmt.Fprintf(&b, "\tat %s.lambda$run$%d(%s.java:%d) ~[store-%s.jar!/:%s]\n", pick(classes), r.Intn(9), "Store", r.Intn(400), version(), version())
			}
			fmt.Fprintf(&b, "Caused by: java.io.IOException: Broken pipe\n\t... %d common frames omitted\n\n", r.Intn(60))
		case 3:
			fmt.Fprintf(&b, "thread 'main' panicked at src/table.rs:%d:%d:\ncalled `Option::unwrap()` on a `None` value\nstack backtrace:\n", r.Intn(200), r.Intn(80))
			for k := range 6 {
				fmt.Fprintf(&b, "  %2d: 0x%s - core::ops::function::FnOnce::call_once::h%s\n             at /rustc/%s/library/core/src/ops/function.rs:%d:5\n", k, hash(6), hash(8), hash(20), r.Intn(300))
			}
			b.WriteByte('\n')
		case 4:
			fmt.Fprintf(&b, "TypeError: Cannot read properties of undefined (reading 'length')\n")
			for range 5 {
				fmt.Fprintf(&b, "    at Object.<anonymous> (webpack-internal:///./%s:%d:%d)\n    at async Promise.all (index %d)\n", pick(files), r.Intn(400), r.Intn(80), r.Intn(4))
			}
			b.WriteByte('\n')
		default:
			fmt.Fprintf(&b, "==%d== Invalid read of size 8\n==%d==    at 0x%s: buffer_append (buffer.c:%d)\n==%d==  Address 0x%s is %d bytes inside a block of size 64 free'd\n\n",
				1000+i, 1000+i, strings.ToUpper(hash(3)), r.Intn(90), 1000+i, hash(4), r.Intn(64))
		}
	}
	return b.String()
}

func changelog() string {
	var b strings.Builder
	b.WriteString("# Changelog\n\nAll notable changes; the format follows Keep a Changelog, versions follow SemVer.\n\n")
	verbs := []string{"Add", "Fix", "Remove", "Speed up", "Document", "Deprecate", "Rename", "Simplify", "Test"}
	what := []string{
		"the `--dry-run` flag of `import`", "a race when two sessions end at once", "support for Python 3.8", "reading of large archives (-%d %%)", "what an empty cell means",
		"`Store.get(key)` in favour of `Store.find(key)`", "the prompt for a file name", "retry with jitter after HTTP 429", "sorting of İ, ß and ǆ", "time zones without a name",
		"the sudo wrapper of the installer", "how instructions for the printer are queued", "the new system tray icon", "overriding of defaults in `config/default.toml`", "the act of closing a session twice",
	}
	for v := 24; v > 0; v-- {
		fmt.Fprintf(&b, "## [1.%d.%d] - %s\n\n", v, r.Intn(9), date())
		for _, section := range []string{"Added", "Changed", "Fixed"} {
			fmt.Fprintf(&b, "### %s\n\n", section)
			for range 2 + r.Intn(3) {
				w := pick(what)
				if strings.Contains(w, "%d") {
					w = fmt.Sprintf(w, r.Intn(80))
				}
				fmt.Fprintf(&b, "- %s %s ([#%d](https://github.com/acme/shop/pull/%d), %s)\n", pick(verbs), w, r.Intn(4000), r.Intn(4000), hash(20)[:7])
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func hashes() string {
	var b strings.Builder
	b.WriteString("# Digests and ids\n\n| File | SHA-256 | Size |\n|---|---|--:|\n")
	for range 60 {
		sum := sha256.Sum256([]byte(hash(8)))
		fmt.Fprintf(&b, "| `%s` | `sha256:%x` | %d |\n", pick(files), sum, r.Intn(1<<20))
	}
	b.WriteString("\n## Sessions\n\n")
	for range 60 {
		fmt.Fprintf(&b, "- %s started %sT%02d:%02d:00Z, commit %s, tree %s\n", uuid(), date(), r.Intn(24), r.Intn(60), hash(20), hash(20)[:12])
	}
	b.WriteString("\n## go.sum\n\n```\n")
	for range 40 {
		sum := sha256.Sum256([]byte(hash(8)))
		fmt.Fprintf(&b, "github.com/acme/%s v%s h1:%s\n", []string{"shop", "store", "lines", "report"}[r.Intn(4)], version(), base64.StdEncoding.EncodeToString(sum[:]))
	}
	b.WriteString("```\n\n## package-lock.json\n\n```\n")
	for range 30 {
		sum := sha1.Sum([]byte(hash(8)))
		fmt.Fprintf(&b, "      \"integrity\": \"sha512-%s%s==\",\n", base64.RawStdEncoding.EncodeToString([]byte(hash(16))[:15])+base64.RawStdEncoding.EncodeToString(sum[:18]), "A")
	}
	b.WriteString("```\n\nImage: `registry.internal/shop/api@sha256:" + hash(32) + "`, trace id " + hash(16) + ", ULID 01J8ZQ5RM2T4W6Y8A0C2E4G6J8, ETag W/\"" + hash(8) + "\"\n")
	return b.String()
}

// images holds small pictures as data URLs and as wrapped base64.
func images() string {
	var b strings.Builder
	b.WriteString("# Screenshots\n\n")
	for i := range 14 {
		img := image.NewRGBA(image.Rect(0, 0, 12+i, 10))
		for y := range 10 {
			for x := range 12 + i {
				img.Set(x, y, color.RGBA{uint8(r.Intn(256)), uint8(x * 9), uint8(y * 20), 255})
			}
		}
		var buf bytes.Buffer
		if err := png.Encode(&buf, img); err != nil {
			log.Fatal(err)
		}
		text := base64.StdEncoding.EncodeToString(buf.Bytes())
		if i%2 == 0 {
			fmt.Fprintf(&b, "![icon %d](data:image/png;base64,%s)\n\n", i, text)
			continue
		}
		b.WriteString("```\n")
		for len(text) > 76 {
			b.WriteString(text[:76] + "\n")
			text = text[76:]
		}
		b.WriteString(text + "\n```\n\n")
	}
	b.WriteString("A note in base64 that says nothing special: " + base64.StdEncoding.EncodeToString([]byte("The quick brown fox jumps over the lazy dog, twice a day.")) + "\n")
	return b.String()
}

func emoji() string {
	lines := []string{
		"👨‍👩‍👧‍👦 family, 👩🏽‍💻 coder, 🧑🏾‍🤝‍🧑🏻 holding hands, 👩‍❤️‍💋‍👨 kiss", "✅ done, ⚠️ careful, ❌ no, ✔︎ text style, ℹ️ note, ™️ mark, ©️ right",
		"1️⃣ 2️⃣ 3️⃣ #️⃣ *️⃣ keycaps in a list", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 three flags of tags", "🏳️‍🌈 🏳️‍⚧️ 🏴‍☠️ flags with joiners",
		"🇩🇪 🇫🇷 🇯🇵 🇺🇦 🇧🇷 🇮🇳 🇪🇺 regional flags", "❤️‍🔥 heart on fire, ❤️‍🩹 mending, 🐻‍❄️ polar bear, 🐦‍⬛ blackbird", "👍🏻👍🏼👍🏽👍🏾👍🏿 tones", "🧔‍♀️ 🤷‍♂️ 💁🏿‍♀️ 🕵️‍♂️ people",
		"→ ⇒ ↔︎ ▶️ ⏸️ ⏏️ arrows and buttons", "☀️ ☁️ ☂️ ❄️ ☃️ weather", "㊗️ ㊙️ 〰️ 〽️ CJK marks", "∩︀ ≩︀ ⊓︀ mathematical variants", "🈂️ 🅰️ 🅱️ 🅿️ squares", "⌨️ 🖥️ 🖨️ 🖱️ devices", "👁️‍🗨️ witness, ⛹🏽‍♀️ ball, 🏋️‍♂️ weights",
	}
	var b strings.Builder
	b.WriteString("# Release party 🎉\n\n")
	for i := range 60 {
		fmt.Fprintf(&b, "- %s %s: %s\n", []string{"✅", "🚧", "🐛", "🚀", "📝"}[i%5], date(), lines[r.Intn(len(lines))])
	}
	for _, l := range lines {
		b.WriteString("\n" + l + "\n")
	}
	return b.String()
}

func logs() string {
	var b strings.Builder
	levels := []string{"INFO ", "WARN ", "DEBUG", "ERROR"}
	msgs := []string{
		"request finished", "cache miss", "retrying in 2s (attempt 3 of 5)", "connection reset by peer", "user signed in", "slow query", "lease renewed", "worker idle",
		"checkpoint written", "GC pause 12ms", "token bucket refilled", "key not found in index", "password policy: 12 characters or more", "secret store reachable",
	}
	for range 260 {
		fmt.Fprintf(&b, "%sT%02d:%02d:%02d.%03dZ %s [%s] %s span=%s ip=10.%d.%d.%d dur=%dms path=/api/v2/rows/%d?sort=name&limit=%d\n", date(), r.Intn(24), r.Intn(60), r.Intn(60), r.Intn(1000),
			pick(levels), strings.ReplaceAll(pick(files), "/", "."), pick(msgs), hash(4), r.Intn(256), r.Intn(256), r.Intn(256), r.Intn(900), r.Intn(99999), r.Intn(100))
	}
	return b.String()
}

func links() string {
	var b strings.Builder
	b.WriteString("# Where to look\n\n")
	hosts := []string{"https://pkg.go.dev/net/http#Client.Do", "https://docs.python.org/3/library/asyncio-queue.html", "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2",
		"https://developer.mozilla.org/en-US/docs/Web/API/URL?utm_source=notes&amp;lang=en", "ssh://git.internal:2222/team/repo.git", "postgres://localhost:5432/shop?sslmode=disable",
		"file:///srv/backup/2026-05-01.tar.zst", "http://127.0.0.1:8080/healthz", "https://user:password@localhost:8443/", "redis://cache.example.com:6379/0", "amqp://guest:guest@queue/vhost"}
	for i := range 120 {
		switch i % 6 {
		case 0:
			fmt.Fprintf(&b, "- [%s](%s) for %s\n", pick(components), pick(hosts), pick(people))
		case 1:
			fmt.Fprintf(&b, "- <%s>\n", pick(hosts))
		case 2:
			fmt.Fprintf(&b, "- write to someone@example.com, noreply@corp.io or %s@users.noreply.github.com\n", strings.ToLower(pick(people)))
		case 3:
			fmt.Fprintf(&b, "- `npm install @acme/%s@%s` and `pip install shop==%s`; needs node@22 and go1.26\n", []string{"shop", "ui"}[r.Intn(2)], version(), version())
		case 4:
			fmt.Fprintf(&b, "- `%s` mentions @%s; see %s#L%d-L%d\n", pick(files), strings.ToLower(pick(people)), pick(files), r.Intn(90), 90+r.Intn(90))
		default:
			fmt.Fprintf(&b, "- set `API_KEY=<from the vault>`, `DB_PASSWORD=${DB_PASSWORD}` and `SIGNING_SECRET=changeme` before `%s`\n", pick([]string{"make run", "./run.sh", "npm start"}))
		}
	}
	return b.String()
}

func data(all map[string][]string) string {
	type task struct {
		Title  string   `json:"title"`
		Status string   `json:"status"`
		Commit string   `json:"commit"`
		Notes  []string `json:"notes"`
	}
	var names []string
	for n := range all {
		names = append(names, n)
	}
	sort.Strings(names)
	tasks := map[string]task{}
	for i := range 90 {
		n := names[i%len(names)]
		tasks[fmt.Sprintf("T-%03d", i)] = task{fill(pick(all["english"])), pick([]string{"ready", "done", "blocked"}), hash(20), []string{fill(pick(all[n])), fill(pick(all[n])) + "\n\n" + fill(pick(all["english"]))}}
	}
	out, err := json.MarshalIndent(map[string]any{"version": 3, "tasks": tasks}, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	return string(out) + "\n"
}

func configTOML() string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "[service.%s]\n# %s\nname = \"%s\"\nport = %d\ntimeout = \"%ds\"\nratio = %.3f\nenabled = %v\npaths = [\"%s\", \"%s\"]\n\n",
			[]string{"api", "worker", "web", "cron", "mail"}[i%5]+fmt.Sprint(i), fill("Owned by another team since {d}"), strings.Trim(pick(components), "`"), 1024+r.Intn(60000), r.Intn(90), r.Float64(), r.Intn(2) == 0, pick(files), pick(files))
	}
	return b.String()
}

func compose() string {
	var b strings.Builder
	b.WriteString("services:\n")
	for i := range 25 {
		fmt.Fprintf(&b, "  svc%02d:\n    image: registry.internal/shop/svc%02d@sha256:%s\n    restart: unless-stopped\n    environment:\n      LOG_LEVEL: info\n      PG_HOST: db\n      SECRET_FILE: /run/secrets/svc%02d\n    ports: [\"%d:80\"]\n    depends_on: [db, cache]\n", i, i, hash(32), i, 8000+i)
	}
	return b.String()
}
