-- SPDX-License-Identifier: Apache-2.0
-- Schema 7: the times of trials in series.
--
-- The table is made anew, for its checksums are of all columns. A row that does not fit its checksum
-- ends the migration: a new checksum would hide the damage.

CREATE TEMP TABLE old_result AS SELECT * FROM result;
DROP TABLE result;

-- The trial of one configuration. series_ns: launches back to back with their data in memory.
CREATE TABLE result (
  id           INTEGER PRIMARY KEY,
  session_id   INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id   INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  sequence     INTEGER NOT NULL CHECK (sequence >= 1),
  elapsed_s    REAL NOT NULL CHECK (elapsed_s >= 0 AND elapsed_s < 1e9),
  config_id    INTEGER NOT NULL REFERENCES config ON DELETE CASCADE,
  outcome      TEXT NOT NULL CHECK (outcome IN ('ok', 'compile_error', 'compile_timeout',
                                                'launch_error', 'wrong_result', 'out_of_bounds',
                                                'nondeterministic', 'timeout', 'crashed',
                                                'unstable', 'implausible', 'quarantined')),
  message      TEXT NOT NULL,
  median_ns    REAL,
  q1_ns        REAL,
  q3_ns        REAL,
  min_ns       REAL,
  samples      INTEGER,
  worst_error  REAL CHECK (worst_error >= 0),
  check_seed   INTEGER NOT NULL,
  registers    INTEGER NOT NULL CHECK (registers >= 0),
  shared_bytes INTEGER NOT NULL CHECK (shared_bytes >= 0),
  local_bytes  INTEGER NOT NULL CHECK (local_bytes >= 0),
  compile_ms   REAL NOT NULL CHECK (compile_ms >= 0 AND compile_ms < 1e12),
  verify_ms    REAL NOT NULL CHECK (verify_ms >= 0 AND verify_ms < 1e12),
  measure_ms   REAL NOT NULL CHECK (measure_ms >= 0 AND measure_ms < 1e12),
  hot_ns       REAL CHECK (hot_ns > 0 AND hot_ns < 1e15),
  series_ns    REAL CHECK (series_ns > 0 AND series_ns < 1e15),
  clock_mhz    REAL CHECK (clock_mhz > 0 AND clock_mhz < 1e6),
  discarded    INTEGER NOT NULL CHECK (discarded >= 0),
  power_capped INTEGER NOT NULL CHECK (power_capped IN (0, 1)),
  checksum     TEXT NOT NULL AS (row_checksum(
                 'result', id, session_id, problem_id, sequence, elapsed_s, config_id, outcome,
                 message, median_ns, q1_ns, q3_ns, min_ns, samples, worst_error, check_seed,
                 registers, shared_bytes, local_bytes, compile_ms, verify_ms, measure_ms,
                 hot_ns, series_ns, clock_mhz, discarded, power_capped)) STORED,
  UNIQUE (session_id, problem_id, sequence),
  CONSTRAINT a_time_exactly_when_ok CHECK (
    (outcome = 'ok') = (median_ns IS NOT NULL) AND
    (median_ns IS NULL) = (q1_ns IS NULL) AND (median_ns IS NULL) = (q3_ns IS NULL) AND
    (median_ns IS NULL) = (min_ns IS NULL) AND (median_ns IS NULL) = (samples IS NULL)),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT;
INSERT INTO result
  SELECT id, session_id, problem_id, sequence, elapsed_s, config_id, outcome, message,
         median_ns, q1_ns, q3_ns, min_ns, samples, worst_error, check_seed, registers, shared_bytes,
         local_bytes, compile_ms, verify_ms, measure_ms, hot_ns, NULL, clock_mhz, discarded,
         power_capped
  FROM old_result
  WHERE checked_row('result', checksum, id, session_id, problem_id, sequence, elapsed_s, config_id,
                    outcome, message, median_ns, q1_ns, q3_ns, min_ns, samples, worst_error,
                    check_seed, registers, shared_bytes, local_bytes, compile_ms, verify_ms,
                    measure_ms, hot_ns, clock_mhz, discarded, power_capped) = 1;
DROP TABLE old_result;
