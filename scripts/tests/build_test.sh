# shellcheck shell=bash
# Building the engine, with a cargo that takes a second and makes a fake server.

# fake_cargo FOLDER BODY
fake_cargo() {
  mkdir -p "$1"
  cat >"$1/cargo" <<STUB
#!/usr/bin/env bash
[ "\$1" != --version ] || { echo "cargo 0.0.0"; exit; }
echo run >>"$1/runs"
while [ \$# -gt 0 ]; do [ "\$1" != --root ] || root=\$2; shift; done
$2
STUB
  chmod +x "$1/cargo"
}

FAKE_SERVER='mkdir -p "$root/bin"; printf "#!/bin/sh\necho 0\n" >"$root/bin/secantusd-rs"; chmod +x "$root/bin/secantusd-rs"'

# build CLONE NAME only builds, with the cache and the fake cargo of that name. It
# takes the place of the shell that calls it, so that a signal reaches it.
build() {
  cd "$WORK/$1" || exit
  export PATH=$WORK/cargo-$2:$PATH CATALOGUE_CACHE=$WORK/cache-$2
  exec bash -c 'set -euo pipefail; . scripts/lib/common.sh; . scripts/lib/engine_build.sh; engine_build'
}

test_two_clones_build_once() {
  clone one
  clone two
  fake_cargo "$WORK/cargo-once" "sleep 1; $FAKE_SERVER"
  build one once &
  local other=$!
  (build two once)
  wait "$other"
  equal "$(grep -c run "$WORK/cargo-once/runs")" 1
  equal "$(ls -d "$WORK"/cache-once/*.tmp.* 2>/dev/null || true)" ""
}

test_a_failed_build_shows_its_log_and_leaves_nothing() {
  clone broken
  fake_cargo "$WORK/cargo-broken" "echo 'error: linking failed'; exit 101"
  local said
  said=$(build broken broken 2>&1) && die "a failed build counts as built"
  contains "$said" "linking failed"
  contains "$said" "could not be built"
  equal "$(ls -d "$WORK"/cache-broken/secantus-*/ 2>/dev/null || true)" ""
}

test_an_aborted_build_ends_its_compilers_and_leaves_nothing() {
  clone aborted
  fake_cargo "$WORK/cargo-aborted" "sleep 61 & echo \$! >'$WORK/compiler'; wait"
  build aborted aborted &
  local tries=0
  until [ -s "$WORK/compiler" ] || [ "$tries" -eq 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill "$!"
  wait $! && die "an aborted build counts as built"
  lacks "$(command_of "$(cat "$WORK/compiler")")" sleep
  equal "$(ls -d "$WORK"/cache-aborted/secantus-*/ 2>/dev/null || true)" ""
}

test_missing_tools_are_named_with_their_source() {
  clone bare
  mkdir "$WORK/path"
  local tool said
  for tool in bash dirname cat cksum cut sed tr flock mkdir make; do
    ln -s "$(command -v "$tool")" "$WORK/path/$tool"
  done
  said=$(PATH=$WORK/path CATALOGUE_CACHE=$WORK/cache-bare services bare up 2>&1) && die "it went on without cargo"
  contains "$said" "missing on this machine: cargo cc c++ cmake"
  contains "$said" "rustup.rs"
}
