// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace tuner::cli {

/// The folder of a ResultsReference while results are made: files by the hash of their inputs, and
/// a manifest, which is written with each file. A process that is killed leaves what it finished.
class ResultsFolder {
 public:
  /// Makes the folder where it is missing. Throws Error(usage) where its manifest is none and
  /// Error(failure) where it cannot be made.
  explicit ResultsFolder(std::filesystem::path folder);

  /// Takes a copy of a file under a key. Throws Error(failure) naming what cannot be written.
  void keep(const std::string& key, const std::filesystem::path& file);
  /// What the folder has under a key is right.
  void confirm(const std::string& key) { settled_.insert(key); }
  /// Ends the work: where a result was replaced, all that was not confirmed is removed, and the
  /// folder gets another identity.
  void finish();

  [[nodiscard]] const std::string& identity() const { return identity_; }
  [[nodiscard]] std::size_t kept() const { return kept_; }          ///< new files
  [[nodiscard]] std::size_t replaced() const { return replaced_; }  ///< of other results
  [[nodiscard]] std::size_t size() const { return files_.size(); }

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;
  void write_manifest() const;

  std::filesystem::path folder_;
  std::string identity_;                      // empty while results are incomplete
  std::map<std::string, std::string> files_;  // hashes of files by key
  std::set<std::string> settled_;             // kept or confirmed
  std::size_t kept_ = 0, replaced_ = 0;
};

}  // namespace tuner::cli
