# shellcheck shell=bash
# ENGINE: which database is used, and what make test and make bench do with it.

# fake_go NAME makes a go that prints how it is called; what it builds prints that, too.
fake_go() {
  mkdir -p "$WORK/go-$1"
  cat >"$WORK/go-$1/go" <<'STUB'
#!/usr/bin/env bash
echo "go $*, skip=${CATALOGUE_TEST_SKIP_MISSING:-} engine=${CATALOGUE_TEST_ENGINE:-} uri=${CATALOGUE_TEST_MONGODB_URI:-}"
[ "$1" != build ] || { printf '#!/bin/sh\necho "bench $*, at $CATALOGUE_TEST_MONGODB_URI and $CATALOGUE_TEST_REDIS_URL"\n' >"$3" && chmod +x "$3"; }
[ -z "${GOTESTSUM_JSONFILE:-}" ] || printf '%s\n' \
  '{"Action":"output","Output":"    a_test.go:3: needs transactions, which this server does not have\n"}' \
  '{"Action":"output","Output":"    b_test.go:3: takes hours\n"}' >"$GOTESTSUM_JSONFILE"
exit "${FAKE_STATUS:-0}"
STUB
  chmod +x "$WORK/go-$1/go"
}

# run_tests CLONE ARGUMENT… is scripts/test with the fake go of the clone's name.
run_tests() { PATH=$WORK/go-$1:$PATH "$WORK/$1/scripts/test" "${@:2}" 2>&1; }

elsewhere() { CATALOGUE_TEST_MONGODB_URI=mongodb://db.example CATALOGUE_TEST_REDIS_URL=redis://cache.example "$@"; }

test_a_wrong_engine_is_refused_with_the_right_ones() {
  clone mistyped
  local said
  said=$(ENGINE=mysql services mistyped up 2>&1) && die "ENGINE=mysql is taken"
  contains "$said" "ENGINE is 'mysql'; it may be documentdb"
  contains "$said" secantus
  contains "$said" mongodb
  said=$(ENGINE=mysql services mistyped down 2>&1) || die "it cannot be stopped: $said"
}

test_an_engine_and_an_address_contradict_each_other() {
  clone torn
  local said
  said=$(ENGINE=secantus CATALOGUE_MONGODB_URI=mongodb://db.example services torn up 2>&1) && die "one of them was taken"
  contains "$said" "leave out one of them"
  said=$(ENGINE=documentdb CATALOGUE_TEST_MONGODB_URI=mongodb://db.example services torn up test 2>&1) && die "one of them was taken"
  contains "$said" "CATALOGUE_TEST_MONGODB_URI"
  [ ! -d "$WORK/torn/.run" ] || die "something was started"
}

test_an_engine_that_is_asked_for_comes_before_docker() {
  clone asked
  fake_docker asked
  local said
  said=$(PATH=$WORK/docker-asked:$PATH CATALOGUE_SERVICES='' ENGINE=secantus services asked up 2>&1)
  contains "$said" "ENGINE=secantus asks for it"
  contains "$said" ":$(cat "$WORK/asked/.run/run/port")/"
  said=$(PATH=$WORK/docker-asked:$PATH CATALOGUE_SERVICES='' ENGINE=mongodb services asked up 2>&1)
  contains "$said" "ENGINE=mongodb asks for it"
  contains "$said" ":$(cat "$WORK/warm/.run/run/port")/"
  PATH=$WORK/docker-asked:$PATH services asked down
}

test_tests_end_with_what_was_skipped() {
  clone shown
  fake_go shown
  local said
  said=$(elsewhere run_tests shown -run Cursor ./pagination)
  contains "$said" "gotestsum --format pkgname --format-hide-empty-pkg -- -race -shuffle=on -timeout 15m -run Cursor ./pagination,"
  contains "$said" "skip= engine= uri=mongodb://db.example"
  contains "$(elsewhere run_tests shown -v ./...)" "--format standard-verbose"
  # gotestsum takes a benchmark for a test without an end
  contains "$(elsewhere run_tests shown -race=false -bench . ./...)" "go test -race -shuffle=on -timeout 15m -race=false -bench . ./..."
  FAKE_STATUS=3 elsewhere run_tests shown && die "failed tests count as passed"
  equal "$(FAKE_STATUS=3 elsewhere run_tests shown >/dev/null || echo $?)" 3
}

test_tests_on_documentdb_may_skip_and_are_counted() {
  needs_documentdb || return 0
  clone counted
  fake_go counted
  local said
  said=$(CATALOGUE_TEST_ENGINE=/somewhere ENGINE=documentdb run_tests counted ./...)
  contains "$said" "skip=1 engine= uri=mongodb://127.0.0.1:$(cat "$WORK/counted/.run/documentdb/test/port")/"
  contains "$said" "1 tests need what this engine has not"
  equal "$(FAKE_STATUS=3 ENGINE=documentdb run_tests counted >/dev/null || echo $?)" 3
}

test_benchmarks_take_a_database_that_walks_its_indexes() {
  clone bench
  fake_docker bench
  fake_go bench
  mkdir "$WORK/bench/bench"
  local said port
  said=$(PATH=$WORK/go-bench:$PATH CATALOGUE_MONGODB_URI=mongodb://db.example CATALOGUE_REDIS_URL=redis://cache.example/0 \
    "$WORK/bench/scripts/bench" --rows 1k 2>/dev/null)
  equal "$(echo "$said" | tail -n 1)" \
    "bench --binary bin/catalogue --rows 1k, at mongodb://db.example and redis://cache.example/0" # no address among the arguments
  # the local engine that runs already is not one
  services bench up
  port=$(cat "$WORK/warm/.run/run/port")
  said=$(PATH=$WORK/docker-bench:$WORK/go-bench:$PATH CATALOGUE_SERVICES='' "$WORK/bench/scripts/bench" 2>/dev/null)
  contains "$said" "bench --binary bin/catalogue, at mongodb://127.0.0.1:$port/"
  PATH=$WORK/docker-bench:$PATH services bench down
}

test_benchmarks_say_where_there_is_no_such_database() {
  clone slow
  fake_go slow
  printf '#!/bin/sh\necho 1000\n' >"$WORK/go-slow/id"
  chmod +x "$WORK/go-slow/id"
  local said
  said=$(PATH=$WORK/go-slow:$PATH "$WORK/slow/scripts/bench" 2>&1) && die "it went on"
  contains "$said" "walks its indexes"
  contains "$said" "CATALOGUE_MONGODB_URI"
  [ ! -d "$WORK/slow/.run" ] || die "something was started"
}
