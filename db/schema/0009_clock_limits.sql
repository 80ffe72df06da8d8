-- SPDX-License-Identifier: Apache-2.0
-- Schema 9: what limits the clock of a run's first card.

-- Where a card does not tell either, its run has no row.
CREATE TABLE clock_limit (
  id            INTEGER PRIMARY KEY,
  session_id    INTEGER NOT NULL UNIQUE REFERENCES session ON DELETE CASCADE,
  max_clock_mhz REAL CHECK (max_clock_mhz > 0 AND max_clock_mhz < 1e6),
  power_limit_w REAL CHECK (power_limit_w > 0 AND power_limit_w < 1e6),
  checksum      TEXT NOT NULL AS (row_checksum(
                  'clock_limit', id, session_id, max_clock_mhz, power_limit_w)) STORED
) STRICT;
