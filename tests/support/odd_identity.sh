#!/usr/bin/env bash
# Runs a command as on another machine and for another user: a long processor name, one core, another home, locale, time
# zone and umask, a database that cannot be read wherever the user's own would be, and settings of the program.
#   odd_identity.sh COMMAND…
set -euo pipefail

folder=$(mktemp -d "${TMPDIR:-/tmp}/odd [identity] XXXXXX")
trap 'rm -rf "$folder"' EXIT
export HOME="$folder/home @ (odd)" XDG_DATA_HOME="$folder/data" XDG_CACHE_HOME="$folder/cache"
for database in "$HOME/.local/share/tune/tune.db" "$XDG_DATA_HOME/tune/tune.db" "$folder/settings.db"; do
  mkdir -p "$(dirname "$database")"
  echo "no database: a test opened the user's own" >"$database"
done
export TUNER_CPU_NAME='Odd(R) Xeon(TM) [Engineering Sample, rev. 3] Platinum 8480C+ 56-Core Processor @ 2.50GHz'
export TUNER_DB="$folder/settings.db" TUNER_CPU_DEVICES=2+1 TUNER_SANDBOX=off TUNER_LOG=info \
  TUNER_RECORD="$folder/recorded.json" TUNER_CUBLAS=off TUNER_CUBLAS_LOG="$folder/cublas.log" TUNER_LIBRARY=/no/such.so
export COLUMNS=37 NO_COLOR=1 TZ=Asia/Kathmandu LC_ALL
LC_ALL=$(locale -a | grep -Evx 'C(\.utf8|\.UTF-8)?|POSIX' | head -n 1 || true)
LC_ALL=${LC_ALL:-C}
umask 077
taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$@"
