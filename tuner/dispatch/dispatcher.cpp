// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/dispatcher.hpp"

#include "tuner/backend/executor.hpp"
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

}  // namespace

DispatchError::~DispatchError() = default;

Dispatcher::Dispatcher(const Table& table, const DispatchOptions& options)
    : engine_(translated([&] {
        return std::make_unique<DispatchEngine>(open_executor(options.backend, options.device),
                                                table, options, dispatch_settings());
      })) {}

Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

FamilyId Dispatcher::family(std::string_view name) const {
  return engine_->family(name);
}

std::optional<FamilyId> Dispatcher::find_family(std::string_view name) const {
  return engine_->find_family(name);
}

std::vector<Preparation> Dispatcher::prepare(FamilyId family, std::span<const Size> sizes,
                                             ChooseBy choose_by) {
  return translated([&] { return engine_->prepare(family, sizes, choose_by); });
}

Answer Dispatcher::answer(FamilyId family, std::span<const std::int64_t> size) const {
  return translated([&] { return engine_->answer(family, size); });
}

void Dispatcher::launch(FamilyId family, std::span<const std::int64_t> size,
                        std::span<const DispatchArgument> arguments, StreamHandle stream) {
  translated([&] { engine_->launch(family, size, arguments, stream); });
}

void Dispatcher::reload(const Table& table) {
  translated([&] { engine_->reload(table); });
}

}  // namespace tuner
