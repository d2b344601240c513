// Terms x_nj * slope_jc of a sparse matrix: gradient, and descent on the second-order model.
//
// The relative score of class c is z_nc = b_c + sum_j w_j (x_nj s_jc + a_jc) for c = 1..J-1, class 0
// being the reference; the offsets a are those of absent features, null where there are none. Columns are those of a CSC matrix; `values` may be null, then every stored
// entry is one. With posteriors p the curvature of a row's negative log-likelihood is
// W_n = r_n (diag(p_n) - p_n p_n'), r_n the weight of the row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.h"

namespace bayesieve {

template <class Value>
struct LinearTerms {
    const std::int64_t* indptr;
    const std::int32_t* rows;
    const Value* values;  // null: all ones
    const double* slope;   // s, (columns, width)
    const double* offset;  // a, (columns, width), or null
    std::size_t width;     // J - 1

    double at(std::int64_t i) const {
        return values == nullptr ? 1.0 : static_cast<double>(values[i]);
    }
};

constexpr std::size_t kLinearBlock = 256;

// out_i = slope_j . (X_j' residual) for the chosen columns j. Offsets are the caller's: their part
// is one product with the sum of the residuals.
template <class Value>
void linear_gradient(const LinearTerms<Value>& terms, const double* residual,
                     const std::int64_t* chosen, std::size_t count, double* out) {
    const std::size_t R = terms.width;
    for_each_block(count, kLinearBlock, [&](std::size_t, std::size_t first, std::size_t last) {
        std::vector<double> sum(R);
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t j = chosen == nullptr ? i : static_cast<std::size_t>(chosen[i]);
            const std::int64_t begin = terms.indptr[j], end = terms.indptr[j + 1];
            const double* s = terms.slope + j * R;
            if (R == 1) {
                double total = 0.0;
                if (terms.values == nullptr)
                    for (std::int64_t e = begin; e < end; ++e) total += residual[terms.rows[e]];
                else
                    for (std::int64_t e = begin; e < end; ++e)
                        total += terms.at(e) * residual[terms.rows[e]];
                out[i] = s[0] * total;
                continue;
            }
            std::fill(sum.begin(), sum.end(), 0.0);
            double* to = sum.data();
            for (std::int64_t e = begin; e < end; ++e) {
                const double x = terms.at(e);
                const double* r = residual + static_cast<std::size_t>(terms.rows[e]) * R;
                for (std::size_t c = 0; c < R; ++c) to[c] += x * r[c];
            }
            double g = 0.0;
            for (std::size_t c = 0; c < R; ++c) g += s[c] * to[c];
            out[i] = g;
        }
    });
}

// out (rows, width) += sum over the chosen columns of weight_i x_nj slope_j; without offsets.
template <class Value>
void linear_add_scores(const LinearTerms<Value>& terms, const std::int64_t* chosen,
                       const double* weight, std::size_t count, double* out) {
    const std::size_t R = terms.width;
    std::vector<double> step(R);
    for (std::size_t i = 0; i < count; ++i) {
        if (weight[i] == 0.0) continue;
        const std::size_t j = chosen == nullptr ? i : static_cast<std::size_t>(chosen[i]);
        const double* s = terms.slope + j * R;
        for (std::size_t c = 0; c < R; ++c) step[c] = weight[i] * s[c];
        for (std::int64_t e = terms.indptr[j]; e < terms.indptr[j + 1]; ++e) {
            const double x = terms.at(e);
            double* z = out + static_cast<std::size_t>(terms.rows[e]) * R;
            for (std::size_t c = 0; c < R; ++c) z[c] += x * step[c];
        }
    }
}

