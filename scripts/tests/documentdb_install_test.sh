# shellcheck shell=bash
# Installing DocumentDB, with a debootstrap and a go that only make fakes.

# debian NAME BODY makes a PATH with what the scripts need, as root of a Debian would have
# it, and a debootstrap that notes its calls and runs BODY with the folder in $root.
debian() {
  local tool folder=$WORK/debian-$1
  mkdir -p "$folder" "$WORK/files-$1/scripts"
  touch "$WORK/files-$1/scripts/sid"
  for tool in awk bash cat cksum cp cut date dirname env flock grep kill ln ls mkdir mktemp mv rm sed sleep tail timeout touch tr uname; do
    [ ! -x "$(command -v "$tool")" ] || ln -sf "$(command -v "$tool")" "$folder/$tool"
  done
  stub "$1" id 'echo 0'
  stub "$1" unshare 'shift; exec "$@"'
  for tool in mount chroot wget gpgv; do stub "$1" "$tool" ''; done
  stub "$1" dpkg-query 'printf "postgresql-18 18.6-3\npostgresql-18-documentdb 1.0-0-1\n"'
  stub "$1" go 'printf "#!/bin/sh\necho v2.7.0\n" >"$GOBIN/ferretdb"; chmod +x "$GOBIN/ferretdb"'
  ln -sf "$(command -v chmod)" "$folder/chmod"
  # an archive is empty, and what is in it is made by the unpacking
  stub "$1" apt-get "echo \"\$*\" >>'$WORK/apt-$1'; [ \"\$1\" != download ] || touch \"\$2_1_all.deb\""
  stub "$1" dpkg-deb 'mkdir -p "$3/usr/share/keyrings"; touch "$3/usr/share/keyrings/debian-archive-keyring.gpg"'
  stub "$1" debootstrap "echo run >>'$WORK/runs-$1'
    while [ \$# -gt 2 ]; do shift; done
    root=\$1
    [ -e \"\$DEBOOTSTRAP_DIR/scripts/forky\" ] || echo 'E: no such script'
    $2"
}

# stub NAME TOOL BODY
stub() {
  rm -f "$WORK/debian-$1/$2"
  printf '#!%s\n%s\n' "$(command -v bash)" "$3" >"$WORK/debian-$1/$2"
  chmod +x "$WORK/debian-$1/$2"
}

FAKE_ROOT='mkdir -p "$root/usr/lib/postgresql/18/bin" "$root/var/lib/apt/lists/x" && touch "$root/usr/lib/postgresql/18/bin/postgres" &&
  chmod +x "$root/usr/lib/postgresql/18/bin/postgres"'

# install CLONE NAME only installs, with the PATH and the cache of that name. It takes the
# place of the shell that calls it, so that a signal reaches it.
install() {
  cd "$WORK/$1" || exit
  export PATH=$WORK/debian-$2 CATALOGUE_CACHE=$WORK/cache-$2 DEBOOTSTRAP_DIR=$WORK/files-$2
  exec bash -c 'set -euo pipefail; . scripts/lib/all.sh; documentdb_install; documentdb_versions'
}

left_in_cache() { ls -d "$WORK/cache-$1"/documentdb-*/ 2>/dev/null || true; }

test_documentdb_is_installed_once_by_two_clones() {
  clone here
  clone there
  debian once "sleep 1; $FAKE_ROOT"
  (install here once) >"$WORK/here.said" 2>&1 &
  local other=$! home
  (install there once) >"$WORK/there.said" 2>&1
  wait "$other"
  equal "$(grep -c run "$WORK/runs-once")" 1
  equal "$(tail -n 1 "$WORK/here.said")" "FerretDB 2.7.0, PostgreSQL 18.6, DocumentDB 1.0"
  home=$(left_in_cache once)
  equal "$home" "$WORK/cache-once/documentdb-ferretdb-2.7.0-postgresql-18/"
  [ ! -e "$home/root/var/lib/apt/lists/x" ] || die "lists of packages are kept"
}

test_a_failed_install_of_documentdb_shows_its_log_and_leaves_nothing() {
  clone unlucky
  debian unlucky "echo 'E: Release signed by unknown key'; exit 1"
  local said
  said=$(install unlucky unlucky 2>&1) && die "a failed install counts as done"
  contains "$said" "signed by unknown key"
  contains "$said" "CATALOGUE_MONGODB_URI"
  equal "$(left_in_cache unlucky)" ""

  debian unlucky 'mkdir -p "$root"' # ends well, without PostgreSQL
  said=$(install unlucky unlucky 2>&1) && die "half an install counts as done"
  contains "$said" "not complete"
  equal "$(left_in_cache unlucky)" ""
}

test_a_failed_build_of_ferretdb_ends_debootstrap() {
  clone gone
  debian gone "echo \$\$ >'$WORK/debootstrap.pid'; exec sleep 62"
  stub gone go "until [ -s '$WORK/debootstrap.pid' ]; do sleep 0.1; done; echo 'no such module'; exit 1"
  local said
  said=$(install gone gone 2>&1) && die "it went on without FerretDB"
  contains "$said" "no such module"
  lacks "$(command_of "$(cat "$WORK/debootstrap.pid")")" sleep
  equal "$(left_in_cache gone)" ""
}

test_an_aborted_install_of_documentdb_leaves_nothing() {
  clone halted
  debian halted "sleep 63 & echo \$! >'$WORK/unpacker'; wait"
  install halted halted &
  local tries=0
  until [ -s "$WORK/unpacker" ] || [ "$tries" -eq 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill "$!"
  wait $! && die "an aborted install counts as done"
  lacks "$(command_of "$(cat "$WORK/unpacker")")" sleep
  equal "$(left_in_cache halted)" ""
}

# What a killed one left is removed by the next.
test_a_half_made_install_is_made_anew() {
  clone half
  debian half "$FAKE_ROOT"
  mkdir -p "$WORK/cache-half/documentdb-ferretdb-2.7.0-postgresql-18.tmp.abc/home/root"
  contains "$(install half half 2>/dev/null)" "PostgreSQL 18.6"
  equal "$(left_in_cache half)" "$WORK/cache-half/documentdb-ferretdb-2.7.0-postgresql-18/"
}

test_a_package_that_apt_does_not_know_is_looked_for_once_more() {
  clone stale
  debian stale ''
  stub stale apt-get "echo \"\$*\" >>'$WORK/apt-stale'
    case \$1 in
      update) touch '$WORK/updated' ;;
      download) [ -e '$WORK/updated' ] && touch \"\$2_1_all.deb\" ;;
    esac"
  (cd "$WORK/stale" && PATH=$WORK/debian-stale CATALOGUE_CACHE=$WORK DOCUMENTDB_TMP=$WORK/unpacked bash -c \
    '. scripts/lib/all.sh; documentdb_fetch debian-archive-keyring' 2>/dev/null)
  equal "$(tr '\n' ',' <"$WORK/apt-stale")" "download debian-archive-keyring,update,download debian-archive-keyring,"
  [ -e "$WORK/unpacked/debian-archive-keyring/usr/share/keyrings/debian-archive-keyring.gpg" ] || die "it is not unpacked"
}

test_what_documentdb_lacks_is_named() {
  clone lacking
  debian lacking ''
  local said
  stub lacking id 'echo 1000'
  said=$(install lacking lacking 2>&1) && die "it went on without root"
  contains "$said" "only root may"
  contains "$said" "CATALOGUE_TEST_MONGODB_URI"
  contains "$said" "ENGINE=mongodb"
  stub lacking id 'echo 0'
  stub lacking unshare 'exit 1'
  said=$(install lacking lacking 2>&1) && die "it went on without mounts"
  contains "$said" "may not mount"
  stub lacking unshare ''
  rm "$WORK/debian-lacking/gpgv" "$WORK/debian-lacking/go"
  said=$(install lacking lacking 2>&1) && die "it went on without go"
  contains "$said" "no go"
  contains "$said" "go.dev"
}
