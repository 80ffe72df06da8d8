// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/dispatch/opening.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/dispatch/engine.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/store/database_state.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tuner {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Opening = std::function<std::unique_ptr<dispatch::Engine>()>;

constexpr int kRounds = 15;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Sizes that nobody tuned, each once.
class Sizes {
 public:
  std::string next() {
    for (;;) {
      const std::string size = fmt::format("{},{},{}", extent(), extent(), extent());
      if (used_.insert(size).second) return size;
    }
  }

 private:
  int extent() { return 4 * std::uniform_int_distribution(4, 1024)(random_); }

  std::mt19937 random_{7};
  std::set<std::string> used_;
};

/// As if the configurations of the published table had won at other sizes on a device.
std::vector<store::StoredBest> bests(const select::Catalogue& published,
                                     const space::DeviceInfo& device, int entries) {
  Sizes sizes;
  std::vector<std::shared_ptr<const store::Subject>> subjects;
  for (const select::CatalogueKernel& kernel : published.kernels) {
    subjects.push_back(std::make_shared<const store::Subject>(store::Subject{
        .device = device, .environment = published.environment, .kernel = *kernel.record}));
  }
  std::vector<store::StoredBest> all;
  for (int i = 0; i < entries; ++i) {
    const auto& kernels = published.kernels;
    const select::CatalogueKernel& kernel = kernels[static_cast<std::size_t>(i) % kernels.size()];
    const select::Entry& entry =
        kernel.entries[static_cast<std::size_t>(i) % kernel.entries.size()];
    store::StoredBest best{.subject = subjects[static_cast<std::size_t>(i) % subjects.size()],
                           .best = entry.best};
    best.best.problem = sizes.next();
    best.best.config_json =
        kernel.configs[static_cast<std::size_t>(i) % kernel.configs.size()].json;
    best.best.time.q1_ns = best.best.time.q3_ns = best.best.time.min_ns = best.best.time.median_ns;
    best.best.time.samples = 30;
    best.best.run_uuid = fmt::format("{} {}", device.name, i % 50);
    all.push_back(std::move(best));
  }
  return all;
}

/// Entries of this device, and half as many of another one.
void fill(const fs::path& database, const space::DeviceInfo& device, int entries) {
  const fs::path file = TUNER_SOURCE_DIR "/db/seed/nvidia-h200.json";
  select::Catalogue published =
      select::parse_catalogue(read_file(file, std::size_t{1} << 26), file.string());
  std::erase_if(published.kernels, [](const select::CatalogueKernel& it) {
    return it.record->family != "gemm";  // of which the sizes have three dimensions
  });
  space::DeviceInfo other = device;
  other.name = "another";
  store::Store store(database, store::Store::Mode::read_write);
  store.import_bests(bests(published, other, entries / 2), "a benchmark");
  store.import_bests(bests(published, device, entries), "a benchmark");
}

/// Of the calling thread: a busy machine takes longer, but does not more.
double processor_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

std::string spread(std::vector<double> values) {
  std::ranges::sort(values);
  return fmt::format("{:.2f} ms ({:.2f} to {:.2f})", values[values.size() / 2], values.front(),
                     values.back());
}

/// Opens again and again; `before` each time, untimed.
void print(const std::string& what, const std::function<void()>& before, const Opening& open) {
  std::vector<double> openings, processor, questions;
  for (int i = 0; i < kRounds; ++i) {
    before();
    const auto begin = Clock::now();
    const double used = processor_ms();
    const auto engine = open();
    processor.push_back(processor_ms() - used);
    openings.push_back(ms_since(begin));
    const auto asked = processor_ms();
    static_cast<void>(engine->answer(engine->family("gemm"), Size{1000, 1000, 1000}));
    questions.push_back(processor_ms() - asked);
  }
  fmt::print("{}: {}, of the processor {}; its first question {}\n", what, spread(openings),
             spread(processor), spread(questions));
}

void wait_until_at_rest(const fs::path& database) {
  while (!store::database_state(database)) std::this_thread::yield();
}

}  // namespace

void print_code(const std::function<std::unique_ptr<backend::Executor>()>& executor,
                const fs::path& table) {
  const std::string text = read_file(table, std::size_t{1} << 28);
  const auto code = select::outline_catalogue(text, table.string()).code;
  if (!code) throw Error(ErrorCode::usage, table.string() + ": has no compiled code");
  const auto begin = Clock::now();
  const auto keys = code->keys();
  const double index_ms = ms_since(begin);
  std::vector<double> images, sizes;
  for (const select::CodeKey& key : keys) {
    const auto asked = Clock::now();
    const auto kernel = code->find(key);
    images.push_back(ms_since(asked));
    sizes.push_back(static_cast<double>(kernel->value().image.size()) / 1024);
  }
  const std::string without = select::catalogue_json(select::parse_catalogue(text, "table"));
  const auto kib = static_cast<double>(text.size() - without.size()) / 1024;
  std::ranges::sort(sizes);
  fmt::print("{} kernels: {:.0f} KiB each ({:.0f} to {:.0f}), in the table {:.0f}\n", keys.size(),
             sizes[sizes.size() / 2], sizes.front(), sizes.back(),
             kib / static_cast<double>(keys.size()));
  fmt::print("finding what there is: {:.2f} ms, one image: {}\n", index_ms, spread(images));
  TemporaryDirectory folder;
  const auto open = [&](const std::string& name, const std::string& content) {
    const fs::path file = folder.path() / name;
    write_file(file, content);
    print(
        fmt::format("opening it {} code", name), [] {},
        [&] {
          DispatchOptions options;
          options.cache = folder.path() / "binaries";
          return std::make_unique<dispatch::Engine>(
              executor(), Table::file(file), options,
              dispatch::DispatchSettings{.log = dispatch::LogLevel::off});
        });
  };
  for (int i = 0; i < 2; ++i) {
    open("without", without);
    open("with", text);
  }
}

void print_opening(const std::function<std::unique_ptr<backend::Executor>()>& executor,
                   int entries) {
  TemporaryDirectory folder;
  const fs::path database = folder.path() / "tune.db";
  const fs::path cache = folder.path() / "binaries";
  fill(database, executor()->device(), entries);
  wait_until_at_rest(database);
  const auto open = [&](const Table& table) {
    DispatchOptions options;
    options.cache = cache;
    return std::make_unique<dispatch::Engine>(
        executor(), table, options, dispatch::DispatchSettings{.log = dispatch::LogLevel::off});
  };
  const auto from_database = [&] { return open(Table::database(database)); };
  print(
      fmt::format("opening a database of {}, first", entries), [&] { fs::remove_all(cache); },
      from_database);
  print(
      fmt::format("opening a database of {}, again", entries), [] {}, from_database);
  const std::string document = select::catalogue_json(
      select::catalogue(store::Store(database, store::Store::Mode::read_only),
                        {.device = executor()->device().name}));
  write_file(folder.path() / "table.json", document);
  print(
      fmt::format("opening an exported table of {}", entries), [] {},
      [&] { return open(Table::file(folder.path() / "table.json")); });
}

}  // namespace tuner
