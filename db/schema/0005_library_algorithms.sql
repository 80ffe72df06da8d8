-- SPDX-License-Identifier: Apache-2.0
-- Schema 5: the library's algorithms take part in final rounds; what ranks a round; times rested and
-- sustained.
--
-- Tables are made anew, for their checksums are of all columns. A row that does not fit its checksum
-- ends the migration: a new checksum would hide the damage.

CREATE TEMP TABLE old_finalist AS SELECT * FROM finalist;
CREATE TEMP TABLE old_final AS SELECT * FROM final;
DROP TABLE finalist;
DROP TABLE final;

-- A final round: the contenders of a size re-timed beside one another.
CREATE TABLE final (
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  metric     TEXT NOT NULL CHECK (metric IN ('cold')),  -- what the contenders are ranked by
  checksum   TEXT NOT NULL AS (row_checksum('final', id, session_id, problem_id, metric)) STORED
) STRICT;
CREATE INDEX final_by_session ON final (session_id, problem_id);
INSERT INTO final
  SELECT id, session_id, problem_id, 'cold' FROM old_final
  WHERE checked_row('final', checksum, id, session_id, problem_id) = 1;
DROP TABLE old_final;

CREATE TABLE finalist (
  id            INTEGER PRIMARY KEY,
  final_id      INTEGER NOT NULL REFERENCES final ON DELETE CASCADE,
  position      INTEGER NOT NULL CHECK (position >= 1),
  role          TEXT NOT NULL CHECK (role IN ('candidate', 'default', 'incumbent', 'library',
                                              'library_tuned')),
  config_id     INTEGER REFERENCES config ON DELETE CASCADE,
  median_ns     REAL NOT NULL,
  q1_ns         REAL NOT NULL,
  q3_ns         REAL NOT NULL,
  min_ns        REAL NOT NULL,
  samples       INTEGER NOT NULL,
  ratio_to_best REAL NOT NULL CHECK (ratio_to_best > 0 AND ratio_to_best < 1e9),
  ratio_low     REAL NOT NULL CHECK (ratio_low > 0 AND ratio_low < 1e9),
  ratio_high    REAL NOT NULL CHECK (ratio_high > 0 AND ratio_high < 1e9),
  samples_ns    TEXT NOT NULL CHECK (samples_ns NOT GLOB '*n*'),  -- a JSON array; no nan, no inf
  hot_ns        REAL CHECK (hot_ns > 0 AND hot_ns < 1e15),
  clock_mhz     REAL CHECK (clock_mhz > 0 AND clock_mhz < 1e6),
  rested_ns     REAL CHECK (rested_ns > 0 AND rested_ns < 1e15),
  sustained_ns  REAL CHECK (sustained_ns > 0 AND sustained_ns < 1e15),
  checksum      TEXT NOT NULL AS (row_checksum(
                  'finalist', id, final_id, position, role, config_id, median_ns, q1_ns, q3_ns,
                  min_ns, samples, ratio_to_best, ratio_low, ratio_high, samples_ns, hot_ns,
                  clock_mhz, rested_ns, sustained_ns)) STORED,
  UNIQUE (final_id, position),
  CONSTRAINT the_library_has_no_configuration CHECK (
    (role IN ('library', 'library_tuned')) = (config_id IS NULL)),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT;
INSERT INTO finalist
  SELECT id, final_id, position, role, config_id, median_ns, q1_ns, q3_ns, min_ns, samples,
         ratio_to_best, ratio_low, ratio_high, samples_ns, hot_ns, clock_mhz, NULL, NULL
  FROM old_finalist
  WHERE checked_row('finalist', checksum, id, final_id, position, role, config_id, median_ns, q1_ns,
                    q3_ns, min_ns, samples, ratio_to_best, ratio_low, ratio_high, samples_ns,
                    hot_ns, clock_mhz) = 1;
DROP TABLE old_finalist;

CREATE TEMP TABLE old_best AS SELECT * FROM best;
DROP TABLE best;
-- The best known configuration; the latest final round of its key decides. A verified one was proved
-- right here; one of elsewhere stands beside it until it is.
CREATE TABLE best (
  id                     INTEGER PRIMARY KEY,
  device_id              INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
  kernel_id              INTEGER NOT NULL REFERENCES kernel ON DELETE CASCADE,
  environment_id         INTEGER NOT NULL REFERENCES environment ON DELETE CASCADE,
  problem_id             INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  config_id              INTEGER NOT NULL REFERENCES config ON DELETE CASCADE,
  session_id             INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  recorded_at            TEXT NOT NULL,
  median_ns              REAL NOT NULL,
  q1_ns                  REAL NOT NULL,
  q3_ns                  REAL NOT NULL,
  min_ns                 REAL NOT NULL,
  samples                INTEGER NOT NULL,
  library_ns             REAL CHECK (library_ns > 0 AND library_ns < 1e15),
  default_ns             REAL CHECK (default_ns > 0 AND default_ns < 1e15),
  ratio_to_library       REAL CHECK (ratio_to_library > 0 AND ratio_to_library < 1e9),
  ratio_to_default       REAL CHECK (ratio_to_default > 0 AND ratio_to_default < 1e9),
  ratio_to_library_low   REAL CHECK (ratio_to_library_low > 0 AND ratio_to_library_low < 1e9),
  ratio_to_library_high  REAL CHECK (ratio_to_library_high > 0 AND ratio_to_library_high < 1e9),
  library_name           TEXT NOT NULL,
  ties                   INTEGER NOT NULL CHECK (ties >= 0),
  flops                  REAL NOT NULL CHECK (flops >= 0 AND flops < 1e30),
  bytes                  REAL NOT NULL CHECK (bytes >= 0 AND bytes < 1e30),
  verified               INTEGER NOT NULL CHECK (verified IN (0, 1)),
  origin                 TEXT NOT NULL,
  -- The library's fastest algorithm, where it is faster than what the library itself chooses.
  library_algorithm      TEXT NOT NULL CHECK (length(library_algorithm) < 1000),
  ratio_to_library_tuned REAL CHECK (ratio_to_library_tuned > 0 AND ratio_to_library_tuned < 1e9),
  rested_ns              REAL CHECK (rested_ns > 0 AND rested_ns < 1e15),
  sustained_ns           REAL CHECK (sustained_ns > 0 AND sustained_ns < 1e15),
  checksum               TEXT NOT NULL AS (row_checksum(
                           'best', id, device_id, kernel_id, environment_id, problem_id,
                           config_id, session_id, recorded_at, median_ns, q1_ns, q3_ns, min_ns,
                           samples, library_ns, default_ns, ratio_to_library, ratio_to_default,
                           ratio_to_library_low, ratio_to_library_high, library_name, ties,
                           flops, bytes, verified, origin, library_algorithm,
                           ratio_to_library_tuned, rested_ns, sustained_ns)) STORED,
  UNIQUE (device_id, kernel_id, environment_id, problem_id, verified),
  CONSTRAINT of_elsewhere_unless_verified CHECK ((verified = 1) = (origin = '')),
  CONSTRAINT an_algorithm_with_its_time CHECK (
    (library_algorithm = '') = (ratio_to_library_tuned IS NULL)),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT;
INSERT INTO best
  SELECT id, device_id, kernel_id, environment_id, problem_id, config_id, session_id, recorded_at,
         median_ns, q1_ns, q3_ns, min_ns, samples, library_ns, default_ns, ratio_to_library,
         ratio_to_default, ratio_to_library_low, ratio_to_library_high, library_name, ties, flops,
         bytes, verified, origin, '', NULL, NULL, NULL
  FROM old_best
  WHERE checked_row('best', checksum, id, device_id, kernel_id, environment_id, problem_id,
                    config_id, session_id, recorded_at, median_ns, q1_ns, q3_ns, min_ns, samples,
                    library_ns, default_ns, ratio_to_library, ratio_to_default,
                    ratio_to_library_low, ratio_to_library_high, library_name, ties, flops, bytes,
                    verified, origin) = 1;
DROP TABLE old_best;
