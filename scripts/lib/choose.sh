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
  choose "$1" MONGODB_URI engine_runs
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
    redis_down "$name"
  done
  compose_down "$@"
  unlock 9
}
