// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/counters.hpp"

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <functional>
#include <utility>

namespace tuner::backend {

struct CuptiApi {
  SharedLibrary library{fmt::format("libcupti.so.{}", CUDART_VERSION / 1000)};
  decltype(&cuptiGetVersion) version = library.symbol("cuptiGetVersion");
  decltype(&cuptiGetResultString) result_name = library.symbol("cuptiGetResultString");
  decltype(&cuptiProfilerInitialize) initialize = library.symbol("cuptiProfilerInitialize");
  decltype(&cuptiDeviceGetChipName) chip_name = library.symbol("cuptiDeviceGetChipName");
  decltype(&cuptiProfilerGetCounterAvailability) availability =
      library.symbol("cuptiProfilerGetCounterAvailability");
  decltype(&cuptiProfilerHostInitialize) host_initialize =
      library.symbol("cuptiProfilerHostInitialize");
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize =
      library.symbol("cuptiProfilerHostDeinitialize");
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics =
      library.symbol("cuptiProfilerHostConfigAddMetrics");
  decltype(&cuptiProfilerHostGetConfigImageSize) config_image_size =
      library.symbol("cuptiProfilerHostGetConfigImageSize");
  decltype(&cuptiProfilerHostGetConfigImage) config_image =
      library.symbol("cuptiProfilerHostGetConfigImage");
  decltype(&cuptiProfilerHostGetNumOfPasses) passes =
      library.symbol("cuptiProfilerHostGetNumOfPasses");
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate =
      library.symbol("cuptiProfilerHostEvaluateToGpuValues");
  decltype(&cuptiRangeProfilerEnable) enable = library.symbol("cuptiRangeProfilerEnable");
  decltype(&cuptiRangeProfilerDisable) disable = library.symbol("cuptiRangeProfilerDisable");
  decltype(&cuptiRangeProfilerGetCounterDataSize) counter_data_size =
      library.symbol("cuptiRangeProfilerGetCounterDataSize");
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_counter_data =
      library.symbol("cuptiRangeProfilerCounterDataImageInitialize");
  decltype(&cuptiRangeProfilerSetConfig) set_config = library.symbol("cuptiRangeProfilerSetConfig");
  decltype(&cuptiRangeProfilerStart) start = library.symbol("cuptiRangeProfilerStart");
  decltype(&cuptiRangeProfilerStop) stop = library.symbol("cuptiRangeProfilerStop");
  decltype(&cuptiRangeProfilerPushRange) push_range = library.symbol("cuptiRangeProfilerPushRange");
  decltype(&cuptiRangeProfilerPopRange) pop_range = library.symbol("cuptiRangeProfilerPopRange");
  decltype(&cuptiRangeProfilerDecodeData) decode = library.symbol("cuptiRangeProfilerDecodeData");
};

namespace {

/// Nothing, or why counters cannot be read.
using Counting = Expected<void, std::string>;

Counting counting(const CuptiApi& api, CUptiResult result, std::string_view call) {
  if (result == CUPTI_SUCCESS) return {};
  const char* name = nullptr;
  static_cast<void>(api.result_name(result, &name));
  return Unexpected(
      why_not_counted(static_cast<int>(result), name == nullptr ? "unknown" : name, call));
}

/// The parameters of a call, their size set.
template <class Parameters>
Parameters parameters(std::size_t size) {
  Parameters made{};
  made.structSize = size;
  return made;
}

/// What the parameters of calls are called CUpti_…_Params and …_Params_STRUCT_SIZE for.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it makes names
#define TUNER_CUPTI_PARAMETERS(name) \
  parameters<CUpti_##name##_Params>(CUpti_##name##_Params_STRUCT_SIZE)

CUcontext current_context() {
  CUcontext context = nullptr;
  static_cast<void>(driver_api().current_context(&context));
  return context;
}

Expected<std::vector<std::uint8_t>, std::string> available_counters(const CuptiApi& api,
                                                                    CUcontext context) {
  constexpr std::string_view kCall = "cuptiProfilerGetCounterAvailability";
  auto asked = TUNER_CUPTI_PARAMETERS(Profiler_GetCounterAvailability);
  asked.ctx = context;
  if (auto done = counting(api, api.availability(&asked), kCall); !done) {
    return Unexpected(done.error());
  }
  std::vector<std::uint8_t> image(asked.counterAvailabilityImageSize);
  asked.pCounterAvailabilityImage = image.data();
  if (auto done = counting(api, api.availability(&asked), kCall); !done) {
    return Unexpected(done.error());
  }
  return image;
}

/// A context's range profiler, in use while it lives.
class RangeProfiler {
 public:
  static Expected<RangeProfiler, std::string> enable(const CuptiApi& api, CUcontext context) {
    auto enabling = TUNER_CUPTI_PARAMETERS(RangeProfiler_Enable);
    enabling.ctx = context;
    auto done = counting(api, api.enable(&enabling), "cuptiRangeProfilerEnable");
    if (!done) return Unexpected(done.error());
    return RangeProfiler(api, enabling.pRangeProfilerObject);
  }
  RangeProfiler(RangeProfiler&& other) noexcept
      : api_(other.api_),
        profiler_(std::exchange(other.profiler_, nullptr)),
        data_(std::move(other.data_)) {}
  RangeProfiler& operator=(RangeProfiler&&) = delete;
  ~RangeProfiler() {
    if (profiler_ == nullptr) return;
    auto disabling = TUNER_CUPTI_PARAMETERS(RangeProfiler_Disable);
    disabling.pRangeProfilerObject = profiler_;
    static_cast<void>(api_.disable(&disabling));
  }

