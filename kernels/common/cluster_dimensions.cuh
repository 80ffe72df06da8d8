// SPDX-License-Identifier: Apache-2.0
// CLUSTER_DIMENSIONS: an attribute of a kernel whose clusters have CLUSTER_BLOCKS blocks, a macro
// that the space file defines. A cluster of one is not launched as one.
#pragma once

#if CLUSTER_BLOCKS > 1
#define CLUSTER_DIMENSIONS __cluster_dims__(CLUSTER_BLOCKS)
#else
#define CLUSTER_DIMENSIONS
#endif
