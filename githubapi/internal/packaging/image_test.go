package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

// maxImage is how large the image may be, as the sum of its layers after gzip.
const maxImage = 18_000_000 // bytes

// The owner of the checkout in these tests: neither root nor anyone else here.
const ownerID = 12345

// shared is a folder for what is made once and used by several tests.
var shared string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	var err error
	if shared, err = os.MkdirTemp("", "handoff-gate-packaging-*"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(shared)
	defer removeImage()
	return m.Run()
}

// once makes something for the first test that asks. Where that one is skipped or
// fails, so do the others.
type once struct {
	sync.Once
	name string
}

func (o *once) get(t *testing.T, what string, build func() string) string {
	t.Helper()
	o.Do(func() { o.name = build() })
	if o.name == "" {
		t.Skipf("SKIPPED: there is no %s; the first test that needed it says why", what)
	}
	return o.name
}

var theModule, theBinary, theImage once

// module is a copy of this module, of which image and binary are built, so that they
// can be compared.
func module(t *testing.T) string {
	t.Helper()
	return theModule.get(t, "copy of the module", func() string {
		dir := filepath.Join(shared, "module")
		if err := sample.CopyModule(t.Context(), root(t), dir); err != nil {
			t.Fatal(err)
		}
		return dir
	})
}

// binary is the program as the image holds it.
func binary(t *testing.T) string {
	t.Helper()
	return theBinary.get(t, "binary", func() string {
		file := filepath.Join(shared, "handoff-gate")
		command(t, module(t), []string{"CGO_ENABLED=0", "GOFLAGS=-mod=readonly"}, "go", "build", "-trimpath", "-buildvcs=false",
			"-ldflags", "-s -w -buildid= -X main.version=0.1.0 -X main.commit=", "-o", file, ".")
		return file
	})
}

// image is the name of the image under test: the one that HANDOFF_GATE_IMAGE names, or
// one that is built from the Dockerfile. For that the base images are replaced by
// stand-ins made on this machine: a Debian of the same release by debootstrap, and the
// same with this machine's Go in it. The recipe is built unchanged; what differs is
// where its two FROM lines lead.
func image(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: builds an image; not with -short")
	}
	if output, err := exec.CommandContext(t.Context(), "docker", "version").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no Docker engine answers here: %v\n%s", err, output)
	}
	if name := os.Getenv("HANDOFF_GATE_IMAGE"); name != "" {
		return name
	}
	return theImage.get(t, "image", func() string { return buildImage(t, module(t)) })
}

// TestImage uses the image as a runner does.
func TestImage(t *testing.T) {
	image, binary := image(t), binary(t)
	t.Run("size", func(t *testing.T) { imageSize(t, image) })
	t.Run("contents", func(t *testing.T) { imageContents(t, image, binary) })
	t.Run("configuration", func(t *testing.T) { imageConfiguration(t, image) })
	t.Run("same report as the binary", func(t *testing.T) { sameReport(t, image, binary) })
	t.Run("as the runner starts it", func(t *testing.T) { asRunner(t, image, binary) })
	t.Run("fetches a base over HTTPS", func(t *testing.T) { fetchesBase(t, image) })
	t.Run("in workflows under act", func(t *testing.T) { imageUnderAct(t, image) })
}

// command runs a program and returns its output; it must succeed.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, output, &stderr)
	}
	return string(output)
}

// run starts a program that may fail and returns its streams and exit status.
func run(t *testing.T, env []string, dir, name string, args ...string) (stdout, log string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String(), out.String() + errs.String(), cmd.ProcessState.ExitCode()
}

// buildImage builds the Dockerfile over stand-ins and returns the image's name.
func buildImage(t *testing.T, module string) string {
	t.Helper()
	start := time.Now()
	debian, golang := standIns(t, module)
	t.Logf("stand-ins of the base images after %v", time.Since(start).Round(time.Second))
	const image = "handoff-gate-test:image"
	// The classic builder is the one that every engine has.
	command(t, module, []string{"DOCKER_BUILDKIT=0"}, "docker", "build", "--quiet", "--force-rm", "--tag", image,
		"--build-arg", "GO_IMAGE="+golang, "--build-arg", "DEBIAN_IMAGE="+debian,
		"--build-arg", "GOPROXY=file:///proxy", "--build-arg", "SOURCE_DATE_EPOCH=1767225600",
		"--build-arg", "CREATED=2026-01-01T00:00:00Z", ".")
	t.Logf("image after %v", time.Since(start).Round(time.Second))
	return image
}

