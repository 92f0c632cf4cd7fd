// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;
@group(0) @binding(3) var<storage, read_write> out1: array<i32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
struct Partial { s0: f32, s1: i32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[6].z), 2147483647i); }
fn combine(a: Partial, b: Partial) -> Partial {
  let better0 = select(!nan32(a.s0) && ((b.s0 < a.s0) || ((b.s0 == a.s0) && b.s1 < a.s1)), !nan32(a.s0) || b.s1 < a.s1, nan32(b.s0));
  return Partial(select(a.s0, b.s0, better0), select(a.s1, b.s1, better0));
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
      let i0 = at;
      let e0 = bitcast<i32>(launch[5].x) + bitcast<i32>(i0) * bitcast<i32>(launch[5].y);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let v1 = (bitcast<i32>(launch[4].z) + bitcast<i32>(i0));
      let inside = first + n < launch[1].w;
      x = Partial(select(zero.s0, v0, inside), select(zero.s1, v1, inside));
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
    out1[launch[2].w + item] = x.s1;
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read> in1: array<i32>;
@group(0) @binding(3) var<storage, read_write> out0: array<f32>;
@group(0) @binding(4) var<storage, read_write> out1: array<i32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
struct Partial { s0: f32, s1: i32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[6].z), 2147483647i); }
fn combine(a: Partial, b: Partial) -> Partial {
  let better0 = select(!nan32(a.s0) && ((b.s0 < a.s0) || ((b.s0 == a.s0) && b.s1 < a.s1)), !nan32(a.s0) || b.s1 < a.s1, nan32(b.s0));
  return Partial(select(a.s0, b.s0, better0), select(a.s1, b.s1, better0));
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
      x = Partial(select(zero.s0, in0[element], inside), select(zero.s1, in1[element], inside));
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
    out1[launch[2].w + item] = x.s1;
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read> in1: array<i32>;
@group(0) @binding(3) var<storage, read_write> p1: array<f32>;
@group(0) @binding(4) var<storage, read_write> p2: array<i32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
struct Partial { s0: f32, s1: i32 }
var<workgroup> partials: array<Partial, 256>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[6].z), 2147483647i); }
fn combine(a: Partial, b: Partial) -> Partial {
  let better0 = select(!nan32(a.s0) && ((b.s0 < a.s0) || ((b.s0 == a.s0) && b.s1 < a.s1)), !nan32(a.s0) || b.s1 < a.s1, nan32(b.s0));
  return Partial(select(a.s0, b.s0, better0), select(a.s1, b.s1, better0));
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
      x = Partial(select(zero.s0, in0[element], inside), select(zero.s1, in1[element], inside));
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
    if (launch[1].w == 0u) { x.s1 = 0i; }
    let e1 = bitcast<i32>(launch[5].z);
    let w1 = bitcast<u32>(e1);
    p1[w1] = x.s0;
    let e2 = bitcast<i32>(launch[6].x);
    let w2 = bitcast<u32>(e2);
    p2[w2] = x.s1;
  }
}
