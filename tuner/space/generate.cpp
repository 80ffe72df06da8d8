// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/generate.hpp"

#include <utility>

namespace tuner::space {
namespace {

/// Writes the code of a syntax tree and follows how many values it holds on the stack.
class Generator {
 public:
  explicit Generator(const Syntax& syntax) : syntax_(syntax) {}

  std::vector<Instruction> run(std::size_t root) {
    emit_node(root);
    return std::move(code_);
  }

 private:
  const Node& node(std::size_t index) const { return syntax_.nodes[index]; }

  std::size_t emit(Instruction instruction) {
    code_.push_back(instruction);
    depth_ += effect(instruction);
    if (depth_ > kStackDepth) {
      throw ExpressionError{"too many values at once; use derived values for its parts", 0, 1};
    }
    return code_.size() - 1;
  }
  void land(std::size_t jump) { code_[jump].index = static_cast<std::uint32_t>(code_.size()); }

  /// By how much an instruction that does not jump changes the number of values (modulo 2^64).
  static std::size_t effect(const Instruction& instruction) {
    constexpr auto kDrop = static_cast<std::size_t>(-1);
    switch (instruction.operation) {
      case Operation::constant:
      case Operation::load:
      case Operation::tuck:
        return 1;
      case Operation::chain:
      case Operation::member:
      case Operation::jump_unless:
      case Operation::jump_and:
      case Operation::jump_or:
        return kDrop;
      case Operation::miss:
      case Operation::jump:
        return 0;
      default:
        return is_unary(instruction.operation) || instruction.right != OperandSource::stack ? 0
                                                                                            : kDrop;
    }
  }

  void emit_node(std::size_t index) {
    const Node& n = node(index);
    switch (n.kind) {
      case NodeKind::constant:
        emit({.operation = Operation::constant, .value = n.value});
        break;
      case NodeKind::slot:
        emit({.operation = Operation::load, .index = static_cast<std::uint32_t>(n.value)});
        break;
      case NodeKind::unary:
        emit_node(n.operands[0]);
        emit({.operation = n.operation});
        break;
      case NodeKind::binary:
        emit_node(n.operands[0]);
        apply(n.operation, n.operands[1]);
        break;
      case NodeKind::comparison:
        comparison(n);
        break;
      case NodeKind::membership:
        membership(n);
        break;
      case NodeKind::logical_and:
        logical(Operation::jump_and, n);
        break;
      case NodeKind::logical_or:
        logical(Operation::jump_or, n);
        break;
      case NodeKind::conditional:
        conditional(n);
        break;
    }
  }

  void apply(Operation operation, std::size_t right) {
    const Node& n = node(right);
    if (n.kind == NodeKind::constant) {
      emit({.operation = operation, .right = OperandSource::constant, .value = n.value});
    } else if (n.kind == NodeKind::slot) {
      emit({.operation = operation,
            .right = OperandSource::slot,
            .index = static_cast<std::uint32_t>(n.value)});
    } else {
      emit_node(right);
      emit({.operation = operation});
    }
  }

  void comparison(const Node& n) {
    std::vector<std::size_t> exits;
    emit_node(n.operands[0]);
    for (std::size_t i = 0; i + 1 < n.comparisons.size(); ++i) {
      emit_node(n.operands[i + 1]);
      emit({.operation = Operation::tuck});
      emit({.operation = n.comparisons[i]});
      exits.push_back(emit({.operation = Operation::chain}));
    }
    apply(n.comparisons.back(), n.operands.back());
    for (const std::size_t exit : exits) land(exit);
  }

  void membership(const Node& n) {
    std::vector<std::size_t> exits;
    emit_node(n.operands[0]);
    for (std::size_t i = 1; i < n.operands.size(); ++i) {
      emit_node(n.operands[i]);
      exits.push_back(emit({.operation = Operation::member}));
    }
    emit({.operation = Operation::miss});
    for (const std::size_t exit : exits) land(exit);
  }

  void logical(Operation jump, const Node& n) {
    emit_node(n.operands[0]);
    const std::size_t exit = emit({.operation = jump});
    emit_node(n.operands[1]);
    emit({.operation = Operation::truth});
    land(exit);
  }

  void conditional(const Node& n) {
    emit_node(n.operands[0]);
    const std::size_t otherwise = emit({.operation = Operation::jump_unless});
    emit_node(n.operands[1]);
    const std::size_t exit = emit({.operation = Operation::jump});
    land(otherwise);
    --depth_;  // only one of the branches leaves its value
    emit_node(n.operands[2]);
    land(exit);
  }

  const Syntax& syntax_;
  std::vector<Instruction> code_;
  std::size_t depth_ = 0;
};

void split(Syntax& syntax, std::size_t index, std::vector<std::size_t>& parts) {
  const Node node = syntax.nodes[index];  // a copy: nodes are added below
  if (node.kind == NodeKind::logical_and) {
    split(syntax, node.operands[0], parts);
    split(syntax, node.operands[1], parts);
    return;
  }
  if (node.kind != NodeKind::comparison || node.comparisons.size() == 1) {
    parts.push_back(index);
    return;
  }
  for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
    parts.push_back(syntax.nodes.size());
    syntax.nodes.push_back({.kind = NodeKind::comparison,
                            .operands = {node.operands[i], node.operands[i + 1]},
                            .comparisons = {node.comparisons[i]},
                            .column = node.column,
                            .length = node.length});
  }
}

}  // namespace

std::vector<Instruction> generate(const Syntax& syntax, std::size_t root) {
  return Generator(syntax).run(root);
}

std::vector<std::size_t> split_conjunction(Syntax& syntax, std::size_t root) {
  std::vector<std::size_t> parts;
  split(syntax, root, parts);
  if (parts.size() == 1) return parts;
  for (std::size_t& part : parts) {
    const Node& node = syntax.nodes[part];
    // As && sees it: a fraction is true too.
    Node truth{.kind = NodeKind::unary,
               .operation = Operation::truth,
               .operands = {part},
               .column = node.column,
               .length = node.length};
    part = syntax.nodes.size();
    syntax.nodes.push_back(std::move(truth));
  }
  return parts;
}

}  // namespace tuner::space
