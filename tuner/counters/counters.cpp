// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/counters.hpp"

#include <array>

namespace tuner::counters {
namespace {

// `l1_wavefronts`, `elapsed_ns` and `busy_percent` take no pass of their own.
constexpr std::array kFields = {
    CounterField{"fma_percent", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
                 &Counters::fma_percent},
    CounterField{"tensor_percent",
                 "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                 &Counters::tensor_percent},
    CounterField{"issue_percent", "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
                 &Counters::issue_percent},
    CounterField{"dram_percent", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                 &Counters::dram_percent},
    CounterField{"l2_percent", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                 &Counters::l2_percent},
    CounterField{"l1_percent", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
                 &Counters::l1_percent},
    CounterField{"warps_percent", "sm__warps_active.avg.pct_of_peak_sustained_active",
                 &Counters::warps_percent},
    CounterField{"l1_wavefronts", "l1tex__data_pipe_lsu_wavefronts.sum", &Counters::l1_wavefronts},
    CounterField{"shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                 &Counters::shared_wavefronts},
    CounterField{"bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
                 &Counters::bank_conflicts},
    CounterField{"shared_loads", "smsp__inst_executed_op_shared_ld.sum", &Counters::shared_loads},
    CounterField{"shared_stores", "smsp__inst_executed_op_shared_st.sum", &Counters::shared_stores},
    CounterField{"waiting_for_memory",
                 "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
                 &Counters::waiting_for_memory},
    CounterField{"waiting_for_shared",
                 "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
                 &Counters::waiting_for_shared},
    CounterField{"waiting_for_queue",
                 "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
                 &Counters::waiting_for_queue},
    CounterField{"waiting_for_barrier",
                 "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
                 &Counters::waiting_for_barrier},
    CounterField{"waiting_for_pipe",
                 "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
                 &Counters::waiting_for_pipe},
    CounterField{"elapsed_ns", "gpu__time_duration.sum", &Counters::elapsed_ns},
    CounterField{"busy_percent", "gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
                 &Counters::busy_percent},
};

}  // namespace

std::span<const CounterField> counter_fields() {
  return kFields;
}

Counters without_idle_time(Counters range) {
  const double share = range.busy_percent / 100;
  if (!(share > 0)) return range;
  for (double Counters::*const percent :
       {&Counters::fma_percent, &Counters::tensor_percent, &Counters::issue_percent,
        &Counters::dram_percent, &Counters::l2_percent, &Counters::l1_percent}) {
    range.*percent /= share;
  }
  range.elapsed_ns *= share;
  return range;
}

}  // namespace tuner::counters
