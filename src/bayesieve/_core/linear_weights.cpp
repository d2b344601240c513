// Weights of the columns of a sparse matrix: scores, gradient and descent; see linear_weights.h.
#include "linear_weights.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// Shapes that every kernel relies on; row numbers are the caller's promise (a checked matrix).
template <class Body>
auto with_terms(const Indices& indptr, const Rows& rows, const std::optional<Values>& values,
                const Matrix& slope, const std::optional<Matrix>& offset, Body body) {
    require(!offset || (offset->shape(0) == slope.shape(0) && offset->shape(1) == slope.shape(1)),
            "offset must have the shape of slope");
    require(indptr.shape(0) == slope.shape(0) + 1, "indptr must have one value a column, and one");
    const std::int64_t stored = indptr.data()[slope.shape(0)];
    require(indptr.data()[0] == 0 && stored <= static_cast<std::int64_t>(rows.shape(0)) &&
                (!values || stored <= static_cast<std::int64_t>(values->shape(0))),
            "indptr does not match the stored entries");
    auto with = [&](auto* data) {
        using Value = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
        const bayesieve::LinearTerms<Value> terms{indptr.data(), rows.data(), data, slope.data(),
                                                  offset ? offset->data() : nullptr, slope.shape(1)};
        return body(terms);
    };
    if (!values) return with(static_cast<const double*>(nullptr));
    if (values->dtype() == nb::dtype<double>()) return with(static_cast<const double*>(values->data()));
    if (values->dtype() == nb::dtype<float>()) return with(static_cast<const float*>(values->data()));
    throw std::invalid_argument("values must be float32 or float64");
}

struct Chosen {
    const std::int64_t* data;
    std::size_t count;
};

Chosen checked(const std::optional<Indices>& chosen, std::size_t columns) {
    if (!chosen) return {nullptr, columns};
    for (std::size_t i = 0; i < chosen->shape(0); ++i)
        require(chosen->data()[i] >= 0 && static_cast<std::size_t>(chosen->data()[i]) < columns,
                "chosen holds columns that do not exist");
    return {chosen->data(), chosen->shape(0)};
}

void scores(const Indices& indptr, const Rows& rows, const std::optional<Values>& values,
            const Matrix& slope, const Vector& weights, const std::optional<Indices>& chosen,
            OutMatrix out) {
    const Chosen which = checked(chosen, slope.shape(0));
    require(weights.shape(0) == which.count && out.shape(1) == slope.shape(1),
            "weights or scores do not match the columns");
    double* z = out.data();
    with_terms(indptr, rows, values, slope, std::nullopt, [&](const auto& terms) {
        const bayesieve::Kernel kernel;
        bayesieve::linear_add_scores(terms, which.data, weights.data(), which.count, z);
    });
}

void gradient(const Indices& indptr, const Rows& rows, const std::optional<Values>& values,
              const Matrix& slope, const Matrix& residual, const std::optional<Indices>& chosen,
              OutVector out) {
    const Chosen which = checked(chosen, slope.shape(0));
    require(out.shape(0) == which.count && residual.shape(1) == slope.shape(1),
            "gradient or residual does not match the columns");
    double* g = out.data();
    with_terms(indptr, rows, values, slope, std::nullopt, [&](const auto& terms) {
        const bayesieve::Kernel kernel;
        bayesieve::linear_gradient(terms, residual.data(), which.data, which.count, g);
    });
}

