-- SPDX-License-Identifier: Apache-2.0
-- Schema 2: a checksum on every row, the journal of attempts, strikes, canaries, imported bests.
--
-- SQLite computes `checksum` whenever it writes a row: row_checksum() hashes all values of the row,
-- with their types. tuner/store/checksum.hpp says how reads compare it.
--
-- Every table is made anew, for a column that is computed and stored cannot be added to one that
-- is there. Foreign keys are off meanwhile and checked before the commit. All references cascade: a
-- damaged row can be given up together with what refers to it.

CREATE TEMP TABLE old_device AS SELECT * FROM device;
CREATE TEMP TABLE old_environment AS SELECT * FROM environment;
CREATE TEMP TABLE old_kernel AS SELECT * FROM kernel;
CREATE TEMP TABLE old_problem AS SELECT * FROM problem;
CREATE TEMP TABLE old_config AS SELECT * FROM config;
CREATE TEMP TABLE old_session AS SELECT * FROM session;
CREATE TEMP TABLE old_session_problem AS SELECT * FROM session_problem;
CREATE TEMP TABLE old_result AS SELECT * FROM result;
CREATE TEMP TABLE old_final AS SELECT * FROM final;
CREATE TEMP TABLE old_finalist AS SELECT * FROM finalist;
CREATE TEMP TABLE old_best AS SELECT * FROM best;

DROP TABLE best;
DROP TABLE finalist;
DROP TABLE final;
DROP TABLE result;
DROP TABLE session_problem;
DROP TABLE session;
DROP TABLE config;
DROP TABLE problem;
DROP TABLE kernel;
DROP TABLE environment;
DROP TABLE device;
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
  checksum                 TEXT NOT NULL AS (row_checksum(
                             'device', id, backend, name, architecture, compute_capability,
                             sm_count, warp_size, max_threads_per_block, max_threads_per_sm,
                             max_blocks_per_sm, max_smem_per_block, max_smem_per_block_optin,
                             smem_per_sm, registers_per_block, registers_per_sm, l2_bytes,
                             memory_bytes)) STORED,
  UNIQUE (backend, name, architecture, sm_count)
) STRICT;
INSERT INTO device
  SELECT id, backend, name, architecture, compute_capability, sm_count, warp_size,
         max_threads_per_block, max_threads_per_sm, max_blocks_per_sm, max_smem_per_block,
         max_smem_per_block_optin, smem_per_sm, registers_per_block, registers_per_sm, l2_bytes,
         memory_bytes FROM old_device;

-- The versions that a compiled kernel and its time depend on.
CREATE TABLE environment (
  id       INTEGER PRIMARY KEY,
  driver   TEXT NOT NULL,
  compiler TEXT NOT NULL,
  library  TEXT NOT NULL,
  tool     TEXT NOT NULL,
  checksum TEXT NOT NULL AS (row_checksum(
             'environment', id, driver, compiler, library, tool)) STORED,
  UNIQUE (driver, compiler, library, tool)
) STRICT;
INSERT INTO environment
  SELECT id, driver, compiler, library, tool FROM old_environment;

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
  checksum     TEXT NOT NULL AS (row_checksum(
                 'kernel', id, family, name, hash, space_text, source_name, source_text,
                 headers_json)) STORED,
  UNIQUE (family, name, hash)
) STRICT;
INSERT INTO kernel
  SELECT id, family, name, hash, space_text, source_name, source_text, headers_json FROM
         old_kernel;

-- A size of a family's problem, e.g. '4096,4096,4096'.
CREATE TABLE problem (
  id       INTEGER PRIMARY KEY,
  family   TEXT NOT NULL CHECK (family <> ''),
  size     TEXT NOT NULL CHECK (size <> ''),
  checksum TEXT NOT NULL AS (row_checksum('problem', id, family, size)) STORED,
  UNIQUE (family, size)
) STRICT;
INSERT INTO problem
  SELECT id, family, size FROM old_problem;

