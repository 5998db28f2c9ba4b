// The character tables that re2's makefile generates from Unicode's data, which Debian's source package does not carry: here ASCII's part
// of them, which is all that re2_main.cc asks for. They are data; the code that reads them is re2's.
#include "re2/unicode_casefold.h"
#include "re2/unicode_groups.h"

namespace re2 {
namespace {

const URange16 kDigit[] = {{'0', '9'}};
const URange16 kSpace[] = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
const URange16 kWord[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const URange16 kAlnum[] = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}};
const URange16 kAlpha[] = {{'A', 'Z'}, {'a', 'z'}};
const URange16 kUpper[] = {{'A', 'Z'}};
const URange16 kLower[] = {{'a', 'z'}};

template <int N>
constexpr UGroup Group(const char* name, int sign, const URange16 (&ranges)[N]) {
  return {name, sign, ranges, N, nullptr, 0};
}

}  // namespace

const UGroup perl_groups[] = {
    Group("\\d", +1, kDigit), Group("\\D", -1, kDigit), Group("\\s", +1, kSpace),
    Group("\\S", -1, kSpace), Group("\\w", +1, kWord),  Group("\\W", -1, kWord),
};
const int num_perl_groups = sizeof perl_groups / sizeof perl_groups[0];

const UGroup posix_groups[] = {
    Group("[:alnum:]", +1, kAlnum), Group("[:^alnum:]", -1, kAlnum), Group("[:alpha:]", +1, kAlpha), Group("[:^alpha:]", -1, kAlpha),
    Group("[:digit:]", +1, kDigit), Group("[:^digit:]", -1, kDigit), Group("[:lower:]", +1, kLower), Group("[:^lower:]", -1, kLower),
    Group("[:upper:]", +1, kUpper), Group("[:^upper:]", -1, kUpper), Group("[:word:]", +1, kWord),   Group("[:^word:]", -1, kWord),
};
const int num_posix_groups = sizeof posix_groups / sizeof posix_groups[0];

const UGroup unicode_groups[] = {Group("L", +1, kAlpha), Group("Ll", +1, kLower), Group("Lu", +1, kUpper), Group("Nd", +1, kDigit)};
const int num_unicode_groups = sizeof unicode_groups / sizeof unicode_groups[0];

const CaseFold unicode_casefold[] = {{'A', 'Z', 'a' - 'A'}, {'a', 'z', 'A' - 'a'}};
const int num_unicode_casefold = sizeof unicode_casefold / sizeof unicode_casefold[0];

const CaseFold unicode_tolower[] = {{'A', 'Z', 'a' - 'A'}};
const int num_unicode_tolower = sizeof unicode_tolower / sizeof unicode_tolower[0];

}  // namespace re2
