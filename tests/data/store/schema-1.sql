-- A database of schema 1 as tune 0.1.0 wrote it: gemm_naive at two sizes on the cpu backend.
PRAGMA application_id = 0x74756e65; PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO device VALUES(1,'cpu','Intel(R) Xeon(R) Processor @ 2.80GHz','x86_64',0,2,32,1024,2048,32,49152,232448,233472,65536,65536,1310720,25276510208);
CREATE TABLE environment (
  id       INTEGER PRIMARY KEY,
  driver   TEXT NOT NULL,
  compiler TEXT NOT NULL,
  library  TEXT NOT NULL,
  tool     TEXT NOT NULL,
  UNIQUE (driver, compiler, library, tool)
) STRICT;
INSERT INTO environment VALUES(1,'','g++ 12.2.0','OpenBLAS 0.3.21','0.1.0');
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
INSERT INTO kernel VALUES(1,'gemm','gemm_naive','99148ef2c948b77e532c6439347c9227',replace('{\n  "$schema": "schema/space-1.schema.json",\n  "format": "space/1",\n  "family": "gemm",\n  "doc": "Row-major C = alpha·A·B + beta·C in single precision: A is M×K, B is K×N, C is M×N, rows without padding.",\n\n  "problem": {\n    "dims": ["M", "N", "K"],\n    "flops": "2*M*N*K",\n    "bytes": "4*(M*K + K*N + M*N)",\n    "sizes": {\n      "smoke": [[64, 64, 64], [67, 45, 33]],\n      "cpu": [[96, 96, 96]],\n      "default": [[1024, 1024, 1024], [2048, 2048, 2048], [4096, 4096, 4096]],\n      "squares": [[512, 512, 512], [1024, 1024, 1024], [2048, 2048, 2048], [4096, 4096, 4096]]\n    }\n  },\n\n  "arguments": [\n    {"name": "M", "type": "int", "value": "M"},\n    {"name": "N", "type": "int", "value": "N"},\n    {"name": "K", "type": "int", "value": "K"},\n    {"name": "alpha", "type": "float", "value": 1},\n    {"name": "A", "type": "float*", "count": "M*K"},\n    {"name": "B", "type": "float*", "count": "K*N"},\n    {"name": "beta", "type": "float", "value": 0},\n    {"name": "C", "type": "float*", "count": "M*N", "role": "output"}\n  ],\n\n  "check": {\n    "reference": {"op": "gemm", "m": "M", "n": "N", "k": "K", "a": "A", "b": "B", "c": "C", "alpha": "alpha", "beta": "beta"},\n    "accumulates": "K",\n    "sizes": [[1, 1, 1], [17, 19, 23], [67, 45, 33], [5, 131, 7]],\n    "cases": [\n      {"set": {"alpha": 3, "beta": -2}, "reads": ["C"], "why": "both factors act: with the tuned 1 and 0 a kernel that ignores them looks right"}\n    ]\n  },\n\n  "kernels": {\n    "gemm_naive": {\n      "doc": "One thread computes one element of C straight from global memory: the baseline.",\n      "source": "../kernels/gemm/gemm_naive.cu",\n      "entry": "gemm_naive<${BLOCK_X},${BLOCK_Y}>",\n      "parameters": {\n        "BLOCK_X": {"pow2": [1, 1024], "default": 16, "doc": "threads of a block along N, the direction in which B and C are contiguous"},\n        "BLOCK_Y": {"pow2": [1, 1024], "default": 16, "doc": "threads of a block along M"}\n      },\n      "derived": {\n        "THREADS": "BLOCK_X*BLOCK_Y"\n      },\n      "constraints": [\n        {"expr": "THREADS <= dev.max_threads_per_block and THREADS % dev.warp_size == 0", "why": "a legal block of whole warps"}\n      ],\n      "launch": {\n        "grid": ["ceil_div(N, BLOCK_X)", "ceil_div(M, BLOCK_Y)"],\n        "block": ["BLOCK_X", "BLOCK_Y"]\n      },\n      "check_sizes": [\n        ["max(1, BLOCK_Y - 1)", "BLOCK_X + 1", 3]\n      ]\n    },\n\n    "gemm_shared": {\n      "doc": "A block computes a tile of C, slab by slab of K through shared memory; a thread keeps ROWS×COLS elements, strided by the block''s shape, in registers.",\n      "source": "../kernels/gemm/gemm_shared.cu",\n      "entry": "gemm_shared<${TILE_M},${TILE_N},${TILE_K},${BLOCK_X},${BLOCK_Y},${UNROLL},${PAD},${VEC}>",\n      "parameters": {\n        "TILE_M": {"pow2": [32, 256], "default": 64, "doc": "rows of C that a block computes"},\n        "TILE_N": {"pow2": [32, 256], "default": 64, "doc": "columns of C that a block computes"},\n        "TILE_K": {"pow2": [8, 64], "default": 16, "doc": "depth of one slab of A and B in shared memory"},\n        "BLOCK_X": {"values": [8, 16, 32], "default": 16, "doc": "threads of a block along N"},\n        "BLOCK_Y": {"values": [4, 8, 16], "default": 16, "doc": "threads of a block along M"},\n        "UNROLL": {"values": [1, 8, 16], "default": 16, "doc": "unroll factor of the loop over the slab''s depth"},\n        "PAD": {"values": [0, 1, 4], "default": 0, "doc": "floats appended to each row of both tiles in shared memory, against bank conflicts"},\n        "VEC": {"values": [1, 2, 4], "default": 1, "doc": "floats that one load from global memory fetches"}\n      },\n      "derived": {\n        "THREADS": "BLOCK_X*BLOCK_Y",\n        "ROWS": "TILE_M//BLOCK_Y",\n        "COLS": "TILE_N//BLOCK_X",\n        "REGISTERS": "ROWS*COLS + ROWS + COLS + 32",\n        "SMEM": "4*(TILE_M*(TILE_K + PAD) + TILE_K*(TILE_N + PAD))"\n      },\n      "constraints": [\n        {"expr": "THREADS <= dev.max_threads_per_block and THREADS % dev.warp_size == 0", "why": "a legal block of whole warps"},\n        {"expr": "TILE_M % BLOCK_Y == 0 and TILE_N % BLOCK_X == 0", "why": "every thread computes the same number of elements"},\n        {"expr": "VEC == 1 or (TILE_K % VEC == 0 and TILE_N % VEC == 0 and PAD % VEC == 0)", "why": "a vector must not straddle two rows of a tile, and rows must stay aligned to it"},\n        {"expr": "TILE_M*TILE_K >= THREADS*VEC and TILE_K*TILE_N >= THREADS*VEC", "why": "every thread has a load to do in both tiles"},\n        {"expr": "TILE_K % UNROLL == 0", "why": "the unrolled loop has no remainder"},\n        {"expr": "ROWS <= 2*COLS and COLS <= 2*ROWS", "why": "far from square, a register tile reads more from shared memory for the same work"},\n        {"expr": "ROWS*COLS >= ROWS + COLS", "why": "at least one multiply-add for each float read from shared memory"},\n        {"expr": "ROWS*COLS <= 128", "why": "more accumulators than that spill out of a thread''s 255 registers"},\n        {"expr": "THREADS*REGISTERS <= dev.registers_per_block", "why": "the block''s registers, estimated: accumulators, one row and column of operands, 32 for addresses and loops"},\n        {"expr": "SMEM <= dev.max_smem_per_block_optin", "why": "both tiles fit into the shared memory of a block"}\n      ],\n      "launch": {\n        "grid": ["ceil_div(N, TILE_N)", "ceil_div(M, TILE_M)"],\n        "block": ["BLOCK_X", "BLOCK_Y"],\n        "dynamic_shared_bytes": "SMEM"\n      },\n      "check_sizes": [\n        ["max(1, TILE_M - 1)", "TILE_N + 1", "TILE_K + 1"],\n        ["TILE_M + 1", "max(1, TILE_N - 1)", "max(1, TILE_K - 1)"]\n      ]\n    }\n  }\n}\n','\n',char(10)),'gemm_naive.cu',replace('// SPDX-License-Identifier: Apache-2.0\n// C = alpha * A * B + beta * C, row-major without padding: A is M x K, B is K x N, C is M x N.\n// One thread an element of C, everything read from global memory: what the caches alone achieve.\n//\n// Grid (ceil(N / BLOCK_X), ceil(M / BLOCK_Y)), block (BLOCK_X, BLOCK_Y). As in BLAS, alpha == 0\n// reads neither A nor B, and beta == 0 does not read C.\n\ntemplate <int BLOCK_X, int BLOCK_Y>\n__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)\n    gemm_naive(int M, int N, int K, float alpha, const float* __restrict__ A,\n               const float* __restrict__ B, float beta, float* __restrict__ C) {\n  const int row = blockIdx.y * BLOCK_Y + threadIdx.y;\n  const int col = blockIdx.x * BLOCK_X + threadIdx.x;\n  if (row >= M || col >= N) return;\n\n  float sum = 0.0f;\n  if (alpha != 0.0f) {\n    const float* a = A + static_cast<long long>(row) * K;\n    const float* b = B + col;\n    for (int k = 0; k < K; ++k) sum += a[k] * b[static_cast<long long>(k) * N];\n  }\n  float* c = C + static_cast<long long>(row) * N + col;\n  *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;\n}\n','\n',char(10)),'[]');
CREATE TABLE problem (
  id     INTEGER PRIMARY KEY,
  family TEXT NOT NULL CHECK (family <> ''),
  size   TEXT NOT NULL CHECK (size <> ''),
  UNIQUE (family, size)
) STRICT;
INSERT INTO problem VALUES(1,'gemm','16,16,16');
INSERT INTO problem VALUES(2,'gemm','24,16,8');
CREATE TABLE config (
  id        INTEGER PRIMARY KEY,
  kernel_id INTEGER NOT NULL REFERENCES kernel ON DELETE CASCADE,
  json      TEXT NOT NULL CHECK (json <> ''),
  UNIQUE (kernel_id, json)
) STRICT;
INSERT INTO config VALUES(1,1,'{"BLOCK_X":16,"BLOCK_Y":16}');
INSERT INTO config VALUES(2,1,'{"BLOCK_X":2,"BLOCK_Y":64}');
INSERT INTO config VALUES(3,1,'{"BLOCK_X":1024,"BLOCK_Y":1}');
INSERT INTO config VALUES(4,1,'{"BLOCK_X":1,"BLOCK_Y":256}');
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
INSERT INTO session VALUES(1,'1b0a9e361009897f2f7701b9427a8e85',1,'',1,1,'auto',0,'tune --space /src/tuner/spaces/gemm.json --kernel gemm_naive --backend cpu --size 16,16,16 --size 24,16,8 --max-evals 4 --db /tmp/gold/one.db','2026-11-21T12:11:08Z','2026-11-21T12:11:13Z','complete',51,121,4.9243541600000000357,2.8417375609999999674,2.5286030079999997077,0.58424741099999999427);
CREATE TABLE session_problem (
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  position   INTEGER NOT NULL CHECK (position >= 1),
  problem_id INTEGER NOT NULL REFERENCES problem,
  PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO session_problem VALUES(1,1,1);
INSERT INTO session_problem VALUES(1,2,2);
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
INSERT INTO result VALUES(1,1,1,1,3.1980469160000000172,1,'ok','',63468.499999999999998,47219.249999999999998,68754.0,36014.0,20,0.14444932341575622558,0,0,0,0,773.97457399999996141,2391.9128279999999904,7.698831000000000202,'0a20db362548b1b50b332c1d2d8fa440');
INSERT INTO result VALUES(2,1,2,1,3.3901467929999999917,1,'ok','',104272.49999999999999,58517.500000000000001,2245050.7499999999999,43270.0,20,0.17139746248722076416,0,0,0,0,0.0,107.50808800000000076,63.931179999999997675,'b19286db19946e95d3ab90bf32ddcd3b');
INSERT INTO result VALUES(3,1,1,2,3.4862128289999998465,2,'ok','',56741.0,52055.0,1132081.5,41703.0,20,0.14444932341575622558,0,0,0,0,952.52593100000001414,6.155453999999999759,31.915006999999999237,'753a6a0578a29de479fba5d769ea020d');
INSERT INTO result VALUES(4,1,2,2,3.5221341310000000568,2,'ok','',60842.499999999999998,52948.749999999999999,88385.500000000000002,45781.0,20,0.17139746248722076416,0,0,0,0,0.0,0.45942699999999997428,29.667042999999999608,'ba815affdad7d8d4c85d6ea869f425c8');
INSERT INTO result VALUES(5,1,1,3,3.6936119889999998733,3,'ok','',306896.0,304591.0,314195.0,293690.0,5,0.14444932341575622558,0,0,0,0,450.1948449999999866,10.718135999999999441,8.5397180000000005861,'c7e3e92648a2843c13d8ae5db1e61c22');
INSERT INTO result VALUES(6,1,2,3,3.7507732210000002126,3,'ok','',263554.0,255260.0,267698.0,253967.0,5,0.17139746248722076416,0,0,0,0,0.0,0.68674400000000002108,7.8664789999999999992,'3388fc64e7bf287ffab4ee0beb952e7a');
INSERT INTO result VALUES(7,1,1,4,4.361304371000000124,4,'ok','',60010.0,58746.0,61890.75,56310.0,20,0.14444932341575622558,0,0,0,0,665.04221099999995202,3.5153200000000000002,15.529958000000000595,'801195f19499aa919cebe78fac259110');
INSERT INTO result VALUES(8,1,2,4,4.4062789379999998118,4,'ok','',135099.0,122299.0,545622.0,120556.0,5,0.17139746248722076416,0,0,0,0,0.0,7.6470110000000000027,11.898599000000000813,'578e9391ddafd9ac0f0ff53e0179d4ae');
CREATE TABLE final (
  id         INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
  problem_id INTEGER NOT NULL REFERENCES problem
) STRICT;
INSERT INTO final VALUES(1,1,1);
INSERT INTO final VALUES(2,1,2);
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
INSERT INTO finalist VALUES(1,1,'library',NULL,4649.0,4043.0,6658.75,1825.0,30,0.17323287900029016306,0.14177386594448204704,0.18833189282627485483,'[8159,6912,6652,9826,9268,4413,4036,3802,4274,5323,6537,9361,6661,4064,4154,4508,3165,3233,3015,4790,3645,4188,7013,5178,1825,3188,4198,4980,13699,5783]');
INSERT INTO finalist VALUES(1,2,'default',1,25799.5,22951.0,31333.249999999999999,16614.0,30,1.0,1.0,1.0,'[194836,71486,64263,2414051,31931,23969,23395,25834,23158,18670,34710,24210,19783,23363,27812,28380,28569,26025,23907,16614,21555,29540,22882,28070,25765,16961,22255,77186,55964,22504]');
INSERT INTO finalist VALUES(1,3,'candidate',2,31233.0,28258.749999999999999,39541.25,23610.0,30,1.2472346109993883711,1.1141290266862422519,1.3914977505939443158,'[135200,1484362,79526,80449,129462,33660,27754,28624,25801,34838,56586,30204,27528,29498,26084,33901,72357,24185,34223,31219,25802,36833,30803,28718,34378,28137,23610,29077,40444,31247]');
INSERT INTO finalist VALUES(1,4,'candidate',4,64403.0,58817.750000000000002,69182.0,54174.0,30,2.5357992031061993287,2.1083573487031701532,2.827441761060055736,'[140899,150242,126669,123650,150508,67239,66148,103406,63592,81904,62420,69571,57504,62866,66695,67167,61596,54870,54924,55491,57628,58674,63954,57176,59249,59398,68015,65064,54174,64852]');
INSERT INTO finalist VALUES(1,5,'candidate',3,173153.5,166122.5,239577.74999999999999,159998.0,30,7.1336222480297255543,6.5004034582132561581,7.7717084413713628521,'[320037,332855,310472,337658,323310,187272,229909,168051,167202,241188,269756,173787,170886,166111,166157,167646,266017,169173,163408,159998,165963,193893,163772,174953,172520,161697,234747,163893,177638,165533]');
INSERT INTO finalist VALUES(2,1,'library',NULL,6752.5,5827.7500000000000001,7708.0,3688.0,30,0.084182340134324504243,0.077585256841976368846,0.092121422634628025161,'[8249,3688,8211,7426,6716,5166,7387,6789,8440,7142,5786,4580,3907,3942,6064,8040,6910,5953,8433,5281,6468,6676,7441,7797,6477,6336,8115,7135,7982,5116]');
INSERT INTO finalist VALUES(2,2,'default',1,76411.499999999999998,67551.250000000000002,88537.0,56901.0,30,1.0,1.0,1.0,'[72505,66976,63061,80611,2683199,62065,116836,70080,74978,99912,65100,56901,58142,75821,77002,84655,77176,93588,69277,62035,64498,1549642,90589,89831,78705,81665,74290,77584,73187,93120]');
INSERT INTO finalist VALUES(2,3,'candidate',2,81406.499999999999998,73768.0,86417.250000000000002,60868.0,30,1.1414248587159363523,1.0616606314719523318,1.1981874039938555931,'[73173,82395,80418,86773,78686,85350,76133,83714,112507,73224,78002,77417,69458,75400,60868,162136,84224,663986,67082,71569,68772,61399,104525,112558,83558,94513,83285,96356,82640,78402]');
INSERT INTO finalist VALUES(2,4,'candidate',4,139223.0,122079.25,1606917.25,91359.0,30,1.8708548638708508704,1.6566582686163995319,2.2099573028276804365,'[119399,137722,140691,147429,120178,137161,131624,3056570,138664,2684608,2307722,123070,115696,2231195,127566,2087090,139782,2428078,121749,102158,95870,91359,145575,2827080,139930,12156397,140580,166399,116766,126798]');
INSERT INTO finalist VALUES(2,5,'candidate',3,451691.0,374866.75,507810.25,276669.0,30,5.9991254720097622055,4.7674353431019298454,6.4495448320309352041,'[426770,366392,474047,481114,421072,400291,418221,491203,520089,476324,418641,2808148,420819,487340,296819,1246039,327134,304076,303218,280219,276669,319309,554275,550843,474584,429532,513506,516325,513346,473850]');
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
INSERT INTO best VALUES(1,1,1,1,1,1,1,'2026-11-21T12:11:12Z',25799.5,22951.0,31333.249999999999999,16614.0,30,4649.0,25799.5,0.17323287900029016306,1.0,0.14177386594448204704,0.18833189282627485483,'OpenBLAS 0.3.21',0,8192.0,3072.0,'b02b16870253fa03af560069aac54c4c');
INSERT INTO best VALUES(2,1,1,1,2,1,1,'2026-11-21T12:11:12Z',76411.499999999999998,67551.250000000000002,88537.0,56901.0,30,6752.5,76411.499999999999998,0.084182340134324504243,1.0,0.077585256841976368846,0.092121422634628025161,'OpenBLAS 0.3.21',0,6144.0,2816.0,'7b1ce83c6277f2d8fd7db2dbd85af048');
CREATE INDEX session_by_subject ON session (kernel_id, device_id, environment_id);
CREATE INDEX final_by_session ON final (session_id, problem_id);
COMMIT;
