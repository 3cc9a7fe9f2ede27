# shellcheck shell=bash
# Building the local engine, SecantusDB: a server that speaks MongoDB's protocol
# and comes from Rust's package registry, so neither Docker nor root is needed.

ENGINE_VERSION=0.5.3-beta.196
ENGINE_HOME=$CACHE/secantus-$ENGINE_VERSION
ENGINE_BIN=$ENGINE_HOME/bin/secantusd-rs
ENGINE_CRATES=210 # roughly; only for the progress lines

# engine_build makes ENGINE_BIN exist. Whatever is at ENGINE_HOME is complete: it
# is built elsewhere and renamed at the end.
engine_build() {
  [ ! -x "$ENGINE_BIN" ] || return 0
  need cargo cc c++ cmake make
  lock 8 "$CACHE/build.lock" "building the local engine"
  if [ ! -x "$ENGINE_BIN" ]; then
    engine_compile
  fi
  unlock 8
}

# engine_compile runs under the lock, so temporary folders that it finds were
# left by a build that was killed.
engine_compile() {
  local started=$SECONDS log=$CACHE/secantus-$ENGINE_VERSION.log
  rm -rf "$CACHE"/secantus-*.tmp.*
  BUILD_TMP=$(mktemp -d "$CACHE/secantus-$ENGINE_VERSION.tmp.XXXXXX")
  BUILD_PID=""
  trap engine_abort EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  say "building the local engine, SecantusDB $ENGINE_VERSION: once, 3 to 5 minutes on two cores"
  note "into $ENGINE_HOME, log in $log"
  engine_cargo >"$log"
  engine_progress "$log" "$started"
  if ! wait "$BUILD_PID" || ! "$BUILD_TMP/root/bin/secantusd-rs" --version >>"$log" 2>&1; then
    printf '    the build ends with:\n' >&2
    tail -n 25 "$log" | sed 's/^/    | /' >&2
    fail "the local engine could not be built ($log); $(cargo --version) was used, 1.95 or newer is needed"
  fi
  BUILD_PID=""
  rm -rf "$ENGINE_HOME"
  mv "$BUILD_TMP/root" "$ENGINE_HOME"
  trap - EXIT INT TERM HUP
  rm -rf "$BUILD_TMP"
  say "the local engine is built ($((SECONDS - started)) s)"
}

# engine_cargo starts the build in a process group of its own, so that an abort
# ends the compilers too. Without link-time optimisation the build is 40 s
# shorter and the server about 15 % slower. The crate declares a newer Rust than
# it needs.
engine_cargo() {
  set -m
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_TERM_COLOR=never \
    cargo install secantus-mdb --version "$ENGINE_VERSION" --locked --ignore-rust-version \
    --root "$BUILD_TMP/root" --target-dir "$BUILD_TMP/target" </dev/null 2>&1 8>&- 9>&- &
  BUILD_PID=$!
  set +m
}

engine_progress() {
  local log=$1 started=$2 shown=$SECONDS
  while kill -0 "$BUILD_PID" 2>/dev/null; do
    sleep 0.5
    [ $((SECONDS - shown)) -ge 15 ] || continue
    shown=$SECONDS
    note "$((SECONDS - started)) s: $(grep -c '^ *Compiling' "$log" || true) of about $ENGINE_CRATES crates"
  done
}

engine_abort() {
  [ -z "$BUILD_PID" ] || kill -- "-$BUILD_PID" 2>/dev/null || true
  rm -rf "$BUILD_TMP" 2>/dev/null || true
}