  Counting configure(CounterPlan& plan) {
    auto sizing = TUNER_CUPTI_PARAMETERS(RangeProfiler_GetCounterDataSize);
    sizing.pRangeProfilerObject = profiler_;
    sizing.pMetricNames = plan.metrics().data();
    sizing.numMetrics = plan.metrics().size();
    sizing.maxNumOfRanges = 1;
    sizing.maxNumRangeTreeNodes = 1;
    auto done =
        counting(api_, api_.counter_data_size(&sizing), "cuptiRangeProfilerGetCounterDataSize");
    if (!done) return done;
    data_.resize(sizing.counterDataSize);
    auto filling = TUNER_CUPTI_PARAMETERS(RangeProfiler_CounterDataImage_Initialize);
    filling.pRangeProfilerObject = profiler_;
    filling.counterDataSize = data_.size();
    filling.pCounterData = data_.data();
    done = counting(api_, api_.initialize_counter_data(&filling),
                    "cuptiRangeProfilerCounterDataImageInitialize");
    if (!done) return done;
    auto setting = TUNER_CUPTI_PARAMETERS(RangeProfiler_SetConfig);
    setting.pRangeProfilerObject = profiler_;
    setting.configSize = plan.config_image().size();
    setting.pConfig = plan.config_image().data();
    setting.counterDataImageSize = data_.size();
    setting.pCounterDataImage = data_.data();
    setting.range = CUPTI_UserRange;
    setting.replayMode = CUPTI_UserReplay;
    setting.maxRangesPerPass = 1;
    setting.numNestingLevels = 1;
    setting.minNestingLevel = 1;
    setting.targetNestingLevel = 1;
    return counting(api_, api_.set_config(&setting), "cuptiRangeProfilerSetConfig");
  }

  Counting start() {
    auto starting = TUNER_CUPTI_PARAMETERS(RangeProfiler_Start);
    starting.pRangeProfilerObject = profiler_;
    return counting(api_, api_.start(&starting), "cuptiRangeProfilerStart");
  }
  Counting begin_range() {
    auto pushing = TUNER_CUPTI_PARAMETERS(RangeProfiler_PushRange);
    pushing.pRangeProfilerObject = profiler_;
    pushing.pRangeName = "run";
    return counting(api_, api_.push_range(&pushing), "cuptiRangeProfilerPushRange");
  }
  Counting end_range() {
    auto popping = TUNER_CUPTI_PARAMETERS(RangeProfiler_PopRange);
    popping.pRangeProfilerObject = profiler_;
    return counting(api_, api_.pop_range(&popping), "cuptiRangeProfilerPopRange");
  }
  /// Whether all passes have been made.
  Expected<bool, std::string> stop() {
    auto stopping = TUNER_CUPTI_PARAMETERS(RangeProfiler_Stop);
    stopping.pRangeProfilerObject = profiler_;
    auto done = counting(api_, api_.stop(&stopping), "cuptiRangeProfilerStop");
    if (!done) return Unexpected(done.error());
    return stopping.isAllPassSubmitted != 0;
  }
  /// The counter data of all passes.
  Expected<std::span<const std::uint8_t>, std::string> decode() {
    auto decoding = TUNER_CUPTI_PARAMETERS(RangeProfiler_DecodeData);
    decoding.pRangeProfilerObject = profiler_;
    auto done = counting(api_, api_.decode(&decoding), "cuptiRangeProfilerDecodeData");
    if (!done) return Unexpected(done.error());
    return std::span<const std::uint8_t>(data_);
  }

