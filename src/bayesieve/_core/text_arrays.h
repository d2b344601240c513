// NumPy arrays in and out of the text kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "arrays.h"
#include "text_names.h"
#include "text_unicode.h"

namespace bayesieve::text {

using bayesieve::Made;
using bayesieve::MadeTable;
using bayesieve::Zeros;

template <class T>
using Given = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig,
                                nanobind::device::cpu>;

inline Names names_of(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets) {
    if (offsets.shape(0) == 0 ||
        !well_formed(offsets.data(), offsets.shape(0) - 1, data.shape(0)))
        throw std::invalid_argument("the offsets of the texts do not rise within their bytes");
    return {data.data(), offsets.data(), offsets.shape(0) - 1};
}

}  // namespace bayesieve::text
