// Elementary code lengths of MODL, in nats: the twin of tests/oracle/code_lengths.py and weights/_integer_codes.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bayesieve {

constexpr double kLn2 = 0.693147180559945309417232121458;

// ln Gamma without the global sign that makes the C function unsafe among threads.
inline double log_gamma(double x) {
#if defined(__GLIBC__) || defined(__APPLE__)
    int sign;
    return ::lgamma_r(x, &sign);
#else
    return std::lgamma(x);
#endif
}

// lf(n) = ln n!: a table for small whole numbers, made once, and Stirling's series beyond, where
// four terms are exact to the last bits. Row weights need not be whole: those go by ln Gamma.
class LogFactorials {
  public:
    static const LogFactorials& shared() {
        static const LogFactorials table;
        return table;
    }
    double operator()(double n) const {
        if (n >= kTabled) return stirling(n);
        const auto whole = static_cast<std::size_t>(n);
        return static_cast<double>(whole) == n ? table_[whole] : log_gamma(n + 1.0);
    }
    // Counts known to be whole need no test.
    double operator()(std::int32_t n) const {
        return n < kTabled ? table_[static_cast<std::size_t>(n)] : stirling(n);
    }

  private:
    static constexpr std::int32_t kTabled = 1 << 16;  // 512 kB: the second cache holds it
    LogFactorials() : table_(kTabled) {
        long double sum = 0.0L;
        for (std::size_t n = 1; n < table_.size(); ++n) {
            sum += std::log(static_cast<double>(n));
            table_[n] = static_cast<double>(sum);
        }
    }
    static double stirling(double n) {
        constexpr double kHalfLogTwoPi = 0.918938533204672741780329736406;
        const double inverse = 1.0 / n, square = inverse * inverse;
        return (n + 0.5) * std::log(n) - n + kHalfLogTwoPi +
               inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0));
    }
    std::vector<double> table_;
};

// log2*(n) = log2 n + log2 log2 n + ..., the positive terms.
inline double log2_star(double n) {
    double total = 0.0, term = std::log2(n);
    while (term > 0.0) {
        total += term;
        term = std::log2(term);
    }
    return total;
}

inline double iterated_log2(double x, int times) {
    for (int i = 0; i < times; ++i) x = std::log2(x);
    return x;
}

// C0(M): sum of 2^(-log2*(i)) for i = 1..M, by an integral beyond 2000.
inline double integers_up_to(double largest) {
    constexpr std::size_t kExact = 2000;
    static const std::array<double, kExact + 1> sums = [] {
        std::array<double, kExact + 1> s{};
        for (std::size_t i = 1; i <= kExact; ++i)
            s[i] = s[i - 1] + std::exp2(-log2_star(static_cast<double>(i)));
        return s;
    }();
    if (largest <= static_cast<double>(kExact)) return sums[static_cast<std::size_t>(largest)];
    const double end = largest + 0.5;  // the midpoint rule: without the halves 1e-5 is missing
    double total = sums[kExact] + std::pow(kLn2, 4) * (iterated_log2(std::min(end, 65536.0), 4) -
                                                       iterated_log2(kExact + 0.5, 4));
    if (end > 65536.0) total += std::pow(kLn2, 5) * iterated_log2(end, 5);
    return total;
}

// U(n; M): universal code of an integer in 1..M.
inline double integer_code(double n, double largest) {
    return log2_star(n) * kLn2 + std::log(integers_up_to(largest));
}

// sum_{m <= last} (-1)^m / m!
inline double alternating_sum(std::size_t last) {
    static const std::array<double, 21> sums = [] {
        std::array<double, 21> s{};
        double term = 1.0;
        s[0] = 1.0;
        for (std::size_t m = 1; m < s.size(); ++m) {
            term /= -static_cast<double>(m);
            s[m] = m == 1 ? 0.0 : s[m - 1] + term;
        }
        return s;
    }();
    return sums[std::min<std::size_t>(last, sums.size() - 1)];
}

// ln B(V, G): partitions of V items into at most G groups, by Dobinski's finite sum. Its terms
// i^V / i! rise to one peak and fall, so summing outwards from it ends early.
inline double log_partition_count(std::size_t items, std::size_t groups) {
    groups = std::min(groups, items);
    if (groups <= 1) return 0.0;
    const double V = static_cast<double>(items);
    auto bare = [&](std::size_t i) {
        return V * std::log(static_cast<double>(i)) - log_gamma(static_cast<double>(i) + 1.0);
    };
    std::size_t low = 1, high = groups;  // the peak: the last i with bare(i) >= bare(i - 1)
    while (low < high) {
        const std::size_t middle = low + (high - low + 1) / 2;
        if (bare(middle) >= bare(middle - 1)) low = middle;
        else high = middle - 1;
    }
    const double top = bare(low);
    double sum = 0.0;
    for (std::size_t i = low; i <= groups; ++i) {
        const double term = std::exp(bare(i) - top);
        sum += term * alternating_sum(groups - i);
        if (term < 1e-19 && i + 2 < groups) {
            // The two last terms have inner sums of 0 and 1; smaller still, so leave.
            break;
        }
    }
    for (std::size_t i = low; i-- > 1;) {
        const double term = std::exp(bare(i) - top);
        sum += term * alternating_sum(groups - i);
        if (term < 1e-19) break;
    }
    return top + std::log(sum);
}

}  // namespace bayesieve
