// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/dispatcher.hpp"

#include "tuner/backend/executor.hpp"
#include "tuner/capture/capture_folder.hpp"
#include "tuner/dispatch/engine.hpp"
#include "tuner/dispatch/settings.hpp"

#include <exception>

namespace tuner {
namespace {

/// Runs `call`; whatever it throws reaches the application as the one type that it knows.
template <class Call>
auto translated(Call call) {
  try {
    return call();
  } catch (const DispatchError&) {
    throw;
  } catch (const std::exception& exception) {
    throw DispatchError(exception.what());
  }
}

dispatch::Engine& usable(dispatch::Engine* engine) {
  if (engine == nullptr) {
    throw DispatchError("this dispatcher was moved from: use the one that it was moved to");
  }
  if (!engine->is_of_this_process()) {
    throw DispatchError(
        "this dispatcher was opened before the process was forked and belongs to the parent: open "
        "another one after the fork");
  }
  return *engine;
}

}  // namespace

DispatchError::~DispatchError() = default;

Dispatcher::Dispatcher(const Table& table, const DispatchOptions& options)
    : engine_(translated([&] {
        return new dispatch::Engine(backend::open_executor(options.backend, options.device), table,
                                    options, dispatch::dispatch_settings());
      })) {}

Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

/// In a process that was forked since, nothing is closed: what that would wait for, and whose
/// memory it would free, are the other process's.
void dispatch::CloseEngine::operator()(Engine* engine) const noexcept {
  if (engine->is_of_this_process()) delete engine;
}

dispatch::Engine& Dispatcher::engine() {
  return usable(engine_.get());
}

const dispatch::Engine& Dispatcher::engine() const {
  return usable(engine_.get());
}

FamilyId Dispatcher::family(std::string_view name) const {
  return engine().family(name);
}

std::optional<FamilyId> Dispatcher::find_family(std::string_view name) const {
  return engine().find_family(name);
}

std::vector<Preparation> Dispatcher::prepare(FamilyId family, std::span<const space::Size> sizes,
                                             ChooseBy choose_by) {
  return translated([&] { return engine().prepare(family, sizes, choose_by); });
}

space::Size Dispatcher::parse_size(FamilyId family, std::string_view text) const {
  return translated([&] { return engine().parse_size(family, text); });
}

std::vector<ArgumentInfo> Dispatcher::arguments(FamilyId family,
                                                std::span<const std::int64_t> size) const {
  return translated([&] { return engine().arguments(family, size); });
}

Answer Dispatcher::answer(FamilyId family, std::span<const std::int64_t> size) const {
  return translated([&] { return engine().answer(family, size); });
}

std::vector<Served> Dispatcher::served() const {
  return translated([&] { return engine().served(); });
}

void Dispatcher::pin(const std::filesystem::path& file) const {
  translated([&] { engine().pin(file); });
}

void Dispatcher::launch(FamilyId family, std::span<const std::int64_t> size,
                        std::span<const DispatchArgument> arguments, backend::StreamHandle stream) {
  translated([&] { engine().launch(family, size, arguments, stream); });
}

std::filesystem::path Dispatcher::capture_launch(FamilyId family,
                                                 std::span<const std::int64_t> size,
                                                 std::span<const DispatchArgument> arguments,
                                                 const std::filesystem::path& folder,
                                                 std::uint64_t limit_bytes,
                                                 backend::StreamHandle stream) {
  return translated([&] {
    return engine().capture_launch(family, size, arguments, stream, folder,
                                   limit_bytes == 0 ? capture::kDefaultLimitBytes : limit_bytes);
  });
}

void Dispatcher::reload(const Table& table) {
  translated([&] { engine().reload(table); });
}

}  // namespace tuner
