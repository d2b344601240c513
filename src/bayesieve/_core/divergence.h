// What a count F says against its expectation e, without cancellation:
//
//   divergence(F, e) = F log(F / e) - F + e = e phi((F - e) / e),   phi(x) = (1 + x) log(1 + x) - x.
//
// It is never negative, and a gain h_i(p) = sum_c F_ci log(F_ci / (p_c G_i)) is the sum of
// divergence(F_ci, p_c G_i) over the classes: the terms - F + e add up to nothing. The sum errs
// by kRounding units in the last place of itself and of sum_c |F - e|, the rounding of F and e
// included, however large the counts are. Shares p that miss one in sum by s give a bound from
// above, by G_i s^2 / 2 at most: nothing at the accuracy of shares.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace bayesieve {

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2.0;
constexpr double kRounding = 16.0;

inline double divergence(double count, double expected) {
    if (!(expected > 0.0)) return 0.0;  // a class that nobody has: its counts are zero
    if (!(count > 0.0)) return expected;
    const double away = count - expected;
    if (std::fabs(away) < 0.25 * expected) {
        // With y = x / (2 + x), log(1 + x) = 2 (y + y^3/3 + ...), hence
        // phi(x) = 2 / (1 - y) (y^2 + (1 + y) (y^3/3 + y^5/5 + ...)); |y| <= 1/7.
        const double y = away / (count + expected), z = y * y;
        double series = 1.0 / 21.0;
        for (int odd = 19; odd >= 3; odd -= 2) series = series * z + 1.0 / odd;
        return expected * (2.0 / (1.0 - y)) * (z * (1.0 + (1.0 + y) * (y * series)));
    }
    return count * std::log(count / expected) - away;
}

// A gain as it is added up over the classes, and by how much rounding may have moved it.
struct Divergence {
    double sum = 0.0, away = 0.0;

    void add(double count, double expected) {
        sum += divergence(count, expected);
        away += std::fabs(count - expected);
    }
    // `total` is G_i: rounding enters a second time where shares miss one in sum.
    double doubt(double total, double classes) const {
        const double second = 4.0 * classes * kUnit;
        return (kRounding + classes) * kUnit * (sum + away) + second * second * total;
    }
};

}  // namespace bayesieve
