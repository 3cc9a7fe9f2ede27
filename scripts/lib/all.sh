# shellcheck shell=bash
# Everything in this folder, in order, for the scripts that start services.

for part in common process engine_build engine documentdb_install documentdb_postgres documentdb \
  redis_install redis compose choose; do
  # shellcheck source=/dev/null
  . "$(dirname "${BASH_SOURCE[0]}")/$part.sh"
done
