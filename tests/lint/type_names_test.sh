#!/usr/bin/env bash
# The check of type names must find two types of one name, and no others.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tuner/a" "$work/tuner/b" "$work/tests/a"
echo 'namespace tuner { struct Point { int x; }; struct Line; namespace { struct Own { int x; }; } }' >"$work/tuner/a/a.hpp"
cat >"$work/tuner/b/b.cpp" <<'END'
namespace tuner {
struct Line { char name; };
namespace { struct Own { double x; }; }
namespace other { class Point { int y; }; }
struct Line line() { struct Point { int y; } here; return {}; }
template <class T> struct Box { struct Point { T x; }; };
}  // namespace tuner
END
"$root/scripts/check_type_names.py" "$work"
echo 'namespace tuner { template <class T> class Box final : public T {}; }' >"$work/tests/a/box.hpp"
if output=$("$root/scripts/check_type_names.py" "$work"); then
  echo "a second definition was not found" >&2
  exit 1
fi
[ "$output" = "tuner::Box is defined in tests/a/box.hpp, tuner/b/b.cpp: rename one, or put it into an unnamed namespace" ]
