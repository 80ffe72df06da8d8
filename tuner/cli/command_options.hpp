// SPDX-License-Identifier: Apache-2.0
// The commands of the program and their options, for the parser of the command line.
#pragma once

#include "tuner/cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tuner::cli {

/// Every command's options, and the one that was asked for.
struct Arguments {
  CommonOptions common;
  TuneOptions tune;
  BenchOptions bench;
  PortfolioOptions portfolio;
  SetupOptions setup;
  JudgeOptions judge;
  ExplainOptions explain;
  QueryOptions query;
  ReportOptions report;
  CompareOptions compare;
  ExportOptions export_;
  ImportOptions import_;
  MergeOptions merge;
  TablesOptions tables;
  MergeTablesOptions merged_tables;
  TableCodeOptions table_code;
  QuarantineOptions quarantine;
  SpaceOptions space;
  ResultsOptions results;
  RunsOptions runs;
  ReplayOptions replay;
  RecordOptions record;
  CaptureOptions capture;
  ExecOptions exec;
  std::string color = "auto";
  bool version = false;
  std::string shell;               ///< of `completion`
  std::vector<std::string> line;   ///< of `completion`
  std::vector<std::string> topic;  ///< of `help`
  std::function<int()> command;
  std::string no_document;  ///< why `command` has none for --json; empty: it has one
};

/// Adds a command: what the command line runs where it names it.
CLI::App* add_command(CLI::App& app, Arguments& arguments, const std::string& name,
                      const std::string& description, std::function<int()> command);

/// Has a command refuse --json: `why` says what it writes in place of a document.
void write_no_document(CLI::App& command, Arguments& arguments, std::string why);

/// Adds the options of `tune` without a command, and every command but those that describe the
/// command line. Both must outlive the parsing.
void add_commands(CLI::App& app, Arguments& arguments);

}  // namespace tuner::cli
