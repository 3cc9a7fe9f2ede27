# shellcheck shell=bash
# Docker Compose, with a docker command that only answers: its calls are noted.

# fake_docker NAME makes a docker whose daemon answers and whose services are at
# the ports of the warm ones.
fake_docker() {
  mkdir -p "$WORK/docker-$1"
  services warm up >/dev/null
  cat >"$WORK/docker-$1/docker" <<STUB
#!/usr/bin/env bash
echo "\$*" >>"$WORK/docker-$1/calls"
case "\$*" in
  *" port mongodb "*) echo 127.0.0.1:$(cat "$WORK/warm/.run/run/port") ;;
  *" port redis "*) echo 127.0.0.1:$(cat "$WORK/warm/.run/run/redis/port") ;;
esac
STUB
  chmod +x "$WORK/docker-$1/docker"
}

test_compose_is_used_where_a_daemon_answers() {
  clone docked
  fake_docker docked
  local said
  said=$(PATH=$WORK/docker-docked:$PATH CATALOGUE_SERVICES='' services docked up 2>&1)
  contains "$said" "a Docker daemon answers"
  contains "$said" "mongodb://127.0.0.1:$(cat "$WORK/warm/.run/run/port")/?directConnection=true"
  contains "$said" "redis://127.0.0.1:$(cat "$WORK/warm/.run/run/redis/port")/0"
  contains "$(cat "$WORK/docker-docked/calls")" "up --detach --wait"
  [ ! -d "$WORK/docked/.run/run" ] || die "a local service was started, too"

  PATH=$WORK/docker-docked:$PATH services docked down
  contains "$(tail -n 1 "$WORK/docker-docked/calls")" "down"
  lacks "$(cat "$WORK/docker-docked/calls")" "--volumes"
}

test_a_silent_daemon_means_the_local_engine() {
  clone silent
  mkdir -p "$WORK/docker-silent"
  printf '#!/bin/sh\nexit 1\n' >"$WORK/docker-silent/docker"
  chmod +x "$WORK/docker-silent/docker"
  local said
  said=$(PATH=$WORK/docker-silent:$PATH CATALOGUE_SERVICES='' services silent up 2>&1)
  contains "$said" "no Docker daemon answers, so a local one is used"
}

# A daemon that comes up later must not swap the data under a running catalogue.
test_a_running_engine_goes_on_being_used() {
  clone loyal
  fake_docker loyal
  services loyal up
  local said
  said=$(PATH=$WORK/docker-loyal:$PATH CATALOGUE_SERVICES='' services loyal up 2>&1)
  contains "$said" "runs already"
}
