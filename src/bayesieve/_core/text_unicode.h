// UTF-8, and the properties of characters that the interpreter's own str methods have.
//
// The tables come from Python (bayesieve.text._characters), so that \w, \s and lower() mean
// here what they mean there, whatever the version of Unicode. Lone surrogates, which a str may
// hold, travel as three bytes (Python's "surrogatepass").
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "ascii_runs.h"
#include "runtime.h"

namespace bayesieve::text {

using Byte = unsigned char;

constexpr std::uint32_t kCodePoints = 0x110000;
constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::uint32_t kCapitalSigma = 0x3A3;

enum Flag : std::uint8_t {
    kWord = 1,           // \w: str.isalnum() or "_"
    kSpace = 2,          // \s: str.isspace()
    kCaseIgnorable = 4,  // skipped when a sigma looks for its neighbours
    kCased = 8,          // has case, and is not ignorable
};

// Reads one character of [p, end), p < end, and returns its length. Bytes that are no character
// count as U+FFFD of length one: nothing outside the tables is ever looked up.
inline std::size_t decode(const Byte* p, const Byte* end, std::uint32_t& code) {
    const std::uint32_t lead = p[0];
    const std::ptrdiff_t left = end - p;
    const auto follows = [&](std::ptrdiff_t i) { return (p[i] & 0xC0) == 0x80; };
    if (lead < 0x80) {
        code = lead;
        return 1;
    }
    if (lead >= 0xC2 && lead < 0xE0 && left >= 2 && follows(1)) {
        code = (lead & 0x1F) << 6 | (p[1] & 0x3Fu);
        return 2;
    }
    if (lead >= 0xE0 && lead < 0xF0 && left >= 3 && follows(1) && follows(2)) {
        code = (lead & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        if (code >= 0x800) return 3;
    }
    if (lead >= 0xF0 && lead < 0xF5 && left >= 4 && follows(1) && follows(2) && follows(3)) {
        code = (lead & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
        if (code >= 0x10000 && code < kCodePoints) return 4;
    }
    code = kReplacement;
    return 1;
}

// Writes one character and returns its length, 1 to 4.
inline std::size_t encode(std::uint32_t code, Byte* out) {
    if (code < 0x80) {
        out[0] = static_cast<Byte>(code);
        return 1;
    }
    if (code < 0x800) {
        out[0] = static_cast<Byte>(0xC0 | code >> 6);
        out[1] = static_cast<Byte>(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = static_cast<Byte>(0xE0 | code >> 12);
        out[1] = static_cast<Byte>(0x80 | (code >> 6 & 0x3F));
        out[2] = static_cast<Byte>(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = static_cast<Byte>(0xF0 | code >> 18);
    out[1] = static_cast<Byte>(0x80 | (code >> 12 & 0x3F));
    out[2] = static_cast<Byte>(0x80 | (code >> 6 & 0x3F));
    out[3] = static_cast<Byte>(0x80 | (code & 0x3F));
    return 4;
}

inline std::size_t encoded_length(std::uint32_t code) {
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

// Length of the longest prefix of plain ASCII.
inline std::size_t ascii_prefix(const Byte* p, std::size_t size) {
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        std::uint64_t word;
        std::memcpy(&word, p + i, 8);
        if (word & 0x8080808080808080ull) break;
    }
    while (i < size && p[i] < 0x80) ++i;
    return i;
}

// Whether Python's bytes.decode("utf-8") would accept the bytes.
inline bool valid_utf8(const Byte* p, std::size_t size) {
    const Byte* end = p + size;
    while (true) {
        p += ascii_prefix(p, static_cast<std::size_t>(end - p));
        if (p == end) return true;
        std::uint32_t code;
        const std::size_t length = decode(p, end, code);
        if (length == 1 || (code >= 0xD800 && code < 0xE000)) return false;
        p += length;
    }
}

constexpr std::size_t kPaceBytes = 1 << 18;  // characters changed between two polls

// How a text is changed before it is analysed: lower case, accents, both or neither.
struct Tables {
    std::vector<std::uint8_t> flags;      // of every code point
    std::vector<std::uint16_t> mapping;   // of every code point: 0 unchanged, else an entry
    std::vector<std::uint32_t> start;     // entry e is bytes[start[e] : start[e + 1]]
    std::vector<Byte> bytes;
    bool lower = false;
    bool changes = false;                 // whether anything is mapped at all
    std::uint16_t final_sigma = 0;        // entry of a capital sigma that ends a word
    Byte ascii_lower[128];
    bool ascii_word[128];
    bool ascii_space[128];
    bool usual_words = false;             // whether the ASCII of \w is what ascii_runs.h takes

    // The tables come from another language: nothing may point outside.
    void prepare() {
        if (flags.size() != kCodePoints || mapping.size() != kCodePoints)
            throw std::invalid_argument("a table needs one value for each code point");
        if (start.empty() || start.front() != 0 || start.back() != bytes.size())
            throw std::invalid_argument("the replacements do not fit their offsets");
        for (std::size_t e = 1; e < start.size(); ++e)
            if (start[e] < start[e - 1])
                throw std::invalid_argument("the replacements do not fit their offsets");
        for (std::uint16_t entry : mapping) {
            if (static_cast<std::size_t>(entry) + 1 >= start.size())
                throw std::invalid_argument("a replacement is missing");
            changes = changes || entry != 0;
        }
        if (static_cast<std::size_t>(final_sigma) + 1 >= start.size())
            throw std::invalid_argument("a replacement is missing");
        usual_words = true;
        for (std::size_t c = 0; c < 128; ++c) {
            usual_words = usual_words && is(static_cast<std::uint32_t>(c), kWord) ==
                                             is_ascii_word(static_cast<Byte>(c));
            ascii_lower[c] = static_cast<Byte>(lower && c >= 'A' && c <= 'Z' ? c + 32 : c);
            ascii_word[c] = (flags[c] & kWord) != 0;
            ascii_space[c] = (flags[c] & kSpace) != 0;
        }
    }
    bool is(std::uint32_t code, Flag flag) const { return (flags[code] & flag) != 0; }
};

// Python's rule: a capital sigma becomes the final form after a letter and not before one.
inline bool sigma_is_final(const Tables& tables, const Byte* begin, const Byte* at,
                           const Byte* end) {
    std::uint32_t code = 0;
    bool before = false;
    for (const Byte* p = at; p > begin;) {
        --p;
        while (p > begin && (*p & 0xC0) == 0x80) --p;
        decode(p, end, code);
        if (tables.is(code, kCaseIgnorable)) continue;
        before = tables.is(code, kCased);
        break;
    }
    if (!before) return false;
    for (const Byte* p = at + 2; p < end;) {
        p += decode(p, end, code);
        if (tables.is(code, kCaseIgnorable)) continue;
        return !tables.is(code, kCased);
    }
    return true;
}

struct Span {
    const Byte* data;
    std::size_t size;
};

// Bytes below 128, lowered if asked; arithmetic, not a table, so that it is done in wide words.
inline void lower_ascii(const Byte* from, std::size_t size, bool lower, Byte* to) {
    const Byte shift = lower ? 32 : 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Byte c = from[i];
        to[i] = static_cast<Byte>(c + (static_cast<Byte>(c - 'A') < 26 ? shift : 0));
    }
}

// The text as the analysis sees it; held in `room` unless it is the text itself.
inline Span normalised(const Tables& tables, Span text, std::vector<Byte>& room) {
    const std::size_t plain = ascii_prefix(text.data, text.size);
    if (!tables.lower && (plain == text.size || !tables.changes)) return text;
    room.resize(text.size + 16);
    lower_ascii(text.data, plain, tables.lower, room.data());
    if (plain == text.size) return {room.data(), plain};
    std::size_t out = plain;
    const Byte* end = text.data + text.size;
    const Byte* p = text.data + plain;
    Pace pace(kPaceBytes);
    while (p < end) {
        pace.spend(1);
        // A replacement may be longer than what it replaces; none is near this long.
        if (out + 64 > room.size()) room.resize(room.size() + room.size() / 2 + 128);
        if (*p < 0x80) {
            room[out++] = tables.ascii_lower[*p++];
            continue;
        }
        std::uint32_t code;
        const std::size_t length = decode(p, end, code);
        std::uint16_t entry = tables.mapping[code];
        if (tables.lower && code == kCapitalSigma && sigma_is_final(tables, text.data, p, end))
            entry = tables.final_sigma;
        if (entry == 0) {
            std::memcpy(room.data() + out, p, length);
            out += length;
        } else {
            const std::uint32_t first = tables.start[entry];
            const std::size_t size = tables.start[entry + 1u] - first;
            if (out + size + 64 > room.size()) room.resize(out + size + 128);
            if (size > 0) std::memcpy(room.data() + out, tables.bytes.data() + first, size);
            out += size;
        }
        p += length;
    }
    return {room.data(), out};
}

}  // namespace bayesieve::text
