-- SPDX-License-Identifier: Apache-2.0
-- Schema 8: portfolios.

-- Few configurations, of all kernels of a family, that serve the sizes of a distribution. Of several
-- portfolios of one device, family and types the latest counts.
CREATE TABLE portfolio (
  id             INTEGER PRIMARY KEY,
  uuid           TEXT NOT NULL UNIQUE CHECK (uuid <> ''),
  device_id      INTEGER NOT NULL REFERENCES device,
  environment_id INTEGER NOT NULL REFERENCES environment,
  family         TEXT NOT NULL CHECK (family <> ''),
  types          TEXT NOT NULL,  -- of its sizes: 'TYPE=bf16'; empty: sizes name no types
  distribution   TEXT NOT NULL,  -- where the sizes are from
  recorded_at    TEXT NOT NULL,
  loss           REAL NOT NULL CHECK (loss >= 1 AND loss < 1e9),
  left_out_loss  REAL CHECK (left_out_loss >= 1 AND left_out_loss < 1e9),  -- NULL: one size
  checksum       TEXT NOT NULL AS (row_checksum(
                   'portfolio', id, uuid, device_id, environment_id, family, types, distribution,
                   recorded_at, loss, left_out_loss)) STORED
) STRICT;

CREATE TABLE portfolio_member (
  id           INTEGER PRIMARY KEY,
  portfolio_id INTEGER NOT NULL REFERENCES portfolio ON DELETE CASCADE,
  position     INTEGER NOT NULL CHECK (position >= 1),  -- in the order chosen
  config_id    INTEGER NOT NULL REFERENCES config ON DELETE CASCADE,
  checksum     TEXT NOT NULL AS (row_checksum(
                 'portfolio_member', id, portfolio_id, position, config_id)) STORED,
  UNIQUE (portfolio_id, position)
) STRICT;

-- A size at which the members were chosen. Times are of single launches from a cold cache.
CREATE TABLE portfolio_size (
  id           INTEGER PRIMARY KEY,
  portfolio_id INTEGER NOT NULL REFERENCES portfolio ON DELETE CASCADE,
  problem_id   INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  weight       REAL NOT NULL CHECK (weight > 0 AND weight < 1e30),
  member_ns    REAL CHECK (member_ns > 0 AND member_ns < 1e15),    -- the fastest member
  library_ns   REAL CHECK (library_ns > 0 AND library_ns < 1e15),
  checksum     TEXT NOT NULL AS (row_checksum(
                 'portfolio_size', id, portfolio_id, problem_id, weight, member_ns,
                 library_ns)) STORED,
  UNIQUE (portfolio_id, problem_id)
) STRICT;
