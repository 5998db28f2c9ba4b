// Shapes lines of text with a font and prints the glyphs: hb-shape without its option parser, which needs GLib.
//
//     program FONT latin|arabic

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "hb.h"

namespace {

constexpr int kLines = 200;

std::string Line(bool arabic, int number) {
  static const char* const kLatin[] = {"Office fluffy", "AVATAR Type", "first effort", "naïve café", "Typography"};
  static const char* const kArabic[] = {"السلام", "عليكم", "لله", "مُحَمَّد", "كتابة"};
  const char* const* words = arabic ? kArabic : kLatin;
  std::string line;
  for (int word = 0; word < 12; ++word) {
    line += words[(number + word * word) % 5];
    line += ' ';
  }
  return line + std::to_string(number);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  hb_blob_t* blob = hb_blob_create_from_file_or_fail(argv[1]);
  if (blob == nullptr) return 1;
  hb_face_t* face = hb_face_create(blob, 0);
  hb_font_t* font = hb_font_create(face);
  const bool arabic = std::strcmp(argv[2], "arabic") == 0;
  uint64_t checksum = 0;
  for (int number = 0; number < kLines; ++number) {
    const std::string line = Line(arabic, number);
    hb_buffer_t* buffer = hb_buffer_create();
    hb_buffer_add_utf8(buffer, line.data(), static_cast<int>(line.size()), 0, -1);
    hb_buffer_guess_segment_properties(buffer);
    hb_shape(font, buffer, nullptr, 0);
    unsigned count = 0;
    const hb_glyph_info_t* glyphs = hb_buffer_get_glyph_infos(buffer, &count);
    const hb_glyph_position_t* places = hb_buffer_get_glyph_positions(buffer, &count);
    for (unsigned glyph = 0; glyph < count; ++glyph) {
      checksum = checksum * 31 + glyphs[glyph].codepoint;
      checksum = checksum * 31 + static_cast<uint64_t>(places[glyph].x_advance + places[glyph].y_offset);
      if (number == 0) std::printf("%u+%d ", glyphs[glyph].codepoint, places[glyph].x_advance);
    }
    hb_buffer_destroy(buffer);
  }
  std::printf("\n%llu\n", static_cast<unsigned long long>(checksum));
  hb_font_destroy(font);
  hb_face_destroy(face);
  hb_blob_destroy(blob);
  return 0;
}
