// What a careful CUDA programmer writes by hand: vectorised streams, and stencils that march along z with
// the column in registers and the plane in shared memory (2.5-D). Built by nvcc into a library of plain
// functions; knows no Python. f16 is computed in f32.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> struct Computed { using Real = T; };
template <> struct Computed<__half> { using Real = float; };
template <class T> using Real = typename Computed<T>::Real;

// ---- streams: 16 bytes per load, four of them per thread in flight ----

template <class T> struct alignas(16) Pack { T at[16 / sizeof(T)]; };

struct Copy { template <class R> static __device__ R of(R a, R) { return a; } };
struct Scale { template <class R> static __device__ R of(R a, R) { return a * R(1.5); } };
struct Triad { template <class R> static __device__ R of(R a, R b) { return a + b * R(1.5); } };
struct Fused8 {
  template <class R> static __device__ R of(R a, R b) { return sqrt(a * a + b * b) * (a - b) + a / b; }
};
struct ExpSin { template <class R> static __device__ R of(R a, R b) { return exp(a) * sin(b); } };

constexpr int UNROLL = 4;

template <class T, class Op, int INPUTS>
__global__ void __launch_bounds__(256) stream(const T* __restrict__ a, const T* __restrict__ b,
                                              T* __restrict__ out, long n) {
  constexpr int WIDTH = 16 / sizeof(T);
  const long packs = n / WIDTH, first = (long)blockIdx.x * 256 * UNROLL + threadIdx.x;
  Pack<T> x[UNROLL], y[UNROLL];
#pragma unroll
  for (int k = 0; k < UNROLL; k++) {
    const long at = first + k * 256;
    if (at >= packs) break;
    x[k] = reinterpret_cast<const Pack<T>*>(a)[at];
    if (INPUTS == 2) y[k] = reinterpret_cast<const Pack<T>*>(b)[at];
  }
#pragma unroll
  for (int k = 0; k < UNROLL; k++) {
    const long at = first + k * 256;
    if (at >= packs) break;
    Pack<T> result;
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
      result.at[i] = T(Op::of(Real<T>(x[k].at[i]), INPUTS == 2 ? Real<T>(y[k].at[i]) : Real<T>(0)));
    reinterpret_cast<Pack<T>*>(out)[at] = result;
  }
  const long tail = packs * WIDTH + threadIdx.x;
  if (blockIdx.x == 0 && tail < n)
    out[tail] = T(Op::of(Real<T>(a[tail]), INPUTS == 2 ? Real<T>(b[tail]) : Real<T>(0)));
}

template <class T, class Op, int INPUTS>
void launch_stream(void* const* in, void* const* out, const long* shape) {
  const long n = shape[0], cells = 256L * UNROLL * (16 / sizeof(T));
  const T* b = static_cast<const T*>(INPUTS == 2 ? in[1] : in[0]);
  stream<T, Op, INPUTS><<<(unsigned)((n + cells - 1) / cells), 256>>>(
      static_cast<const T*>(in[0]), b, static_cast<T*>(out[0]), n);
}

// ---- 2-D, 5 points: a thread marches along y with three rows in registers ----

constexpr int ROWS = 16;

template <class T>
__global__ void __launch_bounds__(256) five(const T* __restrict__ u, T* __restrict__ out, int ny, int nx) {
  using R = Real<T>;
  const int x = blockIdx.x * 256 + threadIdx.x + 1, first = blockIdx.y * ROWS + 1;
  if (x >= nx - 1) return;
  R above = R(u[(long)(first - 1) * nx + x]), here = R(u[(long)first * nx + x]);
  for (int y = first; y < min(first + ROWS, ny - 1); y++) {
    const T* row = u + (long)y * nx;
    const R below = R(row[nx + x]);
    const R around = above + below + R(row[x - 1]) + R(row[x + 1]);
    out[(long)(y - 1) * (nx - 2) + x - 1] = T(here + (around - here * R(4)) * R(0.1));
    above = here, here = below;
  }
}

template <class T> void launch_five(void* const* in, void* const* out, const long* shape) {
  const int ny = shape[0], nx = shape[1];
  const dim3 grid((nx - 2 + 255) / 256, (ny - 2 + ROWS - 1) / ROWS);
  five<T><<<grid, 256>>>(static_cast<const T*>(in[0]), static_cast<T*>(out[0]), ny, nx);
}