 private:
  RangeProfiler(const CuptiApi& api, CUpti_RangeProfiler_Object* profiler)
      : api_(api), profiler_(profiler) {}

  const CuptiApi& api_;
  CUpti_RangeProfiler_Object* profiler_;
  std::vector<std::uint8_t> data_;
};

Expected<CounterPlan, std::string> plan_of_device(const std::shared_ptr<const CuptiApi>& api,
                                                  int device, CUcontext context) {
  auto initializing = TUNER_CUPTI_PARAMETERS(Profiler_Initialize);
  auto done = counting(*api, api->initialize(&initializing), "cuptiProfilerInitialize");
  if (!done) return Unexpected(done.error());
  auto naming = TUNER_CUPTI_PARAMETERS(Device_GetChipName);
  naming.deviceIndex = static_cast<std::size_t>(device);
  done = counting(*api, api->chip_name(&naming), "cuptiDeviceGetChipName");
  if (!done) return Unexpected(done.error());
  const auto available = available_counters(*api, context);
  if (!available) return Unexpected(available.error());
  return CounterPlan::make(api, naming.pChipName, *available, counter_metrics());
}

/// Makes all passes. The inner part is what CUPTI refused, the outer one what failed of the work.
Expected<Counting, Failure> make_passes(RangeProfiler& profiler, const Enqueue& work,
                                        const Enqueue& prepare, cudaStream_t stream,
                                        std::size_t passes) {
  for (std::size_t pass = 0; pass < passes; ++pass) {
    if (auto started = profiler.start(); !started) return started;
    if (auto prepared = prepare(); !prepared) return Unexpected(prepared.error());
    if (auto finished = finish(stream); !finished) return Unexpected(finished.error());
    if (auto begun = profiler.begin_range(); !begun) return begun;
    auto run = work();
    if (run) run = finish(stream);
    if (!run) return Unexpected(run.error());
    if (auto ended = profiler.end_range(); !ended) return ended;
    const auto all = profiler.stop();
    if (!all) return Counting(Unexpected(all.error()));
    if (*all) return Counting();
  }
  return Counting(
      Unexpected(fmt::format("CUPTI needs more than the {} passes that it reported", passes)));
}

counters::CounterReading problem(std::string text) {
  return {.counters = std::nullopt, .problem = std::move(text)};
}

counters::CounterReading reading_of(const std::vector<double>& values) {
  counters::Counters range;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::invoke(counters::counter_fields()[i].member, range) = values[i];
  }
  return {.counters = counters::without_idle_time(range)};
}

}  // namespace

std::string why_built_without_counters() {
  return {};
}

std::shared_ptr<const CuptiApi> open_cupti() {
  return std::make_shared<const CuptiApi>();
}

std::string cupti_version(const CuptiApi& api) {
  std::uint32_t number = 0;  // 130001: of CUDA 13.0, update 1
  static_cast<void>(api.version(&number));
  return fmt::format("CUPTI {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::string why_not_counted(int code, std::string_view name, std::string_view call) {
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return std::string(kCountersRestricted);
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return fmt::format(
          "another profiler uses the hardware counters ({}): end Nsight Compute or "
          "Nsight Systems, or pause DCGM with `dcgmi profiling --pause`",
          name);
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return fmt::format(
          "hardware counters are not available in the mode of this device ({}): use a full GPU "
          "without virtualization",
          name);
    default:
      return fmt::format("CUPTI cannot read counters: {} ({}) from {}", name, code, call);
  }
}

struct CounterPlan::Host {
  std::shared_ptr<const CuptiApi> api;
  CUpti_Profiler_Host_Object* object = nullptr;
};

void CounterPlan::DeleteHost::operator()(Host* host) const {
  auto ending = TUNER_CUPTI_PARAMETERS(Profiler_Host_Deinitialize);
  ending.pHostObject = host->object;
  static_cast<void>(host->api->host_deinitialize(&ending));
  delete host;
}

