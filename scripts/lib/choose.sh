# shellcheck shell=bash
# Which database and which Redis are used, and why.

# given NAME VARIABLE prints the address that the user gave, if any, in
# CATALOGUE_TEST_VARIABLE (tests only), CATALOGUE_VARIABLE or the file named by …_FILE.
given() {
  local name=$1 test_variable=CATALOGUE_TEST_$2 variable=CATALOGUE_$2 file=CATALOGUE_$2_FILE
  if [ "$name" = test ] && [ -n "${!test_variable:-}" ]; then
    printf '%s' "${!test_variable}"
  elif [ -n "${!variable:-}" ]; then
    printf '%s' "${!variable}"
  elif [ -n "${!file:-}" ]; then
    cat "${!file}"
  fi
}

# choose NAME VARIABLE RUNS leaves the kind (given, compose, local) in KIND and the
# reason in REASON. RUNS tells whether the local service runs already.
# CATALOGUE_SERVICES=local or compose decides between the latter two kinds.
choose() {
  if [ -n "$(given "$1" "$2")" ]; then
    KIND=given REASON="its address is given in the environment"
    return
  fi
  case ${CATALOGUE_SERVICES:-} in
    local) KIND=local REASON="CATALOGUE_SERVICES=local asks for a local one" ;;
    compose)
      docker_answers || fail "CATALOGUE_SERVICES=compose, but $DOCKER_REASON"
      KIND=compose REASON="CATALOGUE_SERVICES=compose asks for Docker Compose"
      ;;
    "") choose_by_machine "$1" "$3" ;;
    *) fail "CATALOGUE_SERVICES is '$CATALOGUE_SERVICES'; it may be local or compose" ;;
  esac
}

# A service that runs already goes on being used: a Docker daemon that comes up in
# between must not swap the data under a running catalogue.
choose_by_machine() {
  if "$2" "$1"; then
    KIND=local REASON="the local one of this clone runs already"
  elif docker_answers; then
    KIND=compose REASON="a Docker daemon answers"
  else
    KIND=local REASON="$DOCKER_REASON, so a local one is used"
  fi
}

# choose_database NAME is choose for the database, where ENGINE may decide first (kinds
# documentdb, compose and local). An address beside it is a contradiction, not a
# preference: with either choice somebody's data could be the wrong ones.
choose_database() {
  case ${ENGINE:-} in
    "")
      choose "$1" MONGODB_URI engine_runs
      return
      ;;
    documentdb) KIND=documentdb ;;
    secantus) KIND=local ;;
    mongodb)
      docker_answers || fail "ENGINE=mongodb is MongoDB by Docker Compose, but $DOCKER_REASON"
      KIND=compose
      ;;
    *) fail "ENGINE is '$ENGINE'; it may be documentdb (FerretDB over PostgreSQL), mongodb (by Docker Compose) or secantus (the local engine), or be left out" ;;
  esac
  [ -z "$(given "$1" MONGODB_URI)" ] ||
    fail "ENGINE=$ENGINE asks for a database to be started, and the environment gives the address of another (CATALOGUE_MONGODB_URI, CATALOGUE_MONGODB_URI_FILE, for tests CATALOGUE_TEST_MONGODB_URI): leave out one of them"
  REASON="ENGINE=$ENGINE asks for it"
}

# services_up NAME (run or test) leaves the address of a database that takes
# connections in MONGODB_URI and its kind in MONGODB_KIND, the same of Redis in
# REDIS_URL and REDIS_KIND. MONGODB_ENGINE is the local engine's program where that
# is the database, else empty. Without Redis the catalogue runs all the same, with an
# empty address; tests need it.
services_up() {
  database_up "$1"
  if ! cache_up "$1"; then
    [ "$1" != test ] || fail "there is no Redis to test on: $REDIS_REASON"
    REDIS_KIND=none REDIS_URL=""
    say "no Redis, so counts are not kept: $REDIS_REASON"
  fi
}

database_up() {
  choose_database "$1"
  MONGODB_KIND=$KIND MONGODB_ENGINE=""
  say "database: $REASON"
  case $KIND in
    given) MONGODB_URI=$(given "$1" MONGODB_URI) ;;
    compose)
      lock_services
      compose_up mongodb 27017 || fail "$COMPOSE_REASON"
      MONGODB_URI="mongodb://127.0.0.1:$COMPOSE_PORT/?directConnection=true"
      unlock 9
      ;;
    local)
      engine_build # before the lock: `make stop` need not wait for it
      lock_services
      engine_up "$1"
      MONGODB_URI=$(engine_uri "$1") MONGODB_ENGINE=$ENGINE_BIN
      unlock 9
      ;;
    documentdb)
      documentdb_install # before the lock, too
      note "$(documentdb_versions)"
      lock_services
      documentdb_up "$1"
      MONGODB_URI=$(documentdb_uri "$1")
      unlock 9
      ;;
  esac
  note "$(mask "$MONGODB_URI")"
}

# cache_up fails with the reason in REDIS_REASON.
cache_up() {
  local failed=""
  choose "$1" REDIS_URL redis_runs
  REDIS_KIND=$KIND
  say "Redis: $REASON"
  case $KIND in
    given) REDIS_URL=$(given "$1" REDIS_URL) ;;
    compose)
      lock_services
      compose_up redis 6379 || REDIS_REASON=$COMPOSE_REASON failed=yes
      unlock 9
      [ -z "$failed" ] || return 1
      REDIS_URL="redis://127.0.0.1:$COMPOSE_PORT/0"
      ;;
    local)
      redis_runs "$1" || redis_program || return 1
      lock_services
      redis_up "$1" || failed=yes
      unlock 9
      [ -z "$failed" ] || return 1
      REDIS_URL=$(redis_url "$1")
      ;;
  esac
  note "$(mask "$REDIS_URL")"
}

lock_services() { lock 9 "$RUN_DIR/lock" "starting or stopping the services of this clone"; }

services_down() {
  local name
  lock_services
  for name in run test; do
    engine_down "$name"
    documentdb_down "$name"
    redis_down "$name"
  done
  compose_down "$@"
  unlock 9
}