// Coordinate descent on  g'd + d'Hd / 2,  low <= d <= high, with H = X' W X restricted to the
// chosen columns, and on the free intercepts where asked. Keeps v_n = W_n (sum_k x_nk d_k s_k + b),
// so that a coordinate costs one pass over its column, and a second one only if it moves. An
// offset touches every row: with offsets each move is O(rows).
template <class Value>
class LinearDescent {
public:
    LinearDescent(const LinearTerms<Value>& terms, const double* posterior, const double* row_weight,
                  std::size_t n_rows, const std::int64_t* chosen, std::size_t count)
        : terms_(terms), p_(posterior), weight_(row_weight), n_rows_(n_rows), chosen_(chosen),
          count_(count), R_(terms.width), v_(n_rows * terms.width, 0.0), diagonal_(count) {
        if (R_ == 1) {
            h_.resize(n_rows);
            for (std::size_t n = 0; n < n_rows; ++n)
                h_[n] = row(n) * p_[n] * (1.0 - p_[n]);
        }
        if (terms.offset != nullptr) {
            sum_curvature();
            total_.assign(R_, 0.0);
        }
        for_each_block(count, kLinearBlock, [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) diagonal_[i] = diagonal(i);
        });
    }

    // Sweeps until the largest move, as a fall of the model, is below tol, or `sweeps` are done.
    // d begins at zero. Returns the number of sweeps.
    int run(const double* gradient, const double* low, const double* high, double* d,
            const double* intercept_gradient, double* b, int sweeps, double tol) {
        std::fill(d, d + count_, 0.0);
        if (intercept_gradient != nullptr) prepare_intercept();
        std::vector<std::size_t> active(count_);
        for (std::size_t i = 0; i < count_; ++i) active[i] = i;
        bool everything = true;
        double first_fall = -1.0;
        int sweep = 0;
        while (sweep < sweeps) {
            ++sweep;
            double fall = 0.0;
            if (intercept_gradient != nullptr) fall += move_intercept(intercept_gradient, b);
            std::size_t kept = 0;
            for (std::size_t i : active) {
                const double g = gradient[i] + model_gradient(i);
                const double h = diagonal_[i];
                double target = h > 0.0 ? d[i] - g / h : (g > 0.0 ? low[i] : high[i]);
                if (h <= 0.0 && g == 0.0) target = d[i];
                target = std::min(std::max(target, low[i]), high[i]);
                const double step = target - d[i];
                const bool held = step == 0.0 && (target <= low[i] || target >= high[i]);
                if (!held) active[kept++] = i;
                if (step == 0.0) continue;
                fall -= step * (g + 0.5 * h * step);
                d[i] = target;
                move(i, step);
            }
            if (first_fall < 0.0) first_fall = fall;
            if (fall <= tol * first_fall) {
                if (everything) break;
                // What was held may be free again: one sweep over all of them decides.
                active.resize(count_);
                for (std::size_t i = 0; i < count_; ++i) active[i] = i;
                everything = true;
            } else {
                active.resize(kept);
                everything = kept == count_;
            }
        }
        return sweep;
    }