// removeImage removes what buildImage made.
func removeImage() {
	if theImage.name == "" {
		return
	}
	_ = exec.Command("docker", "rmi", "--force", theImage.name).Run()
	// What the stages left: the next build may use the second again, for a day.
	_ = exec.Command("docker", "image", "prune", "--force", "--filter", "label=handoff-gate.stage=build").Run()
	_ = exec.Command("docker", "image", "prune", "--force", "--filter", "label=handoff-gate.stage=collect", "--filter", "until=24h").Run()
}

// standIns makes the two base images, or finds those of today.
func standIns(t *testing.T, module string) (debian, golang string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: stand-ins of the base images need root for debootstrap; set HANDOFF_GATE_IMAGE to test a built image")
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		t.Skip("SKIPPED: stand-ins of the base images need debootstrap (make needs installs it)")
	}
	day := time.Now().UTC().Format("20060102")
	const suite, mirror = "bookworm", "http://deb.debian.org/debian"
	debian = "handoff-gate-test/debian:" + day
	if exec.CommandContext(t.Context(), "docker", "image", "inspect", debian).Run() != nil {
		dir := filepath.Join(t.TempDir(), "debian")
		cmd := exec.CommandContext(t.Context(), "debootstrap", "--variant=minbase", suite, dir, mirror)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: debootstrap failed (no Debian mirror?): %v\n%s", err, output[max(0, len(output)-2000):])
		}
		// The published image follows updates and security fixes too.
		sources := fmt.Sprintf("deb %s %s main\ndeb %s %s-updates main\ndeb %s-security %s-security main\n", mirror, suite, mirror, suite, mirror, suite)
		if err := os.WriteFile(filepath.Join(dir, "etc", "apt", "sources.list"), []byte(sources), 0o644); err != nil {
			t.Fatal(err)
		}
		pipe(t, debian, func(w io.Writer) error {
			pack := exec.CommandContext(t.Context(), "tar", "--create", "--directory", dir, "--exclude=./var/cache/apt/archives/*.deb", ".")
			pack.Stdout = w
			return pack.Run()
		}, "import", "-", debian)
	}

	// Modules come from a folder in the image that holds exactly what a build needs, in
	// the form of a module proxy. It is filled from this machine's cache.
	cache := t.TempDir()
	have := strings.TrimSpace(command(t, module, nil, "go", "env", "GOMODCACHE"))
	upstream := strings.TrimSpace(command(t, module, nil, "go", "env", "GOPROXY"))
	command(t, module, []string{"GOMODCACHE=" + cache, "GOPROXY=file://" + have + "/cache/download," + upstream, "GOFLAGS=-mod=readonly -modcacherw", "CGO_ENABLED=0"},
		"go", "build", "-o", os.DevNull, ".")
	goroot := strings.TrimSpace(command(t, module, nil, "go", "env", "GOROOT"))
	golang = "handoff-gate-test/golang:" + day
	pipe(t, golang, func(w io.Writer) error {
		archive := tar.NewWriter(w)
		// A rebuilt one leaves the older one without a name; the label lets it be pruned.
		recipe := "FROM " + debian + "\nLABEL handoff-gate.stage=build\nENV PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin\nCOPY go /usr/local/go\nCOPY proxy /proxy\n"
		if err := archive.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(recipe))}); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, recipe); err != nil {
			return err
		}
		for name, dir := range map[string]string{"go/bin": goroot + "/bin", "go/pkg": goroot + "/pkg", "go/src": goroot + "/src", "go/lib": goroot + "/lib", "proxy": cache + "/cache/download"} {
			if err := addFolder(archive, name, dir); err != nil {
				return err
			}
		}
		for _, name := range []string{"VERSION", "go.env"} {
			if err := addFile(archive, "go/"+name, filepath.Join(goroot, name)); err != nil {
				return err
			}
		}
		return archive.Close()
	}, "build", "--quiet", "--force-rm", "--tag", golang, "-")

	// Those of other days are of no use any more.
	for _, name := range strings.Fields(command(t, "", nil, "docker", "images", "--format", "{{.Repository}}:{{.Tag}}")) {
		if strings.HasPrefix(name, "handoff-gate-test/") && !strings.HasSuffix(name, ":"+day) {
			_ = exec.CommandContext(t.Context(), "docker", "rmi", name).Run()
		}
	}
	return debian, golang
}

