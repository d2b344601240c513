// Tasks handed to a few threads; the first exception of any of them is thrown by the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace bayesieve::text {

// Calls body(worker, task) for every task in [0, tasks), tasks in rising order.
template <class Body>
void run_tasks(std::size_t threads, std::size_t tasks, Body body) {
    const std::size_t workers = std::max<std::size_t>(1, std::min(threads, tasks));
    std::atomic<std::size_t> next{0};
    std::mutex guard;
    std::exception_ptr failure;
    auto work = [&](std::size_t worker) {
        try {
            for (std::size_t task = next++; task < tasks; task = next++) body(worker, task);
        } catch (...) {
            next = tasks;
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> pool;
    pool.reserve(workers - 1);
    for (std::size_t w = 1; w < workers; ++w) {
        try {
            pool.emplace_back(work, w);
        } catch (const std::system_error&) {
            break;  // no more threads to be had: those that run do all the work
        }
    }
    work(0);
    for (auto& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace bayesieve::text