Expected<CounterPlan, std::string> CounterPlan::make(const std::shared_ptr<const CuptiApi>& api,
                                                     const std::string& chip,
                                                     std::span<const std::uint8_t> availability,
                                                     std::vector<const char*> metrics) {
  auto beginning = TUNER_CUPTI_PARAMETERS(Profiler_Host_Initialize);
  beginning.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  beginning.pChipName = chip.c_str();
  beginning.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  const auto unknown = [&chip](std::string_view what) {
    return Unexpected(
        fmt::format("CUPTI does not know {} {}; that of a newer CUDA Toolkit may", what, chip));
  };
  if (api->host_initialize(&beginning) != CUPTI_SUCCESS) return unknown("the chip");
  CounterPlan plan;
  plan.host_.reset(new Host{.api = api, .object = beginning.pHostObject});
  plan.metrics_ = std::move(metrics);

  auto adding = TUNER_CUPTI_PARAMETERS(Profiler_Host_ConfigAddMetrics);
  adding.pHostObject = plan.host_->object;
  adding.ppMetricNames = plan.metrics_.data();
  adding.numMetrics = plan.metrics_.size();
  if (api->add_metrics(&adding) != CUPTI_SUCCESS) return unknown("all counters of the chip");

  if (auto done = plan.schedule(); !done) return Unexpected(done.error());
  return plan;
}

Expected<void, std::string> CounterPlan::schedule() {
  const CuptiApi& api = *host_->api;
  auto sizing = TUNER_CUPTI_PARAMETERS(Profiler_Host_GetConfigImageSize);
  sizing.pHostObject = host_->object;
  auto done = counting(api, api.config_image_size(&sizing), "cuptiProfilerHostGetConfigImageSize");
  if (!done) return done;
  config_image_.resize(sizing.configImageSize);
  auto getting = TUNER_CUPTI_PARAMETERS(Profiler_Host_GetConfigImage);
  getting.pHostObject = host_->object;
  getting.configImageSize = config_image_.size();
  getting.pConfigImage = config_image_.data();
  done = counting(api, api.config_image(&getting), "cuptiProfilerHostGetConfigImage");
  if (!done) return done;
  auto passing = TUNER_CUPTI_PARAMETERS(Profiler_Host_GetNumOfPasses);
  passing.configImageSize = config_image_.size();
  passing.pConfigImage = config_image_.data();
  done = counting(api, api.passes(&passing), "cuptiProfilerHostGetNumOfPasses");
  if (!done) return done;
  passes_ = passing.numOfPasses;
  return {};
}

Expected<std::vector<double>, std::string> CounterPlan::values(
    std::span<const std::uint8_t> counter_data) {
  std::vector<double> found(metrics_.size());
  auto evaluating = TUNER_CUPTI_PARAMETERS(Profiler_Host_EvaluateToGpuValues);
  evaluating.pHostObject = host_->object;
  evaluating.pCounterDataImage = counter_data.data();
  evaluating.counterDataImageSize = counter_data.size();
  evaluating.rangeIndex = 0;
  evaluating.ppMetricNames = metrics_.data();
  evaluating.numMetrics = metrics_.size();
  evaluating.pMetricValues = found.data();
  auto done = counting(*host_->api, host_->api->evaluate(&evaluating),
                       "cuptiProfilerHostEvaluateToGpuValues");
  if (!done) return Unexpected(done.error());
  return found;
}

std::vector<const char*> counter_metrics() {
  std::vector<const char*> metrics;
  for (const counters::CounterField& field : counters::counter_fields()) {
    metrics.push_back(field.metric);
  }
  return metrics;
}

Expected<counters::CounterReading, Failure> CounterReader::count(const Enqueue& work,
                                                                 const Enqueue& prepare) {
  std::shared_ptr<const CuptiApi> api;
  try {
    api = open_cupti();
  } catch (const Error& error) {
    return problem(error.what());
  }
  // What the first run has to load is loaded before anything is counted.
  for (const Enqueue& first : {prepare, work}) {
    auto done = first();
    if (done) done = finish(stream_);
    if (!done) return Unexpected(done.error());
  }
  CUcontext context = current_context();
  auto plan = plan_of_device(api, device_, context);
  if (!plan) return problem(plan.error());
  auto profiler = RangeProfiler::enable(*api, context);
  if (!profiler) return problem(profiler.error());
  if (auto configured = profiler->configure(*plan); !configured) {
    return problem(configured.error());
  }
  const auto passed = make_passes(*profiler, work, prepare, stream_, plan->passes());
  if (!passed) return Unexpected(passed.error());
  if (!*passed) return problem(passed->error());
  const auto data = profiler->decode();
  if (!data) return problem(data.error());
  const auto values = plan->values(*data);
  if (!values) return problem(values.error());
  return reading_of(*values);
}

}  // namespace tuner::backend
