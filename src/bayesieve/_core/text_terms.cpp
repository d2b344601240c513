// Packed names: order, union, selection; and tables whose columns move to other places.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "kernel.h"
#include "text_arrays.h"
#include "text_names.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using namespace bayesieve::text;

bool rising(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets) {
    const Names names = names_of(data, offsets);
    const bayesieve::Kernel kernel;
    return strictly_rising(names);
}

Made<std::int64_t> find(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets,
                        const Given<std::uint8_t>& query, const Given<std::int64_t>& ends) {
    const Names names = names_of(data, offsets), wanted = names_of(query, ends);
    Zeros<std::int64_t> places(wanted.size);
    {
        const bayesieve::Kernel kernel;
        bayesieve::for_each_block(wanted.size, 1 << 14,
                                  [&](std::size_t, std::size_t first, std::size_t last) {
                                      for (std::size_t i = first; i < last; ++i)
                                          places[i] = position(names, wanted[i]);
                                  });
    }
    return places.array();
}

std::tuple<Made<std::uint8_t>, Made<std::int64_t>> take(const Given<std::uint8_t>& data,
                                                        const Given<std::int64_t>& offsets,
                                                        const Given<std::int64_t>& chosen) {
    const Names names = names_of(data, offsets);
    const std::size_t n = chosen.shape(0);
    Zeros<std::int64_t> ends(n + 1);
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t which = chosen.data()[i];
        if (which < 0 || which >= static_cast<std::int64_t>(names.size))
            throw nb::index_error("a position is outside the names");
        ends[i + 1] = ends[i] + static_cast<std::int64_t>(
                                    names[static_cast<std::size_t>(which)].size);
    }
    Zeros<std::uint8_t> bytes(static_cast<std::size_t>(ends[n]));
    {
        const bayesieve::Kernel kernel;
        bayesieve::Pace pace(kPaceNames);
        for (std::size_t i = 0; i < n; ++i) {
            pace.spend(1);
            const Span text = names[static_cast<std::size_t>(chosen.data()[i])];
            if (text.size > 0) std::memcpy(bytes.data() + ends[i], text.data, text.size);
        }
    }
    return {bytes.array(), ends.array()};
}

std::tuple<Made<std::uint8_t>, Made<std::int64_t>, Made<std::int64_t>, Made<std::int64_t>> merge(
    const Given<std::uint8_t>& data_a, const Given<std::int64_t>& offsets_a,
    const Given<std::uint8_t>& data_b, const Given<std::int64_t>& offsets_b) {
    const Names a = names_of(data_a, offsets_a), b = names_of(data_b, offsets_b);
    Zeros<std::int64_t> column_a(a.size), column_b(b.size);
    std::size_t n;
    {
        const bayesieve::Kernel kernel;
        n = merge_columns(a, b, column_a.data(), column_b.data());
    }
    Zeros<std::int64_t> offsets(n + 1);
    {
        const bayesieve::Kernel kernel;
        merged_offsets(a, column_a.data(), offsets.data());
        merged_offsets(b, column_b.data(), offsets.data());
        for (std::size_t i = 0; i < n; ++i) offsets[i + 1] += offsets[i];
    }
    Zeros<std::uint8_t> bytes(static_cast<std::size_t>(offsets[n]));
    {
        const bayesieve::Kernel kernel;
        copy_merged(a, column_a.data(), offsets.data(), bytes.data());
        copy_merged(b, column_b.data(), offsets.data(), bytes.data());
    }
    return {bytes.array(), offsets.array(), column_a.array(), column_b.array()};
}

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

MadeTable<double> merge_tables(const Table& a, const Given<std::int64_t>& column_a,
                               const Table& b, const Given<std::int64_t>& column_b,
                               std::size_t columns) {
    const std::size_t rows = a.shape(0);
    if (b.shape(0) != rows || a.shape(1) != column_a.shape(0) ||
        b.shape(1) != column_b.shape(0))
        throw std::invalid_argument("the tables do not fit their columns");
    for (const auto* column : {&column_a, &column_b})
        for (std::size_t i = 0; i < column->shape(0); ++i)
            if (column->data()[i] < 0 ||
                column->data()[i] >= static_cast<std::int64_t>(columns))
                throw nb::index_error("a column is outside the table");
    Zeros<double> out(rows * columns);
    {
        const bayesieve::Kernel kernel;
        bayesieve::for_each_block(rows, 1, [&](std::size_t r, std::size_t, std::size_t) {
            double* row = out.data() + r * columns;
            const auto add = [&](const Table& table, const Given<std::int64_t>& column) {
                const double* from = table.data() + r * table.shape(1);
                bayesieve::for_each_stretch(
                    table.shape(1), [&](std::size_t first, std::size_t last) {
                        for (std::size_t i = first; i < last; ++i)
                            row[column.data()[i]] += from[i];
                    });
            };
            add(a, column_a);
            add(b, column_b);
        });
    }
    return out.table(rows, columns);
}

