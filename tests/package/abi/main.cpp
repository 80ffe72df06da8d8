// SPDX-License-Identifier: Apache-2.0
// An application in C++, for compilers and standard libraries that are not the dispatcher's:
//   main TABLE

#include "tuner/dispatch/gemm.hpp"

#include <array>
#include <iostream>
#include <vector>

namespace {

template <class Call>
void print_error(const char* what, Call call) {
  try {
    call();
    std::cout << what << ": no error\n";
  } catch (const tuner::DispatchError& error) {  // as std::exception, which has what()
    std::cout << what << ": " << error.what() << "\n";
  }
}

void launch_saxpy(tuner::Dispatcher& dispatcher) {
  const tuner::FamilyId saxpy = dispatcher.family("saxpy");
  for (const auto& [size, answer, error] : dispatcher.prepare(saxpy, {{{1000}, {1, 2}}})) {
    std::cout << "prepared " << size.front() << ": ";
    if (answer) {
      std::cout << name(answer->rung) << " " << answer->kernel << " " << answer->configuration
                << (answer->explanation.empty() ? "" : ", explained") << "\n";
    } else {
      std::cout << error << "\n";
    }
  }
  for (const tuner::ArgumentInfo& it :
       dispatcher.arguments(saxpy, std::array{std::int64_t{1000}})) {
    std::cout << "argument " << it.name << " " << it.element << " " << it.elements << " "
              << it.is_written << "\n";
  }
  const std::vector<float> x(1000, 3);
  std::vector<float> y(1000, 1);
  const std::array<tuner::DispatchArgument, 3> arguments = {2.0F, x.data(), y.data()};
  dispatcher.launch(saxpy, std::array{std::int64_t{1000}}, arguments);
  std::cout << "y: " << y.front() << " " << y.back() << "\n";
  for (const tuner::Served& it : dispatcher.served()) {
    std::cout << "served: " << it.family << " " << name(it.rung) << " " << it.launches << "\n";
  }
  print_error("too few arguments",
              [&] { dispatcher.launch(saxpy, std::array{std::int64_t{1000}}, {}); });
}

void multiply(tuner::Dispatcher& dispatcher) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4] = {};
  tuner::gemm(dispatcher, nullptr, {.trans_a = tuner::Transpose::yes, .m = 2, .n = 2, .k = 2}, 1, a,
              b, 0, c);
  std::cout << "c: " << c[0] << " " << c[1] << " " << c[2] << " " << c[3] << "\n";
  print_error("lda", [&] {
    tuner::gemm(dispatcher, nullptr, {.m = 2, .n = 2, .k = 2, .lda = 1}, 1, a, b, 0, c);
  });
}

}  // namespace

int main(int, char** argv) {
  print_error("no table",
              [] { tuner::Dispatcher(tuner::Table::file("no such table"), {.backend = "cpu"}); });
  try {
    tuner::Dispatcher opened(tuner::Table::file(argv[1]), {.backend = "cpu"});
    tuner::Dispatcher dispatcher = std::move(opened);
    std::cout << "gemm: " << (dispatcher.find_family("gemm") ? "known" : "unknown") << "\n";
    print_error("family", [&] { static_cast<void>(dispatcher.family("saxpi")); });
    launch_saxpy(dispatcher);
    dispatcher.reload(tuner::Table::none());
    multiply(dispatcher);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
