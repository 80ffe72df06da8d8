// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/process_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace tuner::backend {
namespace {

/// 0 when there is none, or no such process.
int parent_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  // "pid (name) state parent …", where the name may hold anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  int parent = 0;
  fields >> state >> parent;
  return parent;
}

std::filesystem::path program_of(int pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error);
}

/// The topmost process above this one that runs the same program.
int root_of_this_program() {
  int root = ::getpid();
  const auto program = program_of(root);
  for (int above = parent_of(root); above > 0 && program_of(above) == program;
       above = parent_of(root)) {
    root = above;
  }
  return root;
}

bool descends_from(int pid, int root) {
  while (pid > 0 && pid != root) pid = parent_of(pid);
  return pid == root;
}

}  // namespace

std::optional<std::vector<int>> foreign_processes(std::vector<int> pids) {
  if (std::ranges::find(pids, static_cast<int>(::getpid())) == pids.end()) return std::nullopt;
  const int root = root_of_this_program();
  std::erase_if(pids, [root](int pid) { return descends_from(pid, root); });
  return pids;
}

}  // namespace tuner::backend
