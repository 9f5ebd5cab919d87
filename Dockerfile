# The image of the action: our binary, git, and what git needs to fetch over HTTPS.
# Nothing else: no shell, no package manager, no interpreter.
#
#   docker build -t handoff-gate .
#   docker run --rm -v "$PWD:/repo" -w /repo handoff-gate verify --level ci --base COMMIT
#
# Both the classic builder and BuildKit build it, the latter for several
# platforms at once without emulation. How it is put together: docs/image.md.

# The two base images, the only ones, each pinned by digest. This is the one place
# where they are named. `make pin-images` asks the registry for the digests of the
# day and writes them here; review and commit what it wrote.
#
# A digest of zeros names no image: as long as one stands here, nobody with access
# to a registry has run `make pin-images` yet, and an unparameterised build stops at
# FROM instead of taking whatever the tag means today. `--build-arg GO_IMAGE=…`
# overrides each.
ARG GO_IMAGE=golang:1.26-bookworm@sha256:0000000000000000000000000000000000000000000000000000000000000000
ARG DEBIAN_IMAGE=debian:bookworm-slim@sha256:0000000000000000000000000000000000000000000000000000000000000000

# Stage 1: the binary, cross-compiled on the machine that builds. The classic
# builder does not set BUILDPLATFORM; an ARG with a default here would also beat
# BuildKit's own value, hence the default in the expression.
FROM --platform=${BUILDPLATFORM:-linux/amd64} ${GO_IMAGE} AS build
# The classic builder keeps each stage as an image without a name; by this label they
# can be found and pruned. It does not reach the final image.
LABEL handoff-gate.stage=build
WORKDIR /src
# Set automatically by BuildKit; empty in the classic builder, which builds for its own platform.
ARG TARGETOS
ARG TARGETARCH
# main.go has the same default; a release passes its own.
ARG VERSION=0.1.0
ARG REVISION=
# Modules come from here, and their bytes are checked against go.sum wherever that is.
ARG GOPROXY=https://proxy.golang.org
# .dockerignore lets in the module's sources and nothing else.
COPY . .
# -mod=readonly, so that the build cannot change go.mod or go.sum; no toolchain but the
# image's own is used. Two builds of one commit give the same bytes.
RUN CGO_ENABLED=0 GOFLAGS=-mod=readonly GOTOOLCHAIN=local \
    GOOS="${TARGETOS:-linux}" GOARCH="${TARGETARCH:-$(go env GOARCH)}" \
    go build -trimpath -buildvcs=false \
      -ldflags "-s -w -buildid= -X main.version=${VERSION} -X main.commit=${REVISION}" \
      -o /out/handoff-gate .

# Stage 2: git and what it needs, for the target platform, gathered on the machine that builds.
FROM --platform=${BUILDPLATFORM:-linux/amd64} ${DEBIAN_IMAGE} AS collect
LABEL handoff-gate.stage=collect
COPY .github/image/collect /usr/local/bin/collect
ARG TARGETARCH
ARG SOURCE_DATE_EPOCH=0
RUN DEBIAN_FRONTEND=noninteractive collect "${TARGETARCH:-$(dpkg --print-architecture)}" /root/image

# Stage 3: the image.
FROM scratch
COPY --from=collect /root/image/ /
COPY --from=build /out/handoff-gate /usr/local/bin/handoff-gate
ENV PATH=/usr/local/bin:/usr/bin

ARG VERSION=0.1.0
ARG REVISION=
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Handoff Gate" \
      org.opencontainers.image.description="Verifies the AI handoff set of a repository against the change under review." \
      org.opencontainers.image.source="https://github.com/handoff-gate/handoff-gate" \
      org.opencontainers.image.url="https://github.com/handoff-gate/handoff-gate" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.created="${CREATED}"

# There is no USER line, so the user is root. GitHub requires it of a container
# action: the workspace and the files behind GITHUB_OUTPUT and GITHUB_STEP_SUMMARY
# belong to the runner's user, and any other user here is refused when it writes
# them. What root could do is cut down in the program instead: before it runs a
# command that a repository declares, it makes itself unreadable to that command and
# starts it as the owner of the checkout (docs/threat-model.md).

# The binary itself, in exec form: a shell could not pass on variables with a hyphen
# in their name (INPUT_CHECK-NAME), and there is no shell.
ENTRYPOINT ["/usr/local/bin/handoff-gate"]