// pipe gives docker what write writes as its standard input.
func pipe(t *testing.T, what string, write func(io.Writer) error, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "docker", args...)
	cmd.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	reader, writer := io.Pipe()
	cmd.Stdin = reader
	go func() { _ = writer.CloseWithError(write(writer)) }()
	output, err := cmd.CombinedOutput()
	_ = reader.Close()
	if err != nil {
		t.Fatalf("make %s: %v\n%s", what, err, output)
	}
}

// addFolder adds a folder without what only tests of Go itself need: half of its files.
func addFolder(archive *tar.Writer, name, dir string) error {
	return filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() || strings.HasSuffix(entry.Name(), "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return addFile(archive, path.Join(name, filepath.ToSlash(rel)), file)
	})
}

func addFile(archive *tar.Writer, name, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: int64(len(data))}); err != nil {
		return err
	}
	_, err = archive.Write(data)
	return err
}

// imageSize adds up the layers as a registry would keep them.
func imageSize(t *testing.T, image string) {
	cmd := exec.CommandContext(t.Context(), "docker", "save", image)
	saved, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	var layers []string
	for archive := tar.NewReader(saved); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "manifest.json" {
			var manifest []struct{ Layers []string }
			if err := json.Unmarshal(data, &manifest); err != nil || len(manifest) != 1 {
				t.Fatalf("manifest.json: %v\n%s", err, data)
			}
			layers = manifest[0].Layers
		}
		if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			var compressed bytes.Buffer
			w := gzip.NewWriter(&compressed)
			_, err := w.Write(data)
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			data = compressed.Bytes()
		}
		sizes[header.Name] = int64(len(data))
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, layer := range layers {
		total += sizes[layer]
	}
	t.Logf("%d layers, %.2f MB compressed", len(layers), float64(total)/1e6)
	if len(layers) == 0 || total == 0 || total > maxImage {
		t.Errorf("the image has %d layers of together %d bytes compressed; at most %d are allowed", len(layers), total, maxImage)
	}
}

// imageContents holds the image to a list of what may be executable in it, and its
// binary to the bytes that the same commands make here.
func imageContents(t *testing.T, image, binary string) {
	container := strings.TrimSpace(command(t, "", nil, "docker", "create", image))
	defer command(t, "", nil, "docker", "rm", container)
	exported := command(t, "", nil, "docker", "export", container)
	found := map[string]bool{}
	for archive := tar.NewReader(strings.NewReader(exported)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := "/" + strings.TrimPrefix(header.Name, "./")
		found[name] = true
		library := strings.HasPrefix(name, "/usr/lib/") && strings.Contains(path.Base(name), ".so")
		loader := strings.HasPrefix(path.Base(name), "ld-linux")
		known := slices.Contains([]string{"/usr/local/bin/handoff-gate", "/usr/bin/git", "/usr/lib/git-core/git-remote-http"}, name)
		// Docker adds empty files as places to mount its own over.
		if header.Typeflag == tar.TypeReg && header.Size > 0 && header.Mode&0o111 != 0 && !library && !loader && !known {
			t.Errorf("an executable that does not belong into the image: %s", name)
		}
		if header.Mode&0o6000 != 0 {
			t.Errorf("%s is setuid or setgid", name)
		}
		if name != "/usr/local/bin/handoff-gate" {
			continue
		}
		got, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		// The image that CI names may have been built by another release of Go.
		if os.Getenv("HANDOFF_GATE_IMAGE") == "" && !bytes.Equal(got, want) {
			t.Error("the binary in the image differs from one that was built here: a build is not reproducible")
		}
	}
	for _, name := range []string{
		"/usr/local/bin/handoff-gate", "/usr/bin/git", "/usr/lib/git-core/git-remote-http", "/usr/lib/git-core/git-remote-https",
		"/etc/ssl/certs/ca-certificates.crt", "/tmp/", "/var/lib/dpkg/status.d/git", "/usr/share/doc/git/copyright",
	} {
		if !found[name] {
			t.Errorf("not in the image: %s", name)
		}
	}
	for _, program := range []string{"sh", "bash", "dash", "busybox", "perl", "python3", "apt", "apt-get", "dpkg", "curl"} {
		for _, dir := range []string{"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/"} {
			if found[dir+program] {
				t.Errorf("in the image: %s", dir+program)
			}
		}
	}
}

