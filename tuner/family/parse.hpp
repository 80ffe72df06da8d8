// SPDX-License-Identifier: Apache-2.0
// The parts of reading a space file. All throw Error(usage) on the first mistake.
#pragma once

#include "tuner/family/document.hpp"
#include "tuner/family/family.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tuner::family {

/// Gives a kernel's source: from the family as far as it is read, the kernel's name and its key
/// `source`.
using SourceProvider = std::function<source::KernelSource(
    const Family& family, const std::string& kernel, const DocumentNode& source)>;

/// An expression of the dimensions alone; fails when it asks for an attribute of the device.
[[nodiscard]] space::Expression family_expression(const DocumentNode& node,
                                                  const space::Scope& scope);

/// The type of a buffer's elements: "float*".
[[nodiscard]] TypeOf parse_buffer_type(const DocumentNode& node, const space::Dimensions& dims);
[[nodiscard]] TypeOf parse_floating_type(const DocumentNode& node, const space::Dimensions& dims);

/// A non-empty list of problem sizes.
[[nodiscard]] std::vector<space::Size> parse_sizes(const DocumentNode& node,
                                                   const space::Dimensions& dims);

/// A list of sizes to check at; their expressions may use what `scope` has.
[[nodiscard]] std::vector<CheckSize> parse_check_sizes(const DocumentNode& node,
                                                       const space::Dimensions& dims,
                                                       const space::Scope& scope);

/// A number by value: its type, and its value, a number with a fraction or what `expression` makes
/// of it.
[[nodiscard]] ScalarArgument parse_scalar(
    const DocumentNode& node, const space::Dimensions& dims,
    const std::function<space::Expression(const DocumentNode&)>& expression);

[[nodiscard]] Problem parse_problem(const DocumentNode& node);
[[nodiscard]] std::vector<Argument> parse_arguments(const DocumentNode& node,
                                                    const Problem& problem);
/// The orders and valid counts of outputs; `nodes` are those of the arguments.
void parse_orders(const std::vector<DocumentNode>& nodes, const space::Scope& scope,
                  std::vector<Argument>& arguments);
[[nodiscard]] Tolerance parse_tolerance(const DocumentNode& node);
[[nodiscard]] Check parse_check(const DocumentNode& node, const Problem& problem,
                                const std::vector<Argument>& arguments);
/// What Kernel::steps is to be; the kernel has its space, scratch buffers and tensor maps already.
[[nodiscard]] std::vector<KernelStep> parse_steps(const DocumentNode& node, const Family& family,
                                                  const Kernel& kernel);
/// Whether a step has a list of what it takes, and the argument of this place is in it.
[[nodiscard]] bool lists(const KernelStep& step, std::size_t place);
/// What of it depends on no argument: parameters, constraints, options and the like.
[[nodiscard]] Kernel parse_kernel_space(const DocumentNode& node, const std::string& name,
                                        const Family& family);
/// Fails as parse_steps for what of the launch of a kernel of one step depends on no argument.
void check_launch(const DocumentNode& node, const space::SpaceDefinition& space);
/// Without its source and its hash; without steps where it has no launch.
[[nodiscard]] Kernel parse_kernel(const DocumentNode& node, const std::string& name,
                                  const Family& family);

/// What Kernel::hash is, from the kernel's other members and the family's problem and arguments.
[[nodiscard]] std::string kernel_hash(const Kernel& kernel, const Family& family);

}  // namespace tuner::family
