// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an application may call of the shared library; all else in it is hidden.
#define TUNER_API __attribute__((visibility("default")))