// ---- 3-D, 2.5-D blocking: blocks of WIDE x HIGH columns march along z ----

constexpr int WIDE = 32, HIGH = 8, DEEP = 64;

// The plane around the block, with R cells on every side; cells outside of the cube are left alone.
template <class T, int R>
__device__ void load_plane(Real<T> (&tile)[HIGH + 2 * R][WIDE + 2 * R], const T* plane, int ny, int nx) {
  const int x0 = blockIdx.x * WIDE, y0 = blockIdx.y * HIGH;
  __syncthreads();
  for (int y = threadIdx.y; y < HIGH + 2 * R; y += HIGH)
    for (int x = threadIdx.x; x < WIDE + 2 * R; x += WIDE)
      if (y0 + y < ny && x0 + x < nx) tile[y][x] = Real<T>(plane[(long)(y0 + y) * nx + x0 + x]);
  __syncthreads();
}

// The centre's weight, then those of the neighbours by distance.
template <int R> struct Weights { double of[R + 1]; };

template <class T, int R>
__global__ void __launch_bounds__(WIDE* HIGH)
    star(const T* __restrict__ u, T* __restrict__ out, int nz, int ny, int nx, Weights<R> weights) {
  using Q = Real<T>;
  __shared__ Q tile[HIGH + 2 * R][WIDE + 2 * R];
  const int x = blockIdx.x * WIDE + threadIdx.x + R, y = blockIdx.y * HIGH + threadIdx.y + R;
  const int first = blockIdx.z * DEEP + R, last = min(first + DEEP, nz - R);
  const bool is_inside = x < nx - R && y < ny - R;
  const long plane = (long)ny * nx, column = (long)y * nx + x;
  Q queue[2 * R + 1];
#pragma unroll
  for (int k = 0; k < 2 * R; k++) queue[k + 1] = is_inside ? Q(u[(first - R + k) * plane + column]) : Q(0);
  for (int z = first; z < last; z++) {
#pragma unroll
    for (int k = 0; k < 2 * R; k++) queue[k] = queue[k + 1];
    if (is_inside) queue[2 * R] = Q(u[(z + R) * plane + column]);
    load_plane<T, R>(tile, u + z * plane, ny, nx);
    if (!is_inside) continue;
    const int ty = threadIdx.y + R, tx = threadIdx.x + R;
    Q result = queue[R] * Q(weights.of[0]);
#pragma unroll
    for (int k = 1; k <= R; k++) {
      const Q in_plane = tile[ty - k][tx] + tile[ty + k][tx] + tile[ty][tx - k] + tile[ty][tx + k];
      result += (queue[R - k] + queue[R + k] + in_plane) * Q(weights.of[k]);
    }
    out[((long)(z - R) * (ny - 2 * R) + y - R) * (nx - 2 * R) + x - R] = T(result);
  }
}

template <int R> dim3 march(int nz, int ny, int nx) {
  return dim3((nx - 2 * R + WIDE - 1) / WIDE, (ny - 2 * R + HIGH - 1) / HIGH, (nz - 2 * R + DEEP - 1) / DEEP);
}

template <class T, int R>
void launch_star(void* const* in, void* const* out, const long* shape, Weights<R> weights) {
  const int nz = shape[0], ny = shape[1], nx = shape[2];
  star<T, R><<<march<R>(nz, ny, nx), dim3(WIDE, HIGH)>>>(static_cast<const T*>(in[0]),
                                                          static_cast<T*>(out[0]), nz, ny, nx, weights);
}

template <class T> void launch_star7(void* const* in, void* const* out, const long* shape) {
  launch_star<T, 1>(in, out, shape, {{1 - 0.6, 0.1}});
}
template <class T> void launch_star13(void* const* in, void* const* out, const long* shape) {
  launch_star<T, 2>(in, out, shape, {{-7.5, 4.0 / 3, -1.0 / 12}});
}
template <class T> void launch_star25(void* const* in, void* const* out, const long* shape) {
  launch_star<T, 4>(in, out, shape, {{-205.0 / 24, 1.6, -0.2, 8.0 / 315, -1.0 / 560}});
}