-- A configuration: a JSON object with its keys sorted, without spaces.
CREATE TABLE config (
  id        INTEGER PRIMARY KEY,
  kernel_id INTEGER NOT NULL REFERENCES kernel ON DELETE CASCADE,
  json      TEXT NOT NULL CHECK (json <> ''),
  checksum  TEXT NOT NULL AS (row_checksum('config', id, kernel_id, json)) STORED,
  UNIQUE (kernel_id, json)
) STRICT;
INSERT INTO config
  SELECT id, kernel_id, json FROM old_config;

-- One run of `tune` on one kernel; `imported`: a run elsewhere of which only the bests are here.
CREATE TABLE session (
  id             INTEGER PRIMARY KEY,
  uuid           TEXT NOT NULL UNIQUE CHECK (uuid <> ''),
  device_id      INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
  device_uuid    TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environment ON DELETE CASCADE,
  kernel_id      INTEGER NOT NULL REFERENCES kernel ON DELETE CASCADE,
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
                   strategy, seed, command, started_at, ended_at, state, valid, cartesian,
                   wall_s, compile_s, verify_s, measure_s, respawns, shared, host, boot_id,
                   pid_namespace, pid, process_start)) STORED,
  CONSTRAINT ended_unless_running CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX session_by_subject ON session (kernel_id, device_id, environment_id);
INSERT INTO session
  SELECT id, uuid, device_id, device_uuid, environment_id, kernel_id, strategy, seed, command,
         started_at, ended_at, state, valid, cartesian, wall_s, compile_s, verify_s, measure_s, 0, 0,
         '', '', '', 0, 0 FROM old_session;

-- The sizes a session set out to tune, in the order asked for.
CREATE TABLE session_problem (
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  position   INTEGER NOT NULL CHECK (position >= 1),
  problem_id INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  checksum   TEXT NOT NULL AS (row_checksum(
               'session_problem', id, session_id, position, problem_id)) STORED,
  UNIQUE (session_id, position)
) STRICT;
INSERT INTO session_problem
  SELECT NULL, session_id, position, problem_id FROM old_session_problem;

-- One trial: how one configuration fared at one size.
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
  clock_mhz    REAL CHECK (clock_mhz > 0 AND clock_mhz < 1e6),
  discarded    INTEGER NOT NULL CHECK (discarded >= 0),
  power_capped INTEGER NOT NULL CHECK (power_capped IN (0, 1)),
  checksum     TEXT NOT NULL AS (row_checksum(
                 'result', id, session_id, problem_id, sequence, elapsed_s, config_id, outcome,
                 message, median_ns, q1_ns, q3_ns, min_ns, samples, worst_error, check_seed,
                 registers, shared_bytes, local_bytes, compile_ms, verify_ms, measure_ms,
                 hot_ns, clock_mhz, discarded, power_capped)) STORED,
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
         local_bytes, compile_ms, verify_ms, measure_ms, NULL, NULL, 0, 0 FROM old_result;

-- A final: the contenders of a size re-timed in rounds beside one another.
CREATE TABLE final (
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  checksum   TEXT NOT NULL AS (row_checksum('final', id, session_id, problem_id)) STORED
) STRICT;
CREATE INDEX final_by_session ON final (session_id, problem_id);
INSERT INTO final
  SELECT id, session_id, problem_id FROM old_final;