Made<std::int64_t> invalid(const Given<std::uint8_t>& data, const Given<std::int64_t>& offsets) {
    const Names texts = names_of(data, offsets);
    std::vector<std::vector<std::int64_t>> found(bayesieve::block_count(texts.size, 4096));
    {
        const bayesieve::Kernel kernel;
        bayesieve::for_each_block(texts.size, 4096,
                                  [&](std::size_t b, std::size_t first, std::size_t last) {
                                      for (std::size_t i = first; i < last; ++i)
                                          if (!valid_utf8(texts[i].data, texts[i].size))
                                              found[b].push_back(static_cast<std::int64_t>(i));
                                  });
    }
    std::size_t n = 0;
    for (const auto& part : found) n += part.size();
    Zeros<std::int64_t> rows(n);
    std::size_t at = 0;
    for (const auto& part : found)
        for (std::int64_t row : part) rows[at++] = row;
    return rows.array();
}

// Adds the bytes of a str or bytes. Only what the stable ABI has is used: the bytes that
// PyUnicode_AsUTF8AndSize gives would stay in the str, at the cost of whoever keeps it.
bool append(std::vector<Byte>& bytes, PyObject* text) {
    nb::object encoded = nb::borrow(text);
    if (PyUnicode_Check(text)) {
        encoded = nb::steal(PyUnicode_AsUTF8String(text));
        if (!encoded.is_valid() && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
            PyErr_Clear();  // lone surrogates
            encoded = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
        }
        if (!encoded.is_valid()) throw nb::python_error();
    } else if (!PyBytes_Check(text)) {
        return false;
    }
    const auto* p = reinterpret_cast<const Byte*>(PyBytes_AsString(encoded.ptr()));
    bytes.insert(bytes.end(), p, p + PyBytes_Size(encoded.ptr()));
    return true;
}

// The bytes of a list of str and bytes, and whether there were bytes among them.
std::tuple<Made<std::uint8_t>, Made<std::int64_t>, bool> pack(nb::list texts,
                                                              const Given<std::int32_t>& codes) {
    // A list may be changed by signal handlers and by other threads, a tuple by nobody.
    const nb::object rows = nb::steal(PyList_AsTuple(texts.ptr()));
    if (!rows.is_valid()) throw nb::python_error();
    const auto n = static_cast<std::size_t>(PyTuple_Size(rows.ptr()));
    const bool all = codes.shape(0) == 0;
    if (!all && codes.shape(0) != n)
        throw std::invalid_argument("there must be one code for each text");
    Zeros<std::int64_t> offsets(n + 1);
    std::vector<Byte> bytes;
    bool raw = false;
    std::size_t heard = 0;  // bytes packed when signals were last looked for
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 4096 == 4095 || bytes.size() - heard > (std::size_t{1} << 20)) {
            heard = bytes.size();
            bayesieve::listen_with_lock();
        }
        PyObject* text = PyTuple_GetItem(rows.ptr(), static_cast<Py_ssize_t>(i));
        if (all || codes.data()[i] >= 0) {  // else left out: may be anything
            if (!append(bytes, text))
                throw nb::type_error(("Texts must be str or bytes. Got " +
                                      std::string(nb::type_name(nb::handle(text).type()).c_str()) +
                                      " in row " + std::to_string(i) + ".")
                                         .c_str());
            raw = raw || PyBytes_Check(text);
        }
        offsets[i + 1] = static_cast<std::int64_t>(bytes.size());
    }
    Zeros<std::uint8_t> data(bytes.size());
    if (!bytes.empty()) std::memcpy(data.data(), bytes.data(), bytes.size());
    return {data.array(), offsets.array(), raw};
}

}  // namespace

void register_text_terms(nb::module_& m) {
    m.def("pack_texts", &pack, "texts"_a, "codes"_a,
          "UTF-8 of a list of str and bytes, offsets, and whether there were bytes. Rows with a\n"
          "negative code are empty, whatever they hold; no codes: all rows.");
    m.def("invalid_utf8_rows", &invalid, "data"_a, "offsets"_a,
          "Rows that bytes.decode('utf-8') would refuse.");
    m.def("names_are_sorted", &rising, "data"_a, "offsets"_a,
          "Whether packed strings rise strictly, as bytes.");
    m.def("find_names", &find, "data"_a, "offsets"_a, "query"_a, "query_offsets"_a,
          "Positions of packed strings in sorted packed strings; -1: not there.");
    m.def("take_names", &take, "data"_a, "offsets"_a, "positions"_a,
          "Packed strings at the given positions.");
    m.def("merge_names", &merge, "data_a"_a, "offsets_a"_a, "data_b"_a, "offsets_b"_a,
          "Union of two sorted sets of strings, and the columns of both in it.");
    m.def("merge_named_tables", &merge_tables, "a"_a, "column_a"_a, "b"_a, "column_b"_a,
          "columns"_a, "Sum of two tables whose columns go to the given places.");
}
