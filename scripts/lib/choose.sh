# shellcheck shell=bash
# Which database is used, and why.

# given_uri prints the address that the user gave, if any. Tests may have an
# address of their own.
given_uri() {
  if [ "$1" = test ] && [ -n "${CATALOGUE_TEST_MONGODB_URI:-}" ]; then
    printf '%s' "$CATALOGUE_TEST_MONGODB_URI"
  elif [ -n "${CATALOGUE_MONGODB_URI:-}" ]; then
    printf '%s' "$CATALOGUE_MONGODB_URI"
  elif [ -n "${CATALOGUE_MONGODB_URI_FILE:-}" ]; then
    cat "$CATALOGUE_MONGODB_URI_FILE"
  fi
}

# choose NAME leaves the kind (given, compose, local) in KIND and the reason in
# REASON. CATALOGUE_SERVICES=local or compose decides between the latter two.
choose() {
  if [ -n "$(given_uri "$1")" ]; then
    KIND=given REASON="its address is given in the environment"
    return
  fi
  case ${CATALOGUE_SERVICES:-} in
    local) KIND=local REASON="CATALOGUE_SERVICES=local asks for the local engine" ;;
    compose)
      docker_answers || fail "CATALOGUE_SERVICES=compose, but $DOCKER_REASON"
      KIND=compose REASON="CATALOGUE_SERVICES=compose asks for Docker Compose"
      ;;
    "") choose_by_machine "$1" ;;
    *) fail "CATALOGUE_SERVICES is '$CATALOGUE_SERVICES'; it may be local or compose" ;;
  esac
}

# An engine that runs already goes on being used: a Docker daemon that comes up
# in between must not swap the data under a running catalogue.
choose_by_machine() {
  if engine_runs "$1"; then
    KIND=local REASON="the local engine of this clone runs already"
  elif docker_answers; then
    KIND=compose REASON="a Docker daemon answers"
  else
    KIND=local REASON="$DOCKER_REASON, so the local engine is used"
  fi
}

# services_up NAME (run or test) leaves the address of a database that takes
# connections in MONGODB_URI.
services_up() {
  choose "$1"
  say "database: $REASON"
  case $KIND in
    given) MONGODB_URI=$(given_uri "$1") ;;
    compose)
      lock 9 "$RUN_DIR/lock" "starting or stopping the services of this clone"
      compose_up
      MONGODB_URI=$(compose_uri)
      note "Valkey at 127.0.0.1:$(compose_port redis 6379)"
      unlock 9
      ;;
    local)
      engine_build # before the lock: `make stop` need not wait for it
      lock 9 "$RUN_DIR/lock" "starting or stopping the services of this clone"
      engine_up "$1"
      MONGODB_URI=$(engine_uri "$1")
      unlock 9
      ;;
  esac
  note "$(mask "$MONGODB_URI")"
}

services_down() {
  lock 9 "$RUN_DIR/lock" "starting or stopping the services of this clone"
  engine_down run
  engine_down test
  compose_down "$@"
  unlock 9
}