CREATE TABLE finalist (
  id            INTEGER PRIMARY KEY,
  final_id      INTEGER NOT NULL REFERENCES final ON DELETE CASCADE,
  position      INTEGER NOT NULL CHECK (position >= 1),
  role          TEXT NOT NULL CHECK (role IN ('candidate', 'default', 'incumbent', 'library')),
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
  checksum      TEXT NOT NULL AS (row_checksum(
                  'finalist', id, final_id, position, role, config_id, median_ns, q1_ns, q3_ns,
                  min_ns, samples, ratio_to_best, ratio_low, ratio_high, samples_ns, hot_ns,
                  clock_mhz)) STORED,
  UNIQUE (final_id, position),
  CONSTRAINT the_library_has_no_configuration CHECK ((role = 'library') = (config_id IS NULL)),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT;
INSERT INTO finalist
  SELECT NULL, final_id, position, role, config_id, median_ns, q1_ns, q3_ns, min_ns, samples,
         ratio_to_best, ratio_low, ratio_high, samples_ns, NULL, NULL FROM old_finalist;

-- The best known configuration; the latest final of its key decides. A verified one was proved
-- right here; one of elsewhere stands beside it until it is.
CREATE TABLE best (
  id                    INTEGER PRIMARY KEY,
  device_id             INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
  kernel_id             INTEGER NOT NULL REFERENCES kernel ON DELETE CASCADE,
  environment_id        INTEGER NOT NULL REFERENCES environment ON DELETE CASCADE,
  problem_id            INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  config_id             INTEGER NOT NULL REFERENCES config ON DELETE CASCADE,
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
  verified              INTEGER NOT NULL CHECK (verified IN (0, 1)),
  origin                TEXT NOT NULL,
  checksum              TEXT NOT NULL AS (row_checksum(
                          'best', id, device_id, kernel_id, environment_id, problem_id,
                          config_id, session_id, recorded_at, median_ns, q1_ns, q3_ns, min_ns,
                          samples, library_ns, default_ns, ratio_to_library, ratio_to_default,
                          ratio_to_library_low, ratio_to_library_high, library_name, ties,
                          flops, bytes, verified, origin)) STORED,
  UNIQUE (device_id, kernel_id, environment_id, problem_id, verified),
  CONSTRAINT of_elsewhere_unless_verified CHECK ((verified = 1) = (origin = '')),
  CONSTRAINT time_in_order CHECK (
    min_ns > 0 AND min_ns <= q1_ns AND q1_ns <= median_ns AND median_ns <= q3_ns AND
    q3_ns < 1e15 AND samples >= 1)
) STRICT;
INSERT INTO best
  SELECT id, device_id, kernel_id, environment_id, problem_id, config_id, session_id,
         recorded_at, median_ns, q1_ns, q3_ns, min_ns, samples, library_ns, default_ns,
         ratio_to_library, ratio_to_default, ratio_to_library_low, ratio_to_library_high, library_name,
         ties, flops, bytes, 1, '' FROM old_best;

-- A candidate that is on the device now; what is left of a process that died names the suspect.
CREATE TABLE attempt (
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  config_id  INTEGER NOT NULL REFERENCES config ON DELETE CASCADE,
  began_at   TEXT NOT NULL,
  checksum   TEXT NOT NULL AS (row_checksum(
               'attempt', id, session_id, problem_id, config_id, began_at)) STORED,
  UNIQUE (session_id, problem_id, config_id)
) STRICT;

-- One time that a configuration crashed, hung or took its process along.
CREATE TABLE strike (
  id          INTEGER PRIMARY KEY,
  session_id  INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  config_id   INTEGER NOT NULL REFERENCES config ON DELETE CASCADE,
  reason      TEXT NOT NULL CHECK (reason <> ''),
  recorded_at TEXT NOT NULL,
  checksum    TEXT NOT NULL AS (row_checksum(
                'strike', id, session_id, config_id, reason, recorded_at)) STORED
) STRICT;
CREATE INDEX strike_by_config ON strike (config_id);
CREATE INDEX strike_by_session ON strike (session_id);

-- One re-timing of a configuration that stays the same, to see the device drift.
CREATE TABLE canary (
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  elapsed_s  REAL NOT NULL CHECK (elapsed_s >= 0 AND elapsed_s < 1e9),
  median_ns  REAL NOT NULL CHECK (median_ns > 0 AND median_ns < 1e15),
  clock_mhz  REAL CHECK (clock_mhz > 0 AND clock_mhz < 1e6),
  checksum   TEXT NOT NULL AS (row_checksum(
               'canary', id, session_id, problem_id, elapsed_s, median_ns, clock_mhz)) STORED
) STRICT;
CREATE INDEX canary_by_session ON canary (session_id);

DROP TABLE old_best;
DROP TABLE old_finalist;
DROP TABLE old_final;
DROP TABLE old_result;
DROP TABLE old_session_problem;
DROP TABLE old_session;
DROP TABLE old_config;
DROP TABLE old_problem;
DROP TABLE old_kernel;
DROP TABLE old_environment;
DROP TABLE old_device;