// 27 points: each plane gives its centre, its 4 edges and its 4 corners once, to three results.
template <class T>
__global__ void __launch_bounds__(WIDE* HIGH)
    cube27(const T* __restrict__ u, T* __restrict__ out, int nz, int ny, int nx) {
  using Q = Real<T>;
  __shared__ Q tile[HIGH + 2][WIDE + 2];
  const int x = blockIdx.x * WIDE + threadIdx.x + 1, y = blockIdx.y * HIGH + threadIdx.y + 1;
  const int first = blockIdx.z * DEEP + 1, last = min(first + DEEP, nz - 1);
  const bool is_inside = x < nx - 1 && y < ny - 1;
  const long plane = (long)ny * nx;
  Q centre[3] = {}, edges[3] = {}, corners[3] = {};
  for (int z = first - 1; z <= last; z++) {
    load_plane<T, 1>(tile, u + z * plane, ny, nx);
#pragma unroll
    for (int k = 0; k < 2; k++)
      centre[k] = centre[k + 1], edges[k] = edges[k + 1], corners[k] = corners[k + 1];
    if (!is_inside) continue;
    const int ty = threadIdx.y + 1, tx = threadIdx.x + 1;
    centre[2] = tile[ty][tx];
    edges[2] = tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1];
    corners[2] = tile[ty - 1][tx - 1] + tile[ty - 1][tx + 1] + tile[ty + 1][tx - 1] + tile[ty + 1][tx + 1];
    if (z <= first) continue;
    const Q faces = edges[1] + centre[0] + centre[2], sides = corners[1] + edges[0] + edges[2];
    const Q far = corners[0] + corners[2];
    const Q result = centre[1] * Q(0.38) + faces * Q(0.05) + sides * Q(0.02) + far * Q(0.01);
    out[((long)(z - 2) * (ny - 2) + y - 1) * (nx - 2) + x - 1] = T(result);
  }
}

template <class T> void launch_cube27(void* const* in, void* const* out, const long* shape) {
  const int nz = shape[0], ny = shape[1], nx = shape[2];
  cube27<T><<<march<1>(nz, ny, nx), dim3(WIDE, HIGH)>>>(static_cast<const T*>(in[0]),
                                                         static_cast<T*>(out[0]), nz, ny, nx);
}

// ---- plain functions: each gives a CUDA error code, 0 if all is well ----

#define RUNS(name, launch)                                                             \
  extern "C" int name##_f16(void* const* in, void* const* out, const long* shape) {   \
    launch(__half);                                                                    \
    return cudaGetLastError();                                                         \
  }                                                                                    \
  extern "C" int name##_f32(void* const* in, void* const* out, const long* shape) {   \
    launch(float);                                                                     \
    return cudaGetLastError();                                                         \
  }                                                                                    \
  extern "C" int name##_f64(void* const* in, void* const* out, const long* shape) {   \
    launch(double);                                                                    \
    return cudaGetLastError();                                                         \
  }
#define COPY(T) launch_stream<T, Copy, 1>(in, out, shape)
#define SCALE(T) launch_stream<T, Scale, 1>(in, out, shape)
#define TRIAD(T) launch_stream<T, Triad, 2>(in, out, shape)
#define FUSED8(T) launch_stream<T, Fused8, 2>(in, out, shape)
#define EXPSIN(T) launch_stream<T, ExpSin, 2>(in, out, shape)
#define FIVE(T) launch_five<T>(in, out, shape)
#define STAR7(T) launch_star7<T>(in, out, shape)
#define STAR13(T) launch_star13<T>(in, out, shape)
#define STAR25(T) launch_star25<T>(in, out, shape)
#define CUBE27(T) launch_cube27<T>(in, out, shape)
RUNS(copy, COPY)
RUNS(scale, SCALE)
RUNS(triad, TRIAD)
RUNS(fused8, FUSED8)
RUNS(expsin, EXPSIN)
RUNS(stencil5, FIVE)
RUNS(stencil7, STAR7)
RUNS(stencil13, STAR13)
RUNS(stencil25, STAR25)
RUNS(stencil27, CUBE27)

extern "C" void* peer_new(size_t bytes) {
  void* memory = nullptr;
  return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
}
extern "C" int peer_free(void* memory) { return cudaFree(memory); }
extern "C" int peer_move(void* to, const void* from, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
extern "C" int peer_wait() { return cudaDeviceSynchronize(); }
extern "C" const char* peer_error(int code) { return cudaGetErrorString((cudaError_t)code); }
