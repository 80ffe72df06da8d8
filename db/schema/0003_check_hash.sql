-- SPDX-License-Identifier: Apache-2.0
-- Schema 3: what decided whether the results of a session are right.
--
-- The table is made anew, for its checksum is of all its columns. A row that does not fit its
-- checksum ends the migration: a new checksum would hide the damage.

CREATE TEMP TABLE old_session AS SELECT * FROM session;
DROP TABLE session;
-- One run of `tune` on one kernel; `imported`: a run elsewhere of which only the bests are here.
CREATE TABLE session (
  id             INTEGER PRIMARY KEY,
  uuid           TEXT NOT NULL UNIQUE CHECK (uuid <> ''),
  device_id      INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
  device_uuid    TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environment ON DELETE CASCADE,
  kernel_id      INTEGER NOT NULL REFERENCES kernel ON DELETE CASCADE,
  check_hash     TEXT CHECK (check_hash <> ''),  -- NULL: from before there was one
  strategy       TEXT NOT NULL,
  seed           INTEGER NOT NULL,
  command        TEXT NOT NULL,
  started_at     TEXT NOT NULL,
  ended_at       TEXT,
  state          TEXT NOT NULL
                 CHECK (state IN ('running', 'complete', 'budget_spent', 'interrupted',
                                  'imported')),
  valid          INTEGER NOT NULL CHECK (valid >= 0),
  cartesian      INTEGER NOT NULL CHECK (cartesian >= 0),
  wall_s         REAL NOT NULL CHECK (wall_s >= 0 AND wall_s < 1e9),
  compile_s      REAL NOT NULL CHECK (compile_s >= 0 AND compile_s < 1e9),
  verify_s       REAL NOT NULL CHECK (verify_s >= 0 AND verify_s < 1e9),
  measure_s      REAL NOT NULL CHECK (measure_s >= 0 AND measure_s < 1e9),
  respawns       INTEGER NOT NULL CHECK (respawns >= 0),
  shared         INTEGER NOT NULL CHECK (shared IN (0, 1)),
  -- The process that runs it, so that another one can tell whether it still lives.
  host           TEXT NOT NULL,
  boot_id        TEXT NOT NULL,
  pid_namespace  TEXT NOT NULL,
  pid            INTEGER NOT NULL,
  process_start  INTEGER NOT NULL,  -- clock ticks after the boot
  checksum       TEXT NOT NULL AS (row_checksum(
                   'session', id, uuid, device_id, device_uuid, environment_id, kernel_id,
                   check_hash, strategy, seed, command, started_at, ended_at, state, valid,
                   cartesian, wall_s, compile_s, verify_s, measure_s, respawns, shared, host,
                   boot_id, pid_namespace, pid, process_start)) STORED,
  CONSTRAINT ended_unless_running CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX session_by_subject ON session (kernel_id, device_id, environment_id);
INSERT INTO session
  SELECT id, uuid, device_id, device_uuid, environment_id, kernel_id, NULL, strategy, seed, command,
         started_at, ended_at, state, valid, cartesian, wall_s, compile_s, verify_s, measure_s,
         respawns, shared, host, boot_id, pid_namespace, pid, process_start
  FROM old_session
  WHERE checked_row('session', checksum, id, uuid, device_id, device_uuid, environment_id,
                    kernel_id, strategy, seed, command, started_at, ended_at, state, valid,
                    cartesian, wall_s, compile_s, verify_s, measure_s, respawns, shared, host,
                    boot_id, pid_namespace, pid, process_start) = 1;
DROP TABLE old_session;
