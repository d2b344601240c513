// Fixed-size blocks handed to a few threads.
//
// Results must not depend on the number of threads, so work is cut into blocks whose size is
// a constant, each block writes only its own slot, and callers combine the slots in order.
// Scratch space may be kept per worker as long as what it gathers does not depend on order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace bayesieve {

inline std::size_t block_count(std::size_t items, std::size_t block) {
    return (items + block - 1) / block;
}

inline std::size_t worker_count(std::size_t items, std::size_t block) {
    const std::size_t hardware = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    return std::max<std::size_t>(
        1, std::min<std::size_t>({hardware, block_count(items, block), 8}));
}

// Calls body(worker, block_index, first, last) for every block of [0, items).
template <class Body>
void for_each_block_by_worker(std::size_t items, std::size_t block, Body body) {
    const std::size_t blocks = block_count(items, block);
    const std::size_t workers = worker_count(items, block);
    std::atomic<std::size_t> next{0};
    auto work = [&](std::size_t worker) {
        for (std::size_t b = next++; b < blocks; b = next++)
            body(worker, b, b * block, std::min(items, (b + 1) * block));
    };
    std::vector<std::thread> threads;
    threads.reserve(workers - 1);
    for (std::size_t w = 1; w < workers; ++w) threads.emplace_back(work, w);
    work(0);
    for (auto& thread : threads) thread.join();
}

// Calls body(block_index, first, last) for every block of [0, items).
template <class Body>
void for_each_block(std::size_t items, std::size_t block, Body body) {
    for_each_block_by_worker(items, block,
                             [&](std::size_t, std::size_t b, std::size_t first,
                                 std::size_t last) { body(b, first, last); });
}

}  // namespace bayesieve