// imageConfiguration checks the parts of the image's description that the runner
// relies on.
func imageConfiguration(t *testing.T, image string) {
	var described []struct {
		Config struct {
			User         string
			Entrypoint   []string
			Volumes      map[string]any
			ExposedPorts map[string]any
			Healthcheck  any
			Labels       map[string]string
		}
	}
	if err := json.Unmarshal([]byte(command(t, "", nil, "docker", "image", "inspect", image)), &described); err != nil {
		t.Fatal(err)
	}
	c := described[0].Config
	if c.User != "" || len(c.Volumes) > 0 || len(c.ExposedPorts) > 0 || c.Healthcheck != nil {
		t.Errorf("the image sets a user, volumes, ports or a health check: %+v", c)
	}
	if fmt.Sprint(c.Entrypoint) != "[/usr/local/bin/handoff-gate]" {
		t.Errorf("the entry point is %q", c.Entrypoint)
	}
	if c.Labels["org.opencontainers.image.licenses"] != "Apache-2.0" || c.Labels["org.opencontainers.image.version"] == "" {
		t.Errorf("labels: %v", c.Labels)
	}
	stdout, _, _ := run(t, os.Environ(), "", "docker", "run", "--rm", "--network", "none", "--entrypoint", "/usr/bin/git", image, "version")
	var major, minor int
	if _, err := fmt.Sscanf(stdout, "git version %d.%d", &major, &minor); err != nil || major < 2 || major == 2 && minor < 39 {
		t.Errorf("git in the image answers %q; 2.39.4 or newer is needed", stdout)
	}
}

// checkout builds the sample repository and gives it to the test's owner, as far as
// this process may.
func checkout(t *testing.T) (dir string, commits sample.Commits) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tide-tables")
	commits, err := sample.Build(t.Context(), filepath.Join(root(t), "testdata", "sample"), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, commits
}

// giveAway makes the checkout belong to a user that is nobody here.
func giveAway(t *testing.T, dirs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return // it belongs to this process's user then, which the container's root is not either
	}
	for _, dir := range dirs {
		command(t, "", nil, "chown", "--recursive", fmt.Sprintf("%d:%d", ownerID, ownerID), dir)
	}
}

// sameReport: a checkout of another owner, judged inside the image and by the binary,
// gives the same report byte for byte.
func sameReport(t *testing.T, image, binary string) {
	dir, commits := checkout(t)
	for _, tt := range []struct {
		name, commit string
		status       int
	}{
		{"broken", commits.Failing, 1},
		{"repaired", commits.Repaired, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := sample.Checkout(t.Context(), dir, tt.commit); err != nil {
				t.Fatal(err)
			}
			giveAway(t, dir)
			args := []string{"verify", "--level", "ci", "--base", commits.Base, "--format", "json"}
			want, log, status := run(t, os.Environ(), dir, binary, args...)
			if status != tt.status || !json.Valid([]byte(want)) {
				t.Fatalf("the binary ends with %d, expected %d\n%s", status, tt.status, log)
			}
			inside := append([]string{"run", "--rm", "--network", "none", "-v", dir + ":/repo", "-w", "/repo", image}, args...)
			got, log, status := run(t, os.Environ(), "", "docker", inside...)
			if status != tt.status || got != want {
				t.Errorf("the image ends with %d, expected %d; its report is the binary's: %t\n%s", status, tt.status, got == want, log)
			}
		})
	}
}

// container is the command that starts the action as a runner does: as root, the
// workspace, the home and the command files mounted, their owner another user.
func container(t *testing.T, image string, r sample.Run, network string, more ...string) []string {
	t.Helper()
	home := t.TempDir()
	giveAway(t, r.Workspace, r.Commands, home)
	args := []string{
		"run", "--rm", "--network", network, "--workdir", "/github/workspace",
		"-v", r.Workspace + ":/github/workspace", "-v", r.Commands + ":/github/file_commands", "-v", home + ":/github/home", "-e", "HOME=/github/home",
	}
	for _, variable := range r.Environ("/github/workspace", "/github/file_commands") {
		args = append(args, "-e", variable)
	}
	return append(append(args, more...), image, "action")
}

