// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[7].z)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(hide32((a.s0 + operand32(b.s0))));
}
@compute @workgroup_size(256)
fn reduce(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let threads = 1u << launch[2].x;
  let lane = local & (threads - 1u);
  let unit = ((group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local) >> launch[2].x;
  let item = min(unit, launch[0].w - 1u);
  let block = item / launch[1].y;
  let kept = item - block * launch[1].y;
  let i0 = kept;
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
      let i1 = at;
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let inside = first + n < launch[1].w;
      x = Partial(select(zero.s0, v0, inside));
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
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[7].z)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(hide32((a.s0 + operand32(b.s0))));
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
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[7].z)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(hide32((a.s0 + operand32(b.s0))));
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
    let i0 = kept;
    let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i0) * bitcast<i32>(launch[7].x);
    let w1 = bitcast<u32>(e1);
    p1[w1] = x.s0;
  }
}
