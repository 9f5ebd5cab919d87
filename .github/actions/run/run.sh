#!/usr/bin/env bash
# Downloads the released binary for this runner, checks it, and starts `handoff-gate
# action`. Called by action.yml beside it, on Linux, macOS and Windows (Git's bash).
#
# Nothing is kept between runs, and nothing is run whose SHA-256 is not in
# checksums.txt, which comes with the commit that the workflow names.
#
# HANDOFF_GATE_RELEASES may name a mirror of the release downloads, for hosts that do
# not reach github.com. It needs no trust: the checksum decides.
set -euo pipefail

# The outputs are those of a gate that could not be run.
stop() {
	echo "::error title=handoff-gate::$1" >&2
	if [[ -n ${GITHUB_OUTPUT:-} ]]; then
		printf '%s\n' verdict=error errors=0 warnings=0 notices=0 reporting=commands >>"$GITHUB_OUTPUT"
	fi
	exit 2
}

# On Linux a program of the same user reads in /proc what a process was started with, and
# this shell waits beside the checks that the gate runs. So the script starts anew without
# the token in its environment and takes it from a pipe.
token=''
if [[ -n ${INPUT_TOKEN:-} && -r /proc/self/environ ]]; then
	exec 9< <(printf '%s' "$INPUT_TOKEN")
	INPUT_TOKEN='' HANDOFF_GATE_TOKEN_PIPE=9 exec bash "${BASH_SOURCE[0]}"
elif [[ ${HANDOFF_GATE_TOKEN_PIPE:-} == 9 ]]; then
	token=$(cat <&9)
	exec 9<&-
	unset HANDOFF_GATE_TOKEN_PIPE
else
	token=${INPUT_TOKEN:-}
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ! -f $here/checksums.txt || ! -f $here/version.txt ]]; then
	stop "this is not a released version: .github/actions/run works from a release's commit or tag, which holds checksums.txt"
fi
version=$(tr -d '[:space:]' <"$here/version.txt")

case ${RUNNER_OS:-$(uname -s)} in
Linux) os=linux suffix=.tar.gz program=handoff-gate ;;
macOS | Darwin) os=darwin suffix=.tar.gz program=handoff-gate ;;
Windows | MINGW* | MSYS*) os=windows suffix=.zip program=handoff-gate.exe ;;
*) stop "no binary is published for the operating system ${RUNNER_OS:-$(uname -s)}" ;;
esac
case ${RUNNER_ARCH:-$(uname -m)} in
X64 | x86_64 | amd64) arch=amd64 ;;
ARM64 | aarch64 | arm64) arch=arm64 ;;
*) stop "no binary is published for the architecture ${RUNNER_ARCH:-$(uname -m)}" ;;
esac

archive=handoff-gate_${version}_${os}_${arch}${suffix}
want=$(awk -v name="$archive" '$2 == name { print $1 }' "$here/checksums.txt")
[[ $want =~ ^[0-9a-f]{64}$ ]] || stop "checksums.txt has no line for $archive"

folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/handoff-gate.XXXXXX")
trap 'rm -rf "$folder"' EXIT # nothing is left on the runner
releases=${HANDOFF_GATE_RELEASES:-https://github.com/handoff-gate/handoff-gate/releases/download}
curl --fail --silent --show-error --location --retry 3 --max-time 300 \
	--output "$folder/$archive" "$releases/$version/$archive" ||
	stop "$archive could not be downloaded from $releases/$version"

if command -v sha256sum >/dev/null; then
	got=$(sha256sum <"$folder/$archive")
else # macOS
	got=$(shasum -a 256 <"$folder/$archive")
fi
got=${got%% *}
[[ $got == "$want" ]] || stop "$archive has SHA-256 $got, but $want was released; it is not run"

case $suffix in
.tar.gz) tar -xzf "$folder/$archive" -C "$folder" "$program" ;;
.zip)
	if command -v unzip >/dev/null; then
		unzip -q "$folder/$archive" "$program" -d "$folder"
	else
		# shellcheck disable=SC2016 # the variables are PowerShell's
		ARCHIVE=$(cygpath -w "$folder/$archive") FOLDER=$(cygpath -w "$folder") \
			powershell.exe -NoProfile -Command 'Expand-Archive -LiteralPath $env:ARCHIVE -DestinationPath $env:FOLDER'
	fi
	;;
esac

# action.yml sets every input under the name with `_`. One with `-`, which the gate would
# prefer, can only come from an earlier step, through GITHUB_ENV: it must not choose whose
# policy judges the change. On Windows its letters may be of either case.
foreign=(env)
shopt -s nocasematch
while IFS='=' read -r name _; do
	if [[ $name == INPUT_*-* ]]; then foreign+=(-u "$name"); fi
done < <(env)

# A cancelled job signals this shell alone, so the signal is passed on: the gate then
# completes its check run as cancelled. The status is the gate's own.
INPUT_TOKEN=$token "${foreign[@]}" "$folder/$program" action &
gate=$!
token=''
trap 'kill -TERM "$gate" 2>/dev/null || true' INT TERM
status=0
wait "$gate" || status=$?
if kill -0 "$gate" 2>/dev/null; then # the first wait was ended by a signal
	status=0
	wait "$gate" || status=$?
fi
exit "$status"
