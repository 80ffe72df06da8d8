// SPDX-License-Identifier: Apache-2.0
// Ways to have a compiler read a file that is not the kernel's.
#pragma once

#include <array>

namespace tuner::testing_support {

/// Each is a whole source, to which a kernel may be added; /etc/hostname is there on every machine.
inline constexpr std::array kHostileSources = {
    "#include \"/etc/hostname\"\n",
    "#include </etc/hostname>\n",
    "#include \"../../../../../../../../etc/hostname\"\n",
    "#include <sys/../../../../../../etc/hostname>\n",
    "  #\tinclude\"/etc/hostname\"\n",
    "\xef\xbb\xbf#include \"/etc/hostname\"\n",
    "\f#\vinclude \"/etc/hostname\"\n",
    "%:include \"/etc/hostname\"\n",
    "#incl\\\nude \"/etc/hostname\"\n",
    "\\\n#\\\n\\\ninclude\\\n \"/etc\\\n/hostname\"\n",
    "#incl\\ \t\nude \"/etc/hostname\"\n",
    "/* */ # /* */ include /* */ \"/etc/hostname\"\n",
    "/*\n*/ #include \"/etc/hostname\"\n",
    "/*\n*\\\n/ #include \"/etc/hostname\"\n",
    "# /*\n*/ include \"/etc/hostname\"\n",
    "#include /*\n*/ \"/etc/hostname\"\n",
    "//\r\n#include \"/etc/hostname\"\n",
    "// \"\n#include \"/etc/hostname\"\n//\"\n",
    "#define H \"/etc/hostname\"\n#include H\n",
    "#define L <\n#include L/etc/hostname>\n",
    "#define S(x) #x\n#include S(/etc/hostname)\n",
    "#include_next \"/etc/hostname\"\n",
    "#include_next <hostname>\n",
    "#import \"/etc/hostname\"\n",
    "const char text[] = {\n#embed \"/etc/hostname\"\n};\n",
    "#if __has_include(\"/etc/hostname\")\n#error found\n#endif\n",
    "#define H \"/etc/hostname\"\n#if __has_include(H)\n#error found\n#endif\n",
    "#if __has_include_next(<../hostname>)\n#error found\n#endif\n",
};

}  // namespace tuner::testing_support
