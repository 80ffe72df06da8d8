// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/error.hpp"
#include "tuner/family/family.hpp"
#include "tuner/verify/safetensors.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tuner::verify {

/// That results are missing or cannot be had, whatever is verified: nothing may go on without.
class ResultsError : public Error {
 public:
  using Error::Error;
};

/// Inputs for which a program is asked for the results of the reference. Both files are of
/// docs/reference/reference-results.md.
struct ResultsRequest {
  std::filesystem::path inputs;   ///< a file, written
  std::filesystem::path results;  ///< the file that the program writes
};
/// What the program answers: that it wrote the results, that the reference has none for such
/// inputs, or that it failed.
struct ResultsAnswer {
  enum class Kind { written, refused, failed };
  Kind kind = Kind::written;
  std::string reason;  ///< unless written
};

/// A program that computes results, and who keeps what it computed.
struct ResultsProgram {
  std::filesystem::path exchange;  ///< an existing folder for the files of requests
  std::function<ResultsAnswer(const ResultsRequest&)> ask;
  /// Takes a file for the folder of results, under its key; without a file: what the folder has
  /// under the key was found to be right.
  std::function<void(const std::string& key, const std::filesystem::path& file)> keep;
};

/// The results of a family's ResultsReference, by the content of the inputs: read from its folder,
/// whose files must be those of its manifest, or computed by a program.
class StoredResults {
 public:
  /// What is known for some inputs.
  struct Entry {
    std::string key;
    std::vector<NamedArray> results;  ///< one for each output
    /// How far each result moves with rounding errors of the inputs; none: not measured.
    std::vector<NamedArray> spreads;
    std::string refused;  ///< why the reference has no results for the inputs; empty: it has
  };

  /// From the folder alone. Throws Error(usage) where the manifest is none.
  explicit StoredResults(const family::Family& family);
  /// A program computes them, once more where the folder has them: what differs is replaced.
  StoredResults(const family::Family& family, ResultsProgram program);

  /// The entry of the inputs, which has results. `outputs` are what is expected, without content.
  /// Throws Error(usage) where the reference refuses the inputs, and ResultsError where the folder
  /// has no entry, or the program fails or gives other arrays.
  [[nodiscard]] Entry find(const std::string& key, const Safetensors& inputs,
                           const std::vector<NamedArray>& outputs);
  /// Asks the program for results that are not stored. Where it refuses, the entry of `key` is one
  /// without results from then on, unless the key is empty. Throws as `find`.
  [[nodiscard]] std::vector<NamedArray> compute(const std::string& key, const Safetensors& inputs,
                                                const std::vector<NamedArray>& outputs);
  /// Keeps an entry to which spreads were added.
  void keep(const Entry& entry);

 private:
  [[nodiscard]] std::optional<Entry> stored(const std::string& key,
                                            const std::vector<NamedArray>& outputs) const;
  [[nodiscard]] Entry asked(const std::string& key, const Safetensors& inputs,
                            const std::vector<NamedArray>& outputs);
  [[noreturn]] void fail_without_entry(const Safetensors& inputs) const;

  const family::Family& family_;
  std::filesystem::path folder_;
  std::map<std::string, std::string> files_;  // of the manifest: hashes by key
  std::optional<ResultsProgram> program_;
  std::set<std::string> settled_;  // keys that the program was asked for
};

}  // namespace tuner::verify