// asRunner: the action inside the image, without a network, reaches the verdict and
// the report that the binary reaches with one.
func asRunner(t *testing.T, image, binary string) {
	api, err := apitest.New(apitest.Options{Repository: sample.Repository, Token: sample.Token})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	for _, tt := range []struct {
		name   string
		commit func(sample.Commits) (head, merge string)
		status int
	}{
		{"broken", func(c sample.Commits) (string, string) { return c.Failing, c.FailingMerge }, 1},
		{"repaired", func(c sample.Commits) (string, string) { return c.Repaired, c.RepairedMerge }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, commits := checkout(t)
			head, merge := tt.commit(commits)
			if err := sample.Checkout(t.Context(), dir, merge); err != nil {
				t.Fatal(err)
			}
			commands := filepath.Join(t.TempDir(), "commands")
			r := sample.Run{Workspace: dir, Commands: commands, SHA: merge, APIURL: api.URL, ServerURL: "https://github.example.test"}
			event := sample.PullRequest("opened", commits.Base, head)

			if err := r.Prepare(event); err != nil {
				t.Fatal(err)
			}
			env := append(r.Environ(dir, commands), "PATH="+os.Getenv("PATH"), "INPUT_REPORT=out/report.json")
			_, log, status := run(t, env, "", binary, "action")
			if status != tt.status {
				t.Fatalf("the binary ends with %d, expected %d\n%s", status, tt.status, log)
			}
			want, err := os.ReadFile(filepath.Join(dir, "out", "report.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
				t.Fatal(err)
			}

			if err := r.Prepare(event); err != nil {
				t.Fatal(err)
			}
			// A hyphen in a name survives only where no shell stands between.
			args := container(t, image, r, "none", "-e", "INPUT_REPORT=out/report.json", "-e", "INPUT_API-TIMEOUT=2")
			_, log, status = run(t, os.Environ(), "", "docker", args...)
			if status != tt.status {
				t.Fatalf("the image ends with %d, expected %d\n%s", status, tt.status, log)
			}
			got, err := os.ReadFile(filepath.Join(dir, "out", "report.json"))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("the reports differ (%v)\n%s", err, got)
			}
			output, err := r.Output()
			if err != nil || !strings.Contains(output, "reporting<<") || !strings.Contains(output, "commands\n") {
				t.Errorf("no output says that workflow commands were used: %v\n%s", err, output)
			}
			if summary, err := r.Summary(); err != nil || summary == "" {
				t.Errorf("no job summary: %v", err)
			}
			foreign(t, dir)
		})
	}
}

// foreign fails for files below dir that root made and kept: the next job on a
// self-hosted runner could not remove them.
func foreign(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if others := command(t, "", nil, "find", dir, "!", "-uid", strconv.Itoa(ownerID)); others != "" {
		t.Errorf("these belong to another user:\n%s", others)
	}
}

// gitServer serves repositories below dir over HTTPS to whoever has the token, as
// GitHub does, and notes the requests.
type gitServer struct {
	*httptest.Server
	mu       sync.Mutex
	accepted int
	refused  []string
}

