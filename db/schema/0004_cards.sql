-- SPDX-License-Identifier: Apache-2.0
-- Schema 4: which card a run tunes a size on. A run of one card has its uuid in session.device_uuid.

-- From the trial with this sequence on, the size is tuned on this card; its final round is on the
-- last one. It moves when a card drops out.
CREATE TABLE card (
  id             INTEGER PRIMARY KEY,
  session_id     INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id     INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  first_sequence INTEGER NOT NULL CHECK (first_sequence >= 1),
  uuid           TEXT NOT NULL CHECK (uuid <> ''),
  host           TEXT NOT NULL,
  job            TEXT NOT NULL,  -- of the batch system; empty outside of one
  checksum       TEXT NOT NULL AS (row_checksum(
                   'card', id, session_id, problem_id, first_sequence, uuid, host, job)) STORED,
  UNIQUE (session_id, problem_id, first_sequence)
) STRICT;
