# shellcheck shell=bash
# What every script shares: folders, messages, tools, locks.
# shellcheck disable=SC2034 # the folders are used by those that read this file
# Written for bash 3.2 as well, which is what macOS ships.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# Things that are built once for all clones. Nothing in it belongs to one clone.
CACHE=${CATALOGUE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/catalogue}

# Data and state of this clone's own services. It is inside the tree, ignored by
# git, so that it is found at a glance, is never shared by two clones and goes
# when the clone is deleted.
RUN_DIR=$ROOT/.run

say() { printf '==> %s\n' "$*" >&2; }
note() { printf '    %s\n' "$*" >&2; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# tool_hint says what a tool is for and where it comes from.
tool_hint() {
  case $1 in
    go) echo "Go 1.26 or newer builds and tests the project: https://go.dev/dl" ;;
    cargo) echo "Rust 1.95 or newer builds the local database engine: https://rustup.rs" ;;
    cc) echo "a C compiler is needed for the local engine and for Go's race detector: apt-get install gcc, dnf install gcc, xcode-select --install" ;;
    c++) echo "a C++ compiler is needed for the local engine: apt-get install g++, dnf install gcc-c++, xcode-select --install" ;;
    cmake) echo "cmake builds the local engine's storage library: apt-get install cmake, dnf install cmake, brew install cmake" ;;
    make) echo "make builds the local engine's storage library: apt-get install make, dnf install make, xcode-select --install" ;;
    flock) echo "flock keeps two starts from disturbing each other: apt-get install util-linux, dnf install util-linux, brew install flock" ;;
    valkey-server) echo "Valkey or Redis keeps the counts: apt-get install valkey or redis-server, dnf install valkey, brew install valkey; or give an address in CATALOGUE_REDIS_URL" ;;
    python3) echo "apt-get install python3 python3-pip, dnf install python3-pip, brew install python" ;;
    pip) echo "apt-get install python3-pip, dnf install python3-pip, python3 -m ensurepip" ;;
    git) echo "git tells which files the checks changed: apt-get install git, dnf install git, brew install git" ;;
    *) echo "install it with your package manager" ;;
  esac
}

# need ends the script unless all tools are there; it names every missing one at
# once, so that nobody installs them one failure at a time.
need() {
  local tool missing=""
  for tool in "$@"; do
    have "$tool" || missing="$missing $tool"
  done
  [ -n "$missing" ] || return 0
  printf 'error: missing on this machine:%s\n' "$missing" >&2
  for tool in $missing; do
    printf '  %-6s %s\n' "$tool" "$(tool_hint "$tool")" >&2
  done
  exit 1
}

# lock FD FILE WHAT waits until nobody else holds FILE. The lock ends with this
# process, also when it is killed; long-lived children must close FD.
lock() {
  need flock
  mkdir -p "$(dirname "$2")"
  eval "exec $1>>\"\$2\""
  flock -n "$1" && return
  say "waiting: another make is $3"
  flock "$1"
}

unlock() { eval "exec $1>&-"; }

# within SECONDS COMMAND… bounds a command that could hang; where the system has
# no timeout command it runs unbounded.
within() {
  local seconds=$1
  shift
  if have timeout; then timeout "$seconds" "$@"; else "$@"; fi
}

# mask hides user and password of a URI: what is printed ends up in logs.
mask() { printf '%s' "$1" | sed -E 's#^([a-z+]+://)[^/]*@#\1***@#'; }

# answers HOST PORT: does something accept connections there?
answers() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# random_port prints a port that nobody serves, below those that systems give to outgoing
# connections. It may be taken between the look and the start of a server on it.
random_port() {
  local port=$((20000 + RANDOM % 12000))
  while answers 127.0.0.1 "$port"; do port=$((20000 + RANDOM % 12000)); done
  printf '%s' "$port"
}
