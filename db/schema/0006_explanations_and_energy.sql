-- SPDX-License-Identifier: Apache-2.0
-- Schema 6: hardware counters of explained configurations; the energy of finalists.

-- What `tune explain` found about the best configuration of a size.
CREATE TABLE explanation (
  id               INTEGER PRIMARY KEY,
  session_id       INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,  -- that found the best
  problem_id       INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  recorded_at      TEXT NOT NULL,
  counters_problem TEXT NOT NULL,  -- why counters are missing; empty: none are
  peak_flops_per_s REAL CHECK (peak_flops_per_s > 0 AND peak_flops_per_s < 1e30),
  peak_bytes_per_s REAL CHECK (peak_bytes_per_s > 0 AND peak_bytes_per_s < 1e30),
  checksum         TEXT NOT NULL AS (row_checksum(
                     'explanation', id, session_id, problem_id, recorded_at, counters_problem,
                     peak_flops_per_s, peak_bytes_per_s)) STORED
) STRICT;
CREATE INDEX explanation_by_session ON explanation (session_id, problem_id);

-- A contender of an explanation, timed beside the best and counted from a cold cache.
CREATE TABLE explained (
  id             INTEGER PRIMARY KEY,
  explanation_id INTEGER NOT NULL REFERENCES explanation ON DELETE CASCADE,
  position       INTEGER NOT NULL CHECK (position >= 1),
  role           TEXT NOT NULL CHECK (role IN ('best', 'neighbour', 'default', 'library')),
  config_id      INTEGER REFERENCES config ON DELETE CASCADE,
  parameter      TEXT NOT NULL,  -- of a neighbour: that in which it differs from the best
  median_ns      REAL CHECK (median_ns > 0 AND median_ns < 1e15),  -- NULL: not timed
  ratio_to_best  REAL CHECK (ratio_to_best > 0 AND ratio_to_best < 1e9),
  ratio_low      REAL CHECK (ratio_low > 0 AND ratio_low < 1e9),
  ratio_high     REAL CHECK (ratio_high > 0 AND ratio_high < 1e9),
  threads        INTEGER CHECK (threads >= 0),
  registers      INTEGER CHECK (registers >= 0),
  shared_bytes   INTEGER CHECK (shared_bytes >= 0),
  local_bytes    INTEGER CHECK (local_bytes >= 0),
  counters       TEXT CHECK (counters GLOB '{*}'),      -- a JSON object: numbers by name
  instructions   TEXT CHECK (instructions GLOB '{*}'),  -- likewise: by kind
  checksum       TEXT NOT NULL AS (row_checksum(
                   'explained', id, explanation_id, position, role, config_id, parameter,
                   median_ns, ratio_to_best, ratio_low, ratio_high, threads, registers,
                   shared_bytes, local_bytes, counters, instructions)) STORED,
  UNIQUE (explanation_id, position),
  CONSTRAINT the_library_has_no_configuration CHECK ((role = 'library') = (config_id IS NULL)),
  CONSTRAINT a_neighbour_differs CHECK ((role = 'neighbour') = (parameter <> '')),
  CONSTRAINT a_time_with_its_ratios CHECK (
    (median_ns IS NULL) = (ratio_to_best IS NULL) AND (median_ns IS NULL) = (ratio_low IS NULL) AND
    (median_ns IS NULL) = (ratio_high IS NULL)),
  CONSTRAINT what_it_takes_together CHECK (
    (threads IS NULL) = (registers IS NULL) AND (threads IS NULL) = (shared_bytes IS NULL) AND
    (threads IS NULL) = (local_bytes IS NULL))
) STRICT;

-- The energy that a run of a finalist takes, of the whole device, in joules.
CREATE TABLE energy (
  id          INTEGER PRIMARY KEY,
  finalist_id INTEGER NOT NULL UNIQUE REFERENCES finalist ON DELETE CASCADE,
  joules      REAL NOT NULL CHECK (joules > 0 AND joules < 1e12),  -- the median of the windows
  min_joules  REAL NOT NULL CHECK (min_joules > 0 AND min_joules <= joules),
  max_joules  REAL NOT NULL CHECK (max_joules >= joules AND max_joules < 1e12),
  windows     INTEGER NOT NULL CHECK (windows >= 1),
  watts       REAL NOT NULL CHECK (watts > 0 AND watts < 1e6),       -- meanwhile, on average
  idle_watts  REAL CHECK (idle_watts >= 0 AND idle_watts < 1e6),     -- of the device at rest
  checksum    TEXT NOT NULL AS (row_checksum(
                'energy', id, finalist_id, joules, min_joules, max_joules, windows, watts,
                idle_watts)) STORED
) STRICT;