private:
    double row(std::size_t n) const { return weight_ == nullptr ? 1.0 : weight_[n]; }
    std::size_t column(std::size_t i) const {
        return chosen_ == nullptr ? i : static_cast<std::size_t>(chosen_[i]);
    }

    double diagonal(std::size_t i) const {
        const std::size_t j = column(i);
        const double* s = terms_.slope + j * R_;
        const double* a = terms_.offset == nullptr ? nullptr : terms_.offset + j * R_;
        double total = 0.0;
        if (a != nullptr) {
            for (std::size_t c = 0; c < R_; ++c)
                for (std::size_t m = 0; m < R_; ++m)
                    total += a[c] * a[m] * curvature_[std::max(c, m) * R_ + std::min(c, m)];
            for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e) {
                const double* p = p_ + static_cast<std::size_t>(terms_.rows[e]) * R_;
                double ps = 0.0, pa = 0.0, psa = 0.0;
                for (std::size_t c = 0; c < R_; ++c) {
                    ps += p[c] * s[c];
                    pa += p[c] * a[c];
                    psa += p[c] * s[c] * a[c];
                }
                total += 2.0 * row(terms_.rows[e]) * terms_.at(e) * (psa - ps * pa);
            }
        }
        double own = 0.0;
        for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e) {
            const std::size_t n = terms_.rows[e];
            const double x = terms_.at(e);
            if (R_ == 1) {
                own += x * x * h_[n];
                continue;
            }
            double mean = 0.0, square = 0.0;
            const double* p = p_ + n * R_;
            for (std::size_t c = 0; c < R_; ++c) {
                mean += s[c] * p[c];
                square += s[c] * s[c] * p[c];
            }
            own += x * x * row(n) * (square - mean * mean);
        }
        return total + (R_ == 1 ? own * s[0] * s[0] : own);
    }

    double model_gradient(std::size_t i) const {
        const std::size_t j = column(i);
        const double* s = terms_.slope + j * R_;
        double total = 0.0;
        if (terms_.offset != nullptr) {
            const double* a = terms_.offset + j * R_;
            for (std::size_t c = 0; c < R_; ++c) total += a[c] * total_[c];
        }
        if (R_ == 1) {
            double own = 0.0;
            if (terms_.values == nullptr)
                for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e)
                    own += v_[terms_.rows[e]];
            else
                for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e)
                    own += terms_.at(e) * v_[terms_.rows[e]];
            return total + s[0] * own;
        }
        for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e) {
            const double* v = &v_[static_cast<std::size_t>(terms_.rows[e]) * R_];
            double dot = 0.0;
            for (std::size_t c = 0; c < R_; ++c) dot += s[c] * v[c];
            total += terms_.at(e) * dot;
        }
        return total;
    }

    void move(std::size_t i, double step) {
        const std::size_t j = column(i);
        const double* s = terms_.slope + j * R_;
        if (terms_.offset != nullptr) {
            move_everywhere(j, step);
            return;
        }
        if (R_ == 1) {
            const double t = step * s[0];
            for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e) {
                const std::size_t n = terms_.rows[e];
                v_[n] += t * terms_.at(e) * h_[n];
            }
            return;
        }
        for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e) {
            const std::size_t n = terms_.rows[e];
            add_curved(n, step * terms_.at(e), s);
        }
    }

    // A move with an offset: every row, and the sum of all v.
    void move_everywhere(std::size_t j, double step) {
        for (std::size_t n = 0; n < n_rows_; ++n) add_curved(n, step, terms_.offset + j * R_);
        for (std::int64_t e = terms_.indptr[j]; e < terms_.indptr[j + 1]; ++e)
            add_curved(terms_.rows[e], step * terms_.at(e), terms_.slope + j * R_);
        std::fill(total_.begin(), total_.end(), 0.0);
        for (std::size_t n = 0; n < n_rows_; ++n)
            for (std::size_t c = 0; c < R_; ++c) total_[c] += v_[n * R_ + c];
    }

    // v_n += factor * W_n s
    void add_curved(std::size_t n, double factor, const double* s) {
        const double* p = p_ + n * R_;
        double* v = &v_[n * R_];
        double mean = 0.0;
        for (std::size_t c = 0; c < R_; ++c) mean += s[c] * p[c];
        factor *= row(n);
        for (std::size_t c = 0; c < R_; ++c) v[c] += factor * p[c] * (s[c] - mean);
    }

    // sum_n W_n, the curvature of the intercepts; its lower triangle.
    void sum_curvature() {
        curvature_.assign(R_ * R_, 0.0);
        for (std::size_t n = 0; n < n_rows_; ++n) {
            const double* p = p_ + n * R_;
            for (std::size_t a = 0; a < R_; ++a) {
                const double pa = row(n) * p[a];
                curvature_[a * R_ + a] += pa;
                for (std::size_t c = 0; c <= a; ++c) curvature_[a * R_ + c] -= pa * p[c];
            }
        }
    }

    // Cholesky factor of that.
    void prepare_intercept() {
        if (curvature_.empty()) sum_curvature();
        factor_ = curvature_;
        for (std::size_t a = 0; a < R_; ++a) {
            const double own = factor_[a * R_ + a];
            for (std::size_t c = 0; c <= a; ++c) {
                double sum = factor_[a * R_ + c];
                for (std::size_t m = 0; m < c; ++m) sum -= factor_[a * R_ + m] * factor_[c * R_ + m];
                if (c < a)
                    factor_[a * R_ + c] = sum / factor_[c * R_ + c];
                else
                    factor_[a * R_ + a] = std::sqrt(std::max(sum, 1e-12 * own + 1e-300));
            }
        }
        share_.resize(R_);
    }

    double move_intercept(const double* gradient, double* b) {
        std::vector<double>& step = share_;
        for (std::size_t c = 0; c < R_; ++c) step[c] = -gradient[c];
        for (std::size_t n = 0; n < n_rows_; ++n)
            for (std::size_t c = 0; c < R_; ++c) step[c] -= v_[n * R_ + c];
        std::vector<double> force(step);
        for (std::size_t a = 0; a < R_; ++a) {
            for (std::size_t m = 0; m < a; ++m) step[a] -= factor_[a * R_ + m] * step[m];
            step[a] /= factor_[a * R_ + a];
        }
        for (std::size_t a = R_; a-- > 0;) {
            for (std::size_t m = a + 1; m < R_; ++m) step[a] -= factor_[m * R_ + a] * step[m];
            step[a] /= factor_[a * R_ + a];
        }
        double fall = 0.0;
        for (std::size_t c = 0; c < R_; ++c) {
            b[c] += step[c];
            fall += 0.5 * force[c] * step[c];
        }
        for (std::size_t n = 0; n < n_rows_; ++n) {
            if (R_ == 1)
                v_[n] += step[0] * h_[n];
            else
                add_curved(n, 1.0, step.data());
        }
        if (!total_.empty()) {
            std::fill(total_.begin(), total_.end(), 0.0);
            for (std::size_t n = 0; n < n_rows_; ++n)
                for (std::size_t c = 0; c < R_; ++c) total_[c] += v_[n * R_ + c];
        }
        return fall;
    }

    const LinearTerms<Value>& terms_;
    const double *p_, *weight_;
    std::size_t n_rows_;
    const std::int64_t* chosen_;
    std::size_t count_, R_;
    std::vector<double> v_, diagonal_, h_, curvature_, factor_, share_;
    std::vector<double> total_;  // sum of v over the rows, kept only where there are offsets
};

}  // namespace bayesieve
