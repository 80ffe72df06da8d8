-- SPDX-License-Identifier: Apache-2.0
-- Schema 1. docs/reference/database.md explains it. Times are nanoseconds unless a name says otherwise; a
-- time that does not exist is NULL. Unsigned 64-bit numbers (seeds) are kept as the signed integer
-- with the same bits.

-- A device model. One card of it is known by a session's device_uuid.
CREATE TABLE device (
  id                       INTEGER PRIMARY KEY,
  backend                  TEXT NOT NULL CHECK (backend <> ''),
  name                     TEXT NOT NULL CHECK (name <> ''),
  architecture             TEXT NOT NULL,
  compute_capability       INTEGER NOT NULL CHECK (compute_capability >= 0),
  sm_count                 INTEGER NOT NULL CHECK (sm_count >= 0),
  warp_size                INTEGER NOT NULL CHECK (warp_size >= 0),
  max_threads_per_block    INTEGER NOT NULL CHECK (max_threads_per_block >= 0),
  max_threads_per_sm       INTEGER NOT NULL CHECK (max_threads_per_sm >= 0),
  max_blocks_per_sm        INTEGER NOT NULL CHECK (max_blocks_per_sm >= 0),
  max_smem_per_block       INTEGER NOT NULL CHECK (max_smem_per_block >= 0),
  max_smem_per_block_optin INTEGER NOT NULL CHECK (max_smem_per_block_optin >= 0),
  smem_per_sm              INTEGER NOT NULL CHECK (smem_per_sm >= 0),
  registers_per_block      INTEGER NOT NULL CHECK (registers_per_block >= 0),
  registers_per_sm         INTEGER NOT NULL CHECK (registers_per_sm >= 0),
  l2_bytes                 INTEGER NOT NULL CHECK (l2_bytes >= 0),
  memory_bytes             INTEGER NOT NULL CHECK (memory_bytes >= 0),
  UNIQUE (backend, name, architecture, sm_count)
) STRICT;

-- The versions that a compiled kernel and its time depend on.
CREATE TABLE environment (
  id       INTEGER PRIMARY KEY,
  driver   TEXT NOT NULL,
  compiler TEXT NOT NULL,
  library  TEXT NOT NULL,
  tool     TEXT NOT NULL,
  UNIQUE (driver, compiler, library, tool)
) STRICT;

-- A kernel as it was when tuned: enough to launch it without its files.
CREATE TABLE kernel (
  id           INTEGER PRIMARY KEY,
  family       TEXT NOT NULL CHECK (family <> ''),
  name         TEXT NOT NULL CHECK (name <> ''),
  hash         TEXT NOT NULL CHECK (hash <> ''),
  space_text   TEXT NOT NULL,
  source_name  TEXT NOT NULL,
  source_text  TEXT NOT NULL,
  headers_json TEXT NOT NULL,
  UNIQUE (family, name, hash)
) STRICT;

-- A size of a family's problem, e.g. '4096,4096,4096'.
CREATE TABLE problem (
  id     INTEGER PRIMARY KEY,
  family TEXT NOT NULL CHECK (family <> ''),
  size   TEXT NOT NULL CHECK (size <> ''),
  UNIQUE (family, size)
) STRICT;

-- A configuration: a JSON object with its keys sorted, without spaces.
CREATE TABLE config (
  id        INTEGER PRIMARY KEY,
  kernel_id INTEGER NOT NULL REFERENCES kernel ON DELETE CASCADE,
  json      TEXT NOT NULL CHECK (json <> ''),
  UNIQUE (kernel_id, json)
) STRICT;

