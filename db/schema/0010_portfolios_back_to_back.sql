-- SPDX-License-Identifier: Apache-2.0
-- Schema 10: times of portfolios back to back.
--
-- The table is made anew, for its checksums are of all columns. A row that does not fit its checksum
-- ends the migration: a new checksum would hide the damage.

CREATE TEMP TABLE old_size AS SELECT * FROM portfolio_size;
DROP TABLE portfolio_size;

-- A size at which members of a portfolio were timed: back to back with their data in memory, before
-- schema 10 by single launches from a cold cache.
CREATE TABLE portfolio_size (
  id              INTEGER PRIMARY KEY,
  portfolio_id    INTEGER NOT NULL REFERENCES portfolio ON DELETE CASCADE,
  problem_id      INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  weight          REAL NOT NULL CHECK (weight > 0 AND weight < 1e30),
  member_cold_ns  REAL CHECK (member_cold_ns > 0 AND member_cold_ns < 1e15),  -- the fastest member
  library_cold_ns REAL CHECK (library_cold_ns > 0 AND library_cold_ns < 1e15),
  member_ns       REAL CHECK (member_ns > 0 AND member_ns < 1e15),
  library_ns      REAL CHECK (library_ns > 0 AND library_ns < 1e15),
  checksum        TEXT NOT NULL AS (row_checksum(
                    'portfolio_size', id, portfolio_id, problem_id, weight, member_cold_ns,
                    library_cold_ns, member_ns, library_ns)) STORED,
  UNIQUE (portfolio_id, problem_id)
) STRICT;
INSERT INTO portfolio_size
  SELECT id, portfolio_id, problem_id, weight, member_ns, library_ns, NULL, NULL
  FROM old_size
  WHERE checked_row('portfolio_size', checksum, id, portfolio_id, problem_id, weight, member_ns,
                    library_ns) = 1;
DROP TABLE old_size;
