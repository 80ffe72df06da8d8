// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/verify/stored_results.hpp"
#include "tuner/worker/remote_device.hpp"
#include "tuner/worker/worker_process.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace tuner::worker {

struct DeviceStep;
struct ResultsMessage;
struct ResultsReply;

/// How long the process that drives a device may take. A launch that took t before, or the first
/// candidate's at the same size, may take 20·t when that is more than `launch`, up to `longest`.
struct DeviceDeadlines {
  std::chrono::duration<double> longest{3600};  ///< of all: a worker says how long t was
  std::chrono::duration<double> start{60};      ///< to open the device
  std::chrono::duration<double> own_work{600};  ///< the library, a reference, a check
  std::chrono::duration<double> launch{10};
  std::chrono::duration<double> first_launch = 12 * launch;  ///< at a size without any time
};

/// The devices of a backend by their ordinals, at least one, as a child process sees them: this
/// process touches none. Throws Error as list_devices does, and Error(no_device) when the child
/// ends.
[[nodiscard]] std::vector<space::DeviceInfo> list_devices(const WorkerCommand& command);

/// Whether a new DeviceProcess has opened its device. Of several devices the children are started
/// first and waited for then, so that they open at the same time.
enum class Opening { at_once, later };

/// A device driven by a child process. What crashes or hangs there is the outcome of the candidate
/// that ran; the child is replaced by a new one before the next. This process never touches the
/// device.
class DeviceProcess : public RemoteDevice {
 public:
  /// `command` starts a worker that drives a device (serve_device). The family must outlive it.
  /// Unless it is to open later, throws as finish_opening does.
  DeviceProcess(WorkerCommand command, const family::Family& family, std::uint64_t seed,
                DeviceDeadlines deadlines, Opening opening = Opening::at_once);
  /// Waits until the device is open: to be called once, before anything else, where it was to open
  /// later. Throws Error as open_backend does, and Error(no_device) when the worker ends before it
  /// serves.
  void finish_opening();
  ~DeviceProcess() override;

  const space::DeviceInfo& device() const override { return device_; }
  const space::EnvironmentInfo& environment() const override { return environment_; }

  void replace_process() override;
  int respawns() const override { return respawns_; }

  /// Has a program compute all that checks at a size need of the family's ResultsReference; the
  /// process chooses the folder for exchange itself. Throws the Error that the process answers
  /// with, or that the program throws.
  void make_results(const space::Size& size, const verify::ResultsProgram& program);

  /// What it took to open the device; right only before anything else is asked of it.
  [[nodiscard]] StartUp start_up();

 protected:
  Expected<Json, Failure> ask_about_contender(const Json& request,
                                              const space::Size& size) override;
  Expected<Json, Failure> ask_about_candidate(const Json& request,
                                              const space::Size& size) override;
  Json ask_device(const Json& request, const space::Size& size) override;
  backend::Binary sent_binary(const Candidate& candidate) const override {
    return candidate.binary;
  }
  void contender_failed(const Failure& failure) override;
  void candidate_evaluated(const EvaluatedCandidate& result, const space::Size& size) override;
  Failure invalid_answer(const Error& error) override;
  Error refusal(const Error& error) override { return error; }

 private:
  /// The answer to a request, or why there is none.
  struct NoAnswer {
    WorkerLost lost;
    bool candidate_ran = false;  ///< a candidate's kernel had been launched for this request
    std::string size;            ///< of the problem it last worked on
    const family::Kernel* reference = nullptr;  ///< it, where it ran last

    [[nodiscard]] bool reference_hangs() const { return reference != nullptr && lost.late; }
  };
  using Answer = std::variant<Json, NoAnswer>;

  void begin_opening();
  void require_worker();
  /// Starts a worker. Throws Error(no_device) after three attempts.
  void open_again();
  /// Sends a request and waits for its answer through all steps announced. Throws the Error that
  /// the worker answers with.
  [[nodiscard]] Answer ask(const Json& request, const space::Size& size);
  [[nodiscard]] ResultsReply served(const ResultsMessage& message) const;
  [[noreturn]] void fail_without_candidate(const NoAnswer& none) const;
  /// Whether a candidate before may have done the damage that the worker died of.
  [[nodiscard]] bool may_be_of_another(const NoAnswer& none) const;
  [[nodiscard]] Failure failure_of(const NoAnswer& none) const;
  /// The reference kernel, where that is what a step launches; else null.
  [[nodiscard]] const family::Kernel* reference_in(const DeviceStep& step) const;
  [[nodiscard]] std::chrono::duration<double> deadline(const DeviceStep& step,
                                                       const space::Size& size) const;
  void retire();

  WorkerCommand command_;
  const family::Family& family_;
  std::uint64_t seed_;
  DeviceDeadlines deadlines_;
  space::DeviceInfo device_;
  space::EnvironmentInfo environment_;
  std::unique_ptr<WorkerProcess> worker_;   // null after one was lost
  std::map<space::Size, double> launch_s_;  // of the first candidate that ended ok at a size
  bool served_another_ = false;             // the worker ran a candidate before
  int respawns_ = 0;
  const verify::ResultsProgram* results_program_ = nullptr;  // while results are made
};

}  // namespace tuner::worker
