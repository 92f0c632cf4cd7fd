// Enough of CUDA's C++ to run kernels on a processor, for tests: the threads of a block take turns, each
// until it waits for the others. Knows no kernel.
#pragma once
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

using std::exp, std::sin, std::sqrt;
inline int min(int a, int b) { return a < b ? a : b; }

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace pretence {
struct Thread {
  dim3 at;
  bool is_over = false;
  ucontext_t state;
  char stack[1 << 14];
};
inline ucontext_t block;
inline Thread* running;
template <class Kernel> inline const Kernel* kernel;

template <class Kernel> void whole_thread() {
  (*kernel<Kernel>)();
  running->is_over = true;
}

template <class Kernel> void launch(dim3 grid, dim3 threads, const Kernel& of) {
  kernel<Kernel> = &of, gridDim = grid, blockDim = threads;
  const unsigned count = threads.x * threads.y * threads.z;
  Thread* all = new Thread[count];
  for (unsigned nth = 0; nth < grid.x * grid.y * grid.z; nth++) {
    blockIdx = dim3(nth % grid.x, nth / grid.x % grid.y, nth / grid.x / grid.y);
    for (unsigned k = 0; k < count; k++) {
      Thread& thread = all[k];
      thread.at = dim3(k % threads.x, k / threads.x % threads.y, k / threads.x / threads.y);
      thread.is_over = false;
      getcontext(&thread.state);
      thread.state.uc_stack.ss_sp = thread.stack, thread.state.uc_stack.ss_size = sizeof thread.stack;
      thread.state.uc_link = &block;
      makecontext(&thread.state, whole_thread<Kernel>, 0);
    }
    for (bool is_going = true; is_going;) {
      is_going = false;
      for (unsigned k = 0; k < count; k++) {
        Thread& thread = all[k];
        if (thread.is_over) continue;
        running = &thread, threadIdx = thread.at;
        swapcontext(&block, &thread.state);
        is_going = true;
      }
    }
  }
  delete[] all;
}

// Of a kernel whose arguments are pointers.
template <class... P, size_t... K>
void call(void (*of)(P...), void** arguments, std::index_sequence<K...>) {
  of(static_cast<P>(arguments[K])...);
}
template <class... P> void launch_pointers(dim3 grid, dim3 threads, void (*of)(P...), void** arguments) {
  launch(grid, threads, [=] { call(of, arguments, std::index_sequence_for<P...>()); });
}
}  // namespace pretence

inline void __syncthreads() { swapcontext(&pretence::running->state, &pretence::block); }

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation };
enum cudaMemcpyKind { cudaMemcpyDefault };
inline cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = malloc(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void* memory) { return free(memory), cudaSuccess; }
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no more memory"; }
