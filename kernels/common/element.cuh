// SPDX-License-Identifier: Apache-2.0
// Element types of kernels. Elements of fewer bits are converted before they are multiplied, and
// results are rounded once. Include a type's header before using its name.
#pragma once

template <class T>
struct SumOf {
  using type = float;
};
template <>
struct SumOf<double> {
  using type = double;
};
template <>
struct SumOf<signed char> {
  using type = int;
};
/// The type in which products of elements are summed, and of the factors alpha and beta.
template <class T>
using Sum = typename SumOf<T>::type;