func newGitServer(t *testing.T, dir string) *gitServer {
	t.Helper()
	backend := filepath.Join(strings.TrimSpace(command(t, "", nil, "git", "--exec-path")), "git-http-backend")
	handler := &cgi.Handler{Path: backend, Env: []string{
		"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		// What GitHub allows: a commit that no branch names can be fetched by id.
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
	}}
	s := &gitServer{}
	want := "basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+sample.Token))
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Values("Authorization")
		ok := len(given) == 1 && strings.EqualFold(given[0][:min(6, len(given[0]))], "basic ") && given[0][6:] == want[6:]
		s.mu.Lock()
		if ok {
			s.accepted++
		} else {
			s.refused = append(s.refused, fmt.Sprintf("%s %s with %d Authorization headers", r.Method, r.URL, len(given)))
		}
		s.mu.Unlock()
		if !ok {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// fetchesBase: a checkout of depth 1 lacks the base; the action inside the image
// fetches it over HTTPS with the token and a certificate it trusts, and does not
// without that trust.
func fetchesBase(t *testing.T, image string) {
	origin, commits := checkout(t)
	served := filepath.Join(t.TempDir(), "served")
	command(t, "", nil, "git", "clone", "--quiet", "--mirror", origin, filepath.Join(served, sample.Repository))
	server := newGitServer(t, served)
	authority := filepath.Join(t.TempDir(), "ca-certificates.crt")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o644); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		name   string
		mounts []string
		status int
	}{
		{"with its authority", []string{"-v", authority + ":/etc/ssl/certs/ca-certificates.crt:ro"}, 0},
		{"from an unknown authority", nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tide-tables")
			command(t, "", nil, "git", "init", "--quiet", dir)
			command(t, dir, nil, "git", "remote", "add", "origin", server.URL+"/"+sample.Repository)
			command(t, dir, nil, "git", "fetch", "--quiet", "--depth=1", "file://"+filepath.Join(served, sample.Repository), commits.RepairedMerge)
			command(t, dir, nil, "git", "checkout", "--quiet", "--detach", commits.RepairedMerge)

			r := sample.Run{Workspace: dir, Commands: filepath.Join(t.TempDir(), "commands"), SHA: commits.RepairedMerge, APIURL: server.URL + "/api/v3", ServerURL: server.URL}
			if err := r.Prepare(sample.PullRequest("opened", commits.Base, commits.Repaired)); err != nil {
				t.Fatal(err)
			}
			more := append([]string{"-e", "INPUT_CHECK-RUN=off"}, tt.mounts...)
			_, log, status := run(t, os.Environ(), "", "docker", container(t, image, r, "host", more...)...)
			if status != tt.status {
				t.Fatalf("it ends with %d, expected %d\n%s", status, tt.status, log)
			}
			output, err := r.Output()
			if err != nil {
				t.Fatal(err)
			}
			server.mu.Lock()
			accepted, refused := server.accepted, server.refused
			server.accepted, server.refused = 0, nil
			server.mu.Unlock()
			if tt.status == 0 && (accepted == 0 || len(refused) > 0 || !strings.Contains(output, commits.Base)) {
				t.Errorf("%d requests had the token, these not: %v\n%s", accepted, refused, log)
			}
			if tt.status == 1 && (accepted > 0 || !strings.Contains(log, "drift/base-missing")) {
				t.Errorf("%d requests went to a server that nobody vouches for\n%s", accepted, log)
			}
			if strings.Contains(log, sample.Token) {
				t.Error("the token is in the log")
			}
			foreign(t, dir)
		})
	}
}

// jobImage makes act run jobs in a container: only then does it give a container action
// its mounts. Any Linux will do for it.
func jobImage(t *testing.T) []string {
	t.Helper()
	job := "handoff-gate-test/debian:" + time.Now().UTC().Format("20060102")
	if err := exec.CommandContext(t.Context(), "docker", "image", "inspect", job).Run(); err != nil {
		t.Skip("SKIPPED: there is no image for act to run the job in")
	}
	return []string{"--platform", "ubuntu-latest=" + job, "--bind"}
}

// released is action.yml in the form of a release, which names the image; there it does
// so by digest.
func released(t *testing.T, image string) string {
	t.Helper()
	return strings.Replace(read(t, "action.yml"), "image: Dockerfile", "image: docker://"+image, 1)
}

// imageUnderAct runs the required-check example and the project's own workflow with the
// image, in the form that a release's action.yml has.
func imageUnderAct(t *testing.T, image string) {
	act := tool(t, "github.com/nektos/act")
	more := jobImage(t)
	metadata := released(t, image)
	t.Run("example", func(t *testing.T) { exampleUnderAct(t, act, metadata, more...) })

	// The project's own workflow, in a copy of this module whose action names the image.
	clone := filepath.Join(t.TempDir(), "module")
	command(t, "", nil, "git", "clone", "--quiet", module(t), clone)
	commit := func(path, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(clone, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		command(t, clone, nil, "git", "add", "--", path)
		command(t, clone, nil, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--message", path)
		return strings.TrimSpace(command(t, clone, nil, "git", "rev-parse", "HEAD"))
	}
	workflow := filepath.Join(clone, ".github", "workflows", "handoff.yml")
	for _, tt := range []struct {
		name, path string
		passes     bool
	}{
		{"own workflow, the sample project changed without its handoff", "testdata/sample/base/src/tides.py", false},
		{"own workflow, something else changed", "CONTRIBUTING.md", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := commit("action.yml", metadata+"# "+tt.name+"\n")
			head := commit(tt.path, read(t, tt.path)+"# one more line\n")
			underAct(t, act, clone, workflow, sample.PullRequest("opened", base, head), tt.passes, more...)
		})
	}
}
