// Minimum of g'd + d'Hd / 2 over a box, H positive semidefinite and a few hundred wide.
//
// Sweeps of coordinate descent find which bounds hold; then the free coordinates are solved
// together by a Cholesky factor, as far as the box allows. The two alternate until the
// largest projected gradient is below tol.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "runtime.h"

namespace bayesieve {

class BoxQP {
public:
    BoxQP(const double* H, const double* g, const double* low, const double* high,
          std::size_t size)
        : H_(H), low_(low), high_(high), size_(size), d_(size), gradient_(g, g + size) {
        // Start from the point of the box nearest to zero.
        for (std::size_t i = 0; i < size; ++i)
            shift(i, std::min(std::max(0.0, low[i]), high[i]));
    }

    const std::vector<double>& solve(double tol, int rounds) {
        for (int round = 0; round < rounds; ++round) {
            for (int sweep = 0; sweep < 4; ++sweep)
                for (std::size_t i = 0; i < size_; ++i) {
                    pace_.spend(size_);
                    improve(i);
                }
            if (violation() <= tol) break;
            solve_free();
            if (violation() <= tol) break;
        }
        return d_;
    }

private:
    void shift(std::size_t i, double step) {
        if (step == 0.0) return;
        d_[i] += step;
        const double* row = H_ + i * size_;
        for (std::size_t j = 0; j < size_; ++j) gradient_[j] += step * row[j];
    }

    void improve(std::size_t i) {
        const double h = H_[i * size_ + i], g = gradient_[i];
        double target = d_[i];
        if (h > 0.0)
            target = d_[i] - g / h;
        else if (g != 0.0)
            target = g > 0.0 ? low_[i] : high_[i];
        target = std::min(std::max(target, low_[i]), high_[i]);
        const double step = target - d_[i];
        shift(i, step);
        if (step != 0.0) d_[i] = target;  // exactly the bound
    }

    bool is_free(std::size_t i) const {
        return !(d_[i] <= low_[i] && gradient_[i] >= 0.0) &&
               !(d_[i] >= high_[i] && gradient_[i] <= 0.0);
    }

    double violation() const {
        double worst = 0.0;
        for (std::size_t i = 0; i < size_; ++i)
            if (is_free(i)) worst = std::max(worst, std::fabs(gradient_[i]));
        return worst;
    }

    // Newton step on the free coordinates, shortened to stay inside the box.
    void solve_free() {
        std::vector<std::size_t> free;
        for (std::size_t i = 0; i < size_; ++i)
            if (is_free(i) && d_[i] > low_[i] && d_[i] < high_[i]) free.push_back(i);
        const std::size_t n = free.size();
        if (n == 0) return;
        std::vector<double> L(n * n), x(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                pace_.spend(1 + j);
                double sum = H_[free[i] * size_ + free[j]];
                const double *a = &L[i * n], *b = &L[j * n];
                for (std::size_t m = 0; m < j; ++m) sum -= a[m] * b[m];
                if (i != j) {
                    L[i * n + j] = sum / L[j * n + j];
                } else {
                    // Redundant variables: a pivot lost to rounding is held at a small share.
                    const double least = 1e-13 * H_[free[i] * size_ + free[i]] + 1e-300;
                    L[i * n + i] = std::sqrt(std::max(sum, least));
                }
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            double sum = -gradient_[free[i]];
            for (std::size_t m = 0; m < i; ++m) sum -= L[i * n + m] * x[m];
            x[i] = sum / L[i * n + i];
        }
        for (std::size_t i = n; i-- > 0;) {
            double sum = x[i];
            for (std::size_t m = i + 1; m < n; ++m) sum -= L[m * n + i] * x[m];
            x[i] = sum / L[i * n + i];
        }
        double share = 1.0;
        std::size_t blocking = n;
        for (std::size_t i = 0; i < n; ++i) {
            const double bound = x[i] > 0.0 ? high_[free[i]] : low_[free[i]];
            if (x[i] != 0.0 && (bound - d_[free[i]]) / x[i] < share) {
                share = (bound - d_[free[i]]) / x[i];
                blocking = i;
            }
        }
        // The model must fall along x: rounding in a singular H can point anywhere.
        double slope = 0.0, curve = 0.0;
        std::vector<double> Hx(size_, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            slope += gradient_[free[i]] * x[i];
            const double* row = H_ + free[i] * size_;
            for (std::size_t j = 0; j < size_; ++j) Hx[j] += x[i] * row[j];
        }
        for (std::size_t i = 0; i < n; ++i) curve += x[i] * Hx[free[i]];
        if (!(slope < 0.0) || !(slope * share + 0.5 * curve * share * share < 0.0)) return;
        for (std::size_t i = 0; i < n; ++i) d_[free[i]] += share * x[i];
        for (std::size_t j = 0; j < size_; ++j) gradient_[j] += share * Hx[j];
        if (blocking < n)
            d_[free[blocking]] = x[blocking] > 0.0 ? high_[free[blocking]] : low_[free[blocking]];
        for (std::size_t i = 0; i < n; ++i)
            d_[free[i]] = std::min(std::max(d_[free[i]], low_[free[i]]), high_[free[i]]);
    }

    const double *H_, *low_, *high_;
    std::size_t size_;
    std::vector<double> d_, gradient_;
    Pace pace_;
};

}  // namespace bayesieve