int descent(const Indices& indptr, const Rows& rows, const std::optional<Values>& values,
            const Matrix& slope, const std::optional<Matrix>& offset, const Matrix& posterior, const std::optional<Vector>& row_weight,
            const Indices& chosen, const Vector& gradient, const Vector& low, const Vector& high,
            OutVector d, const std::optional<Vector>& intercept_gradient,
            const std::optional<OutVector>& intercept, int rounds, int conjugate_steps, double tol) {
    const Chosen which = checked(chosen, slope.shape(0));
    const std::size_t R = slope.shape(1), n = posterior.shape(0);
    require(posterior.shape(1) == R && (!row_weight || row_weight->shape(0) == n),
            "posterior or row_weight does not match");
    require(gradient.shape(0) == which.count && low.shape(0) == which.count &&
                high.shape(0) == which.count && d.shape(0) == which.count,
            "gradient, bounds or step do not match the chosen columns");
    require(!intercept_gradient ||
                (intercept_gradient->shape(0) == R && intercept && intercept->shape(0) == R),
            "intercepts must have one value a class but the first");
    double* step = d.data();
    const double* ig = intercept_gradient ? intercept_gradient->data() : nullptr;
    double* b = intercept ? intercept->data() : nullptr;
    return with_terms(indptr, rows, values, slope, offset, [&](const auto& terms) {
        const bayesieve::Kernel kernel;
        using Value = std::remove_cv_t<std::remove_pointer_t<decltype(terms.values)>>;
        auto run = [&](auto real) {
            bayesieve::LinearDescent<Value, decltype(real)> model(
                terms, posterior.data(), row_weight ? row_weight->data() : nullptr, n, which.data,
                which.count);
            return model.run(gradient.data(), low.data(), high.data(), step, ig, b, rounds,
                             conjugate_steps, tol);
        };
        return R == 1 ? run(1.0) : run(1.0f);
    });
}

void curvatures(const Indices& indptr, const Rows& rows, const std::optional<Values>& values,
                const Matrix& slope, const std::optional<Matrix>& offset, const Matrix& posterior,
                const std::optional<Vector>& row_weight, const Indices& chosen, OutVector out) {
    const Chosen which = checked(chosen, slope.shape(0));
    const std::size_t n = posterior.shape(0);
    require(posterior.shape(1) == slope.shape(1) && (!row_weight || row_weight->shape(0) == n) &&
                out.shape(0) == which.count,
            "posterior, row_weight or out does not match");
    double* to = out.data();
    with_terms(indptr, rows, values, slope, offset, [&](const auto& terms) {
        const bayesieve::Kernel kernel;
        using Value = std::remove_cv_t<std::remove_pointer_t<decltype(terms.values)>>;
        auto run = [&](auto real) {
            const bayesieve::LinearDescent<Value, decltype(real)> model(
                terms, posterior.data(), row_weight ? row_weight->data() : nullptr, n, which.data,
                which.count);
            std::copy(model.curvatures().begin(), model.curvatures().end(), to);
        };
        if (slope.shape(1) == 1)
            run(1.0);
        else
            run(1.0f);
    });
}

}  // namespace

void register_linear_weights(nb::module_& m) {
    m.def("linear_scores", &scores, "indptr"_a, "rows"_a, "values"_a.none(), "slope"_a,
          "weights"_a, "chosen"_a.none(), "out"_a.noconvert(),
          "Add the sum over the chosen columns of weight * x * slope to out (rows, classes - 1).");
    m.def("linear_gradient", &gradient, "indptr"_a, "rows"_a, "values"_a.none(), "slope"_a,
          "residual"_a, "chosen"_a.none(), "out"_a.noconvert(),
          "slope . (X' residual) of the chosen columns, into out.");
    m.def("linear_curvatures", &curvatures, "indptr"_a, "rows"_a, "values"_a.none(), "slope"_a,
          "offset"_a.none(), "posterior"_a, "row_weight"_a.none(), "chosen"_a,
          "out"_a.noconvert(), "Second derivative for each chosen weight alone, into out.");
    m.def("linear_descent", &descent, "indptr"_a, "rows"_a, "values"_a.none(), "slope"_a,
          "offset"_a.none(), "posterior"_a, "row_weight"_a.none(), "chosen"_a, "gradient"_a, "low"_a, "high"_a,
          "out"_a.noconvert(), "intercept_gradient"_a.none(), "intercept"_a.none().noconvert(),
          "rounds"_a,
          "conjugate_steps"_a, "tol"_a,
          "Minimise the second-order model over a box: the step into out, that of the intercepts\n"
          "into intercept. Returns the number of rounds.");
}
