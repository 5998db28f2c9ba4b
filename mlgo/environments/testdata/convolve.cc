// Loops over several arrays and small functions worth inlining, or not.

namespace {

int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

int weigh(const int *row, int at, int width, const int *kernel) {
  int sum = 0;
  for (int offset = -2; offset <= 2; ++offset) sum += row[clamp(at + offset, 0, width - 1)] * kernel[offset + 2];
  return sum;
}

}  // namespace

void convolve(const int *input, int *output, int width, int height, const int *kernel, const int *bias, int scale) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int sum = bias[y];
      for (int line = -1; line <= 1; ++line)
        sum += weigh(input + clamp(y + line, 0, height - 1) * width, x, width, kernel) * (line ? scale : bias[x]);
      output[y * width + x] = clamp(sum / (scale + 1), -32768, 32767) + weigh(input, x, width, bias);
    }
}

int largest(const int *values, int count) {
  int best = values[0];
  for (int index = 1; index < count; ++index) best = clamp(values[index], best, 1 << 30);
  return best;
}
