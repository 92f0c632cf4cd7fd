// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<u32>;
@group(0) @binding(2) var<storage, read_write> out0: array<u32>;

struct Partial { s0: u32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(0u); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial((a.s0 | b.s0));
}
fn coordinate(number: u32, divisor: u32, extent: u32) -> u32 {
  if (extent <= 1u) { return 0u; }
  var rest = number;
  if (divisor > 1u) { rest = number / divisor; }
  if (rest >= extent) { rest -= rest / extent * extent; }
  return rest;
}
@compute @workgroup_size(256)
fn reduce(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let threads = 1u << launch[2].x;
  let lane = local & (threads - 1u);
  let unit = ((group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local) >> launch[2].x;
  let item = min(unit, launch[0].w - 1u);
  let block = item / launch[1].y;
  let kept = item - block * launch[1].y;
  let zero = neutral();
  var x = zero;
  var chunk0 = zero;
  var chunk1 = zero;
  var chunk2 = zero;
  var step0 = zero;
  var step1 = zero;
  var step2 = zero;
  for (var step = 0u; step < launch[2].y; step += 1u) {
    let first = launch[1].z + ((((block * launch[2].y + step) << launch[2].x) + lane) * 8u);
    for (var n = 0u; n < 8u; n += 1u) {
      let at = min(first + n, max(launch[1].w, 1u) - 1u);
      let i0 = coordinate(at, launch[4].z, launch[4].x);
      let i1 = coordinate(at, launch[4].w, launch[4].y);
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let a0 = bitcast<u32>(e0);
      let v0 = (((p0[a0 >> 2u] >> ((a0 & 3u) << 3u)) & 0xffu) != 0u);
      let inside = first + n < launch[1].w;
      x = Partial(select(zero.s0, select(0u, 1u, v0), inside));
      if ((n & 1u) == 0u) { chunk0 = x; continue; }
      x = combine(chunk0, x);
      if ((n & 2u) == 0u) { chunk1 = x; continue; }
      x = combine(chunk1, x);
      if ((n & 4u) == 0u) { chunk2 = x; continue; }
      x = combine(chunk2, x);
    }
    partials[local] = x;
    for (var distance = 1u; distance < threads; distance <<= 1u) {
      workgroupBarrier();
      if ((lane & (2u * distance - 1u)) == 0u) {
        x = combine(x, partials[local + distance]);
        partials[local] = x;
      }
    }
    workgroupBarrier();
    if ((step & 1u) == 0u) { step0 = x; continue; }
    x = combine(step0, x);
    if ((step & 2u) == 0u) { step1 = x; continue; }
    x = combine(step1, x);
    if ((step & 4u) == 0u) { step2 = x; continue; }
    x = combine(step2, x);
  }
  if (lane == 0u && unit < launch[0].w) {
    out0[launch[2].w + item] = x.s0;
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<u32>;
@group(0) @binding(2) var<storage, read_write> out0: array<u32>;

struct Partial { s0: u32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(0u); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial((a.s0 | b.s0));
}
fn coordinate(number: u32, divisor: u32, extent: u32) -> u32 {
  if (extent <= 1u) { return 0u; }
  var rest = number;
  if (divisor > 1u) { rest = number / divisor; }
  if (rest >= extent) { rest -= rest / extent * extent; }
  return rest;
}
@compute @workgroup_size(256)
fn tree(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let threads = 1u << launch[2].x;
  let lane = local & (threads - 1u);
  let unit = ((group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local) >> launch[2].x;
  let item = min(unit, launch[0].w - 1u);
  let block = item / launch[1].y;
  let kept = item - block * launch[1].y;
  let zero = neutral();
  var x = zero;
  var chunk0 = zero;
  var chunk1 = zero;
  var chunk2 = zero;
  var step0 = zero;
  var step1 = zero;
  var step2 = zero;
  for (var step = 0u; step < launch[2].y; step += 1u) {
    let first = launch[1].z + ((((block * launch[2].y + step) << launch[2].x) + lane) * 8u);
    for (var n = 0u; n < 8u; n += 1u) {
      let at = min(first + n, max(launch[1].w, 1u) - 1u);
      let element = launch[2].z + at * launch[1].y + kept;
      let inside = first + n < launch[1].w;
      x = Partial(select(zero.s0, in0[element], inside));
      if ((n & 1u) == 0u) { chunk0 = x; continue; }
      x = combine(chunk0, x);
      if ((n & 2u) == 0u) { chunk1 = x; continue; }
      x = combine(chunk1, x);
      if ((n & 4u) == 0u) { chunk2 = x; continue; }
      x = combine(chunk2, x);
    }
    partials[local] = x;
    for (var distance = 1u; distance < threads; distance <<= 1u) {
      workgroupBarrier();
      if ((lane & (2u * distance - 1u)) == 0u) {
        x = combine(x, partials[local + distance]);
        partials[local] = x;
      }
    }
    workgroupBarrier();
    if ((step & 1u) == 0u) { step0 = x; continue; }
    x = combine(step0, x);
    if ((step & 2u) == 0u) { step1 = x; continue; }
    x = combine(step1, x);
    if ((step & 4u) == 0u) { step2 = x; continue; }
    x = combine(step2, x);
  }
  if (lane == 0u && unit < launch[0].w) {
    out0[launch[2].w + item] = x.s0;
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<u32>;
@group(0) @binding(2) var<storage, read_write> p1: array<atomic<u32>>;

struct Partial { s0: u32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(0u); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial((a.s0 | b.s0));
}
fn coordinate(number: u32, divisor: u32, extent: u32) -> u32 {
  if (extent <= 1u) { return 0u; }
  var rest = number;
  if (divisor > 1u) { rest = number / divisor; }
  if (rest >= extent) { rest -= rest / extent * extent; }
  return rest;
}
@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let threads = 1u << launch[2].x;
  let lane = local & (threads - 1u);
  let unit = ((group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local) >> launch[2].x;
  let item = min(unit, launch[0].w - 1u);
  let block = item / launch[1].y;
  let kept = item - block * launch[1].y;
  let zero = neutral();
  var x = zero;
  var chunk0 = zero;
  var chunk1 = zero;
  var chunk2 = zero;
  var step0 = zero;
  var step1 = zero;
  var step2 = zero;
  for (var step = 0u; step < launch[2].y; step += 1u) {
    let first = launch[1].z + ((((block * launch[2].y + step) << launch[2].x) + lane) * 8u);
    for (var n = 0u; n < 8u; n += 1u) {
      let at = min(first + n, max(launch[1].w, 1u) - 1u);
      let element = launch[2].z + at * launch[1].y + kept;
      let inside = first + n < launch[1].w;
      x = Partial(select(zero.s0, in0[element], inside));
      if ((n & 1u) == 0u) { chunk0 = x; continue; }
      x = combine(chunk0, x);
      if ((n & 2u) == 0u) { chunk1 = x; continue; }
      x = combine(chunk1, x);
      if ((n & 4u) == 0u) { chunk2 = x; continue; }
      x = combine(chunk2, x);
    }
    partials[local] = x;
    for (var distance = 1u; distance < threads; distance <<= 1u) {
      workgroupBarrier();
      if ((lane & (2u * distance - 1u)) == 0u) {
        x = combine(x, partials[local + distance]);
        partials[local] = x;
      }
    }
    workgroupBarrier();
    if ((step & 1u) == 0u) { step0 = x; continue; }
    x = combine(step0, x);
    if ((step & 2u) == 0u) { step1 = x; continue; }
    x = combine(step1, x);
    if ((step & 4u) == 0u) { step2 = x; continue; }
    x = combine(step2, x);
  }
  if (lane == 0u && unit < launch[0].w) {
    x = combine(zero, x);
    let e1 = bitcast<i32>(launch[6].w);
    let w1 = bitcast<u32>(e1);
    atomicAnd(&p1[w1 >> 2u], ~(0xffu << ((w1 & 3u) << 3u)));
    atomicOr(&p1[w1 >> 2u], select(0u, 1u, (x.s0 != 0u)) << ((w1 & 3u) << 3u));
  }
}
