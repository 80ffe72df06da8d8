// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/element_type.hpp"

namespace tuner::family {

using tuner::accumulator;
using tuner::bits;
using tuner::bits_of;
using tuner::bytes_of;
using tuner::element_bytes;
using tuner::element_type_from_name;
using tuner::elements_in;
using tuner::ElementType;
using tuner::ElementTypeRow;
using tuner::error_type;
using tuner::FloatFormat;
using tuner::integer_range;
using tuner::IntegerRange;
using tuner::is_floating;
using tuner::is_scalar_type;
using tuner::kElementTypes;
using tuner::largest_exact_integer;
using tuner::largest_number;
using tuner::make_real_scalar;
using tuner::make_scalar;
using tuner::moved_bits;
using tuner::name;
using tuner::number_of;
using tuner::NumberKind;
using tuner::row;
using tuner::Scalar;
using tuner::smallest_number;
using tuner::unit_roundoff;

}  // namespace tuner::family