-- One run of `tune` on one kernel.
CREATE TABLE session (
  id             INTEGER PRIMARY KEY,
  uuid           TEXT NOT NULL UNIQUE CHECK (uuid <> ''),
  device_id      INTEGER NOT NULL REFERENCES device,
  device_uuid    TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environment,
  kernel_id      INTEGER NOT NULL REFERENCES kernel,
  strategy       TEXT NOT NULL,
  seed           INTEGER NOT NULL,
  command        TEXT NOT NULL,
  started_at     TEXT NOT NULL,
  ended_at       TEXT,
  state          TEXT NOT NULL
                 CHECK (state IN ('running', 'complete', 'budget_spent', 'interrupted')),
  valid          INTEGER NOT NULL CHECK (valid >= 0),
  cartesian      INTEGER NOT NULL CHECK (cartesian >= 0),
  wall_s         REAL NOT NULL CHECK (wall_s >= 0 AND wall_s < 1e9),
  compile_s      REAL NOT NULL CHECK (compile_s >= 0 AND compile_s < 1e9),
  verify_s       REAL NOT NULL CHECK (verify_s >= 0 AND verify_s < 1e9),
  measure_s      REAL NOT NULL CHECK (measure_s >= 0 AND measure_s < 1e9),
  CONSTRAINT ended_unless_running CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX session_by_subject ON session (kernel_id, device_id, environment_id);

-- The sizes a session set out to tune, in the order asked for.
CREATE TABLE session_problem (
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  position   INTEGER NOT NULL CHECK (position >= 1),
  problem_id INTEGER NOT NULL REFERENCES problem,
  PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID;

-- One trial: how one configuration fared at one size.
CREATE TABLE result (
  id           INTEGER PRIMARY KEY,
  session_id   INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id   INTEGER NOT NULL REFERENCES problem,
  sequence     INTEGER NOT NULL CHECK (sequence >= 1),
  elapsed_s    REAL NOT NULL CHECK (elapsed_s >= 0 AND elapsed_s < 1e9),
  config_id    INTEGER NOT NULL REFERENCES config,
  outcome      TEXT NOT NULL CHECK (outcome IN ('ok', 'compile_error', 'launch_error',
                                                'wrong_result', 'timeout', 'crashed')),
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
  checksum     TEXT NOT NULL,
  UNIQUE (session_id, problem_id, sequence),
  CONSTRAINT a_time_exactly_when_ok CHECK (
    (outcome = 'ok') = (median_ns IS NOT NULL) AND
    (median_ns IS NULL) = (q1_ns IS NULL) AND (median_ns IS NULL) = (q3_ns IS NULL) AND
    (median_ns IS NULL) = (min_ns IS NULL) AND (median_ns IS NULL) = (samples IS NULL)),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT;

-- A final: the contenders of a size re-timed in rounds beside one another.
CREATE TABLE final (
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id INTEGER NOT NULL REFERENCES problem
) STRICT;
CREATE INDEX final_by_session ON final (session_id, problem_id);

CREATE TABLE finalist (
  final_id      INTEGER NOT NULL REFERENCES final ON DELETE CASCADE,
  position      INTEGER NOT NULL CHECK (position >= 1),
  role          TEXT NOT NULL CHECK (role IN ('candidate', 'default', 'incumbent', 'library')),
  config_id     INTEGER REFERENCES config,
  median_ns     REAL NOT NULL,
  q1_ns         REAL NOT NULL,
  q3_ns         REAL NOT NULL,
  min_ns        REAL NOT NULL,
  samples       INTEGER NOT NULL,
  ratio_to_best REAL NOT NULL CHECK (ratio_to_best > 0 AND ratio_to_best < 1e9),
  ratio_low     REAL NOT NULL CHECK (ratio_low > 0 AND ratio_low < 1e9),
  ratio_high    REAL NOT NULL CHECK (ratio_high > 0 AND ratio_high < 1e9),
  samples_ns    TEXT NOT NULL CHECK (samples_ns NOT GLOB '*n*'),  -- a JSON array; no nan, no inf
  PRIMARY KEY (final_id, position),
  CONSTRAINT the_library_has_no_configuration CHECK ((role = 'library') = (config_id IS NULL)),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT, WITHOUT ROWID;

-- The best known configuration; the latest final of its key decides.
CREATE TABLE best (
  id                    INTEGER PRIMARY KEY,
  device_id             INTEGER NOT NULL REFERENCES device,
  kernel_id             INTEGER NOT NULL REFERENCES kernel,
  environment_id        INTEGER NOT NULL REFERENCES environment,
  problem_id            INTEGER NOT NULL REFERENCES problem,
  config_id             INTEGER NOT NULL REFERENCES config,
  session_id            INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  recorded_at           TEXT NOT NULL,
  median_ns             REAL NOT NULL,
  q1_ns                 REAL NOT NULL,
  q3_ns                 REAL NOT NULL,
  min_ns                REAL NOT NULL,
  samples               INTEGER NOT NULL,
  library_ns            REAL CHECK (library_ns > 0 AND library_ns < 1e15),
  default_ns            REAL CHECK (default_ns > 0 AND default_ns < 1e15),
  ratio_to_library      REAL CHECK (ratio_to_library > 0 AND ratio_to_library < 1e9),
  ratio_to_default      REAL CHECK (ratio_to_default > 0 AND ratio_to_default < 1e9),
  ratio_to_library_low  REAL CHECK (ratio_to_library_low > 0 AND ratio_to_library_low < 1e9),
  ratio_to_library_high REAL CHECK (ratio_to_library_high > 0 AND ratio_to_library_high < 1e9),
  library_name          TEXT NOT NULL,
  ties                  INTEGER NOT NULL CHECK (ties >= 0),
  flops                 REAL NOT NULL CHECK (flops >= 0 AND flops < 1e30),
  bytes                 REAL NOT NULL CHECK (bytes >= 0 AND bytes < 1e30),
  checksum              TEXT NOT NULL,
  UNIQUE (device_id, kernel_id, environment_id, problem_id),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT;
