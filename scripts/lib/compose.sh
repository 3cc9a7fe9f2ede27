# shellcheck shell=bash
# MongoDB and Valkey by Docker Compose.

# The project's name is made from the clone's path: containers, volumes and
# networks of two clones never meet.
COMPOSE_PROJECT=catalogue-$(printf '%s' "$ROOT" | cksum | cut -d ' ' -f 1)
COMPOSE_STARTED=$RUN_DIR/compose

# docker_answers prints nothing; the reason of a "no" is left in DOCKER_REASON.
docker_answers() {
  DOCKER_REASON="no docker command is installed"
  have docker || return 1
  DOCKER_REASON="no Docker daemon answers"
  within 5 docker info >/dev/null 2>&1 </dev/null || return 1
  DOCKER_REASON="Docker has no compose plugin"
  within 5 docker compose version >/dev/null 2>&1 </dev/null || return 1
}

compose() {
  docker compose --project-name "$COMPOSE_PROJECT" --file "$ROOT/docker-compose.yml" "$@" </dev/null 8>&- 9>&-
}

# compose_up SERVICE PORT starts one service and leaves its port on this machine in
# COMPOSE_PORT. It fails with the reason in COMPOSE_REASON.
compose_up() {
  mkdir -p "$RUN_DIR"
  : >"$COMPOSE_STARTED"
  if ! compose up --detach --wait --wait-timeout 300 "$1" >&2; then
    compose logs --tail 20 "$1" >&2 || true
    COMPOSE_REASON="Docker Compose could not start '$1'; CATALOGUE_SERVICES=local takes local services instead"
    return 1
  fi
  COMPOSE_PORT=$(compose port "$1" "$2" | sed 's/.*://')
  answers 127.0.0.1 "$COMPOSE_PORT" && return
  COMPOSE_REASON="'$1' runs in Docker but 127.0.0.1:$COMPOSE_PORT does not answer (is the daemon on another machine?); CATALOGUE_SERVICES=local takes local services instead"
  return 1
}

# compose_down keeps the volumes; `compose_down --volumes` removes them.
compose_down() {
  [ -f "$COMPOSE_STARTED" ] || return 0
  docker_answers || fail "the services were started with Docker, but now $DOCKER_REASON"
  compose down "$@" >&2
  rm -f "$COMPOSE_STARTED"
  say "stopped the services of Docker Compose"
}
