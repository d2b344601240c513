// Exponentials and sums of logarithms for the weighted classifier.
//
// The profile of the criterion is one exponential per row and class and one logarithm per row.
// The exponential is a polynomial that compilers vectorise; logarithms are taken of products of
// many rows at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bayesieve {

// exp(x) for x <= 0, within 1e-15 relative; below -708 the value of -708 (3e-308). No branch
// and no table, so a loop over it vectorises.
inline double exp_nonpositive(double x) {
    constexpr double kLog2e = 1.4426950408889634074;
    constexpr double kHigh = 6.93147180369123816490e-01;  // ln 2, the last bits zero
    constexpr double kLow = 1.90821492927058770002e-10;
    constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: rounds to an integer
    // max(x, -708) without a comparison, which would keep the loop from being vectorised:
    // what is added is exactly 0 above the limit.
    const double above = x + 708.0;
    x += 0.5 * (std::fabs(above) - above);
    const double shifted = x * kLog2e + kShift;
    std::int64_t exponent;
    std::memcpy(&exponent, &shifted, sizeof exponent);
    const double n = shifted - kShift;
    const double r = (x - n * kHigh) - n * kLow;
    // Taylor to degree 12: the first term left out is below 2e-16 for |r| <= ln(2)/2.
    double p = 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const std::uint64_t bits = (static_cast<std::uint64_t>(exponent) + 1023u) << 52;
    double scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

// Where the loader can choose at run time, the loop is also compiled for wider registers. Each
// element goes through the same operations, none of them fused, so the results are the same.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define BAYESIEVE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define BAYESIEVE_WIDE
#endif

BAYESIEVE_WIDE static void exp_in_place(double* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values[i] = exp_nonpositive(values[i]);
}

// Sum of logarithms of factors between 1e-100 and 1e100: one logarithm per many factors.
class LogProduct {
public:
    void multiply(double factor) {
        product_ *= factor;
        if (product_ > 1e200 || product_ < 1e-200) flush();
    }
    double log() {
        flush();
        return sum_;
    }

private:
    void flush() {
        sum_ += std::log(product_);
        product_ = 1.0;
    }
    double product_ = 1.0, sum_ = 0.0;
};

}  // namespace bayesieve
