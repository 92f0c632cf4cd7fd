// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn order32(x: f32) -> i32 {
  let bits = bitcast<u32>(x);
  return bitcast<i32>(select(bits, 0x80000000u - bits, bits >= 0x80000000u));
}
fn less32(x: f32, y: f32) -> bool { return order32(x) < order32(y) && !nan32(x) && !nan32(y); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 1280>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[7].z)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(select(b.s0, a.s0, less32(b.s0, a.s0) || nan32(a.s0)));
}
fn entry(at: u32, is_there: bool) -> Partial {
  if (is_there) { return partials[at]; }
  return neutral();
}
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
  fn value(l0: f32) -> Partial {
    let v0 = l0;
    return Partial(v0);
  }
@compute @workgroup_size(256)
fn reduce(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let threads = 1u << launch[2].x;
  let lane = local & (threads - 1u);
  let unit = ((group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local) >> launch[2].x;
  let item = min(unit, launch[0].w - 1u);
  let block = item / launch[1].y;
  let kept = item - block * launch[1].y;
  let i1 = kept;
  let zero = neutral();
  var x = zero;
  for (var step = 0u; step < launch[2].y; step += 1u) {
    let first = launch[1].z + ((((block * launch[2].y + step) << launch[2].x) + lane) * 16u);
    let start = first;
    let at = min(start, launch[1].w - 1u);
    let there = bitcast<i32>(min(launch[1].w - at, 16u));
    var s0_0 = 0u;
    var r0_0_0: vec4<u32>;
    var r0_0_1: vec4<u32>;
    var r0_0_2: vec4<u32>;
    var r0_0_3: vec4<u32>;
    var r0_0_4: vec4<u32>;
    {
      let i0 = at;
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let e0_0 = e0;
      let b0_0 = e0_0;
      if (bitcast<i32>(launch[6].y) == 1i) {
        s0_0 = bitcast<u32>(b0_0) & 3u;
        let low0 = (b0_0 + 0i) >> 2u;
        let high0 = (b0_0 + 15i - (16i - there)) >> 2u;
        r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
        r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)];
        r0_0_2 = p0[min(max((b0_0 >> 2u) + 2i, low0), high0)];
        r0_0_3 = p0[min(max((b0_0 >> 2u) + 3i, low0), high0)];
        if ((b0_0 >> 2u) + 4i <= high0) { r0_0_4 = p0[min(max((b0_0 >> 2u) + 4i, low0), high0)]; }
      } else {
        r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(1i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(2i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(3i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))));
        r0_0_1 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(4i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(5i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(6i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(7i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))));
        r0_0_2 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(8i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(9i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(10i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(11i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))));
        r0_0_3 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(12i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(13i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(14i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))), at0(bitcast<u32>(b0_0 + min(max(15i, 0i), 15i - (16i - there)) * bitcast<i32>(launch[6].y))));
      }
    }
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
      r0_0_1 = move32(r0_0_1, r0_0_2, s0_0);
      r0_0_2 = move32(r0_0_2, r0_0_3, s0_0);
      r0_0_3 = move32(r0_0_3, r0_0_4, s0_0);
    }
    let y0 = value(bitcast<f32>(r0_0_0.x));
    let c0 = Partial(select(zero.s0, y0.s0, start + 0u < launch[1].w));
    let y1 = value(bitcast<f32>(r0_0_0.y));
    let c1 = Partial(select(zero.s0, y1.s0, start + 1u < launch[1].w));
    let y2 = value(bitcast<f32>(r0_0_0.z));
    let c2 = Partial(select(zero.s0, y2.s0, start + 2u < launch[1].w));
    let y3 = value(bitcast<f32>(r0_0_0.w));
    let c3 = Partial(select(zero.s0, y3.s0, start + 3u < launch[1].w));
    let y4 = value(bitcast<f32>(r0_0_1.x));
    let c4 = Partial(select(zero.s0, y4.s0, start + 4u < launch[1].w));
    let y5 = value(bitcast<f32>(r0_0_1.y));
    let c5 = Partial(select(zero.s0, y5.s0, start + 5u < launch[1].w));
    let y6 = value(bitcast<f32>(r0_0_1.z));
    let c6 = Partial(select(zero.s0, y6.s0, start + 6u < launch[1].w));
    let y7 = value(bitcast<f32>(r0_0_1.w));
    let c7 = Partial(select(zero.s0, y7.s0, start + 7u < launch[1].w));
    let y8 = value(bitcast<f32>(r0_0_2.x));
    let c8 = Partial(select(zero.s0, y8.s0, start + 8u < launch[1].w));
    let y9 = value(bitcast<f32>(r0_0_2.y));
    let c9 = Partial(select(zero.s0, y9.s0, start + 9u < launch[1].w));
    let y10 = value(bitcast<f32>(r0_0_2.z));
    let c10 = Partial(select(zero.s0, y10.s0, start + 10u < launch[1].w));
    let y11 = value(bitcast<f32>(r0_0_2.w));
    let c11 = Partial(select(zero.s0, y11.s0, start + 11u < launch[1].w));
    let y12 = value(bitcast<f32>(r0_0_3.x));
    let c12 = Partial(select(zero.s0, y12.s0, start + 12u < launch[1].w));
    let y13 = value(bitcast<f32>(r0_0_3.y));
    let c13 = Partial(select(zero.s0, y13.s0, start + 13u < launch[1].w));
    let y14 = value(bitcast<f32>(r0_0_3.z));
    let c14 = Partial(select(zero.s0, y14.s0, start + 14u < launch[1].w));
    let y15 = value(bitcast<f32>(r0_0_3.w));
    let c15 = Partial(select(zero.s0, y15.s0, start + 15u < launch[1].w));
    x = combine(combine(combine(combine(c0, c1), combine(c2, c3)), combine(combine(c4, c5), combine(c6, c7))), combine(combine(combine(c8, c9), combine(c10, c11)), combine(combine(c12, c13), combine(c14, c15))));
    partials[(((local >> launch[2].x) * launch[2].y + step) << launch[2].x) + lane] = x;
  }
  var count = 256u * launch[2].y;
  var source = 0u;
  var sink = 1024u;
  for (var width = launch[2].y << launch[2].x; width > 1u; ) {
    let radix = min(width, 16u);
    width /= radix;
    count /= radix;
    workgroupBarrier();
    if (local < count) {
      let c0 = entry(source + local * radix + 0u, 0u < radix);
      let c1 = entry(source + local * radix + 1u, 1u < radix);
      let c2 = entry(source + local * radix + 2u, 2u < radix);
      let c3 = entry(source + local * radix + 3u, 3u < radix);
      let c4 = entry(source + local * radix + 4u, 4u < radix);
      let c5 = entry(source + local * radix + 5u, 5u < radix);
      let c6 = entry(source + local * radix + 6u, 6u < radix);
      let c7 = entry(source + local * radix + 7u, 7u < radix);
      let c8 = entry(source + local * radix + 8u, 8u < radix);
      let c9 = entry(source + local * radix + 9u, 9u < radix);
      let c10 = entry(source + local * radix + 10u, 10u < radix);
      let c11 = entry(source + local * radix + 11u, 11u < radix);
      let c12 = entry(source + local * radix + 12u, 12u < radix);
      let c13 = entry(source + local * radix + 13u, 13u < radix);
      let c14 = entry(source + local * radix + 14u, 14u < radix);
      let c15 = entry(source + local * radix + 15u, 15u < radix);
      partials[sink + local] = combine(combine(combine(combine(c0, c1), combine(c2, c3)), combine(combine(c4, c5), combine(c6, c7))), combine(combine(combine(c8, c9), combine(c10, c11)), combine(combine(c12, c13), combine(c14, c15))));
    }
    let old = source;
    source = sink;
    sink = old;
  }
  workgroupBarrier();
  x = partials[source + (local >> launch[2].x)];
  if (lane == 0u && unit < launch[0].w) {
    out0[launch[2].w + item] = x.s0;
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn order32(x: f32) -> i32 {
  let bits = bitcast<u32>(x);
  return bitcast<i32>(select(bits, 0x80000000u - bits, bits >= 0x80000000u));
}
fn less32(x: f32, y: f32) -> bool { return order32(x) < order32(y) && !nan32(x) && !nan32(y); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 1280>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[7].z)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(select(b.s0, a.s0, less32(b.s0, a.s0) || nan32(a.s0)));
}
fn entry(at: u32, is_there: bool) -> Partial {
  if (is_there) { return partials[at]; }
  return neutral();
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
  for (var step = 0u; step < launch[2].y; step += 1u) {
    let first = launch[1].z + ((((block * launch[2].y + step) << launch[2].x) + lane) * 16u);
    let last = max(launch[1].w, 1u) - 1u;
    let start = first;
    let in0_0 = in0[launch[2].z + min(start + 0u, last) * launch[1].y + kept];
    let in0_1 = in0[launch[2].z + min(start + 1u, last) * launch[1].y + kept];
    let in0_2 = in0[launch[2].z + min(start + 2u, last) * launch[1].y + kept];
    let in0_3 = in0[launch[2].z + min(start + 3u, last) * launch[1].y + kept];
    let in0_4 = in0[launch[2].z + min(start + 4u, last) * launch[1].y + kept];
    let in0_5 = in0[launch[2].z + min(start + 5u, last) * launch[1].y + kept];
    let in0_6 = in0[launch[2].z + min(start + 6u, last) * launch[1].y + kept];
    let in0_7 = in0[launch[2].z + min(start + 7u, last) * launch[1].y + kept];
    let in0_8 = in0[launch[2].z + min(start + 8u, last) * launch[1].y + kept];
    let in0_9 = in0[launch[2].z + min(start + 9u, last) * launch[1].y + kept];
    let in0_10 = in0[launch[2].z + min(start + 10u, last) * launch[1].y + kept];
    let in0_11 = in0[launch[2].z + min(start + 11u, last) * launch[1].y + kept];
    let in0_12 = in0[launch[2].z + min(start + 12u, last) * launch[1].y + kept];
    let in0_13 = in0[launch[2].z + min(start + 13u, last) * launch[1].y + kept];
    let in0_14 = in0[launch[2].z + min(start + 14u, last) * launch[1].y + kept];
    let in0_15 = in0[launch[2].z + min(start + 15u, last) * launch[1].y + kept];
    let c0 = Partial(select(zero.s0, in0_0, start + 0u < launch[1].w));
    let c1 = Partial(select(zero.s0, in0_1, start + 1u < launch[1].w));
    let c2 = Partial(select(zero.s0, in0_2, start + 2u < launch[1].w));
    let c3 = Partial(select(zero.s0, in0_3, start + 3u < launch[1].w));
    let c4 = Partial(select(zero.s0, in0_4, start + 4u < launch[1].w));
    let c5 = Partial(select(zero.s0, in0_5, start + 5u < launch[1].w));
    let c6 = Partial(select(zero.s0, in0_6, start + 6u < launch[1].w));
    let c7 = Partial(select(zero.s0, in0_7, start + 7u < launch[1].w));
    let c8 = Partial(select(zero.s0, in0_8, start + 8u < launch[1].w));
    let c9 = Partial(select(zero.s0, in0_9, start + 9u < launch[1].w));
    let c10 = Partial(select(zero.s0, in0_10, start + 10u < launch[1].w));
    let c11 = Partial(select(zero.s0, in0_11, start + 11u < launch[1].w));
    let c12 = Partial(select(zero.s0, in0_12, start + 12u < launch[1].w));
    let c13 = Partial(select(zero.s0, in0_13, start + 13u < launch[1].w));
    let c14 = Partial(select(zero.s0, in0_14, start + 14u < launch[1].w));
    let c15 = Partial(select(zero.s0, in0_15, start + 15u < launch[1].w));
    x = combine(combine(combine(combine(c0, c1), combine(c2, c3)), combine(combine(c4, c5), combine(c6, c7))), combine(combine(combine(c8, c9), combine(c10, c11)), combine(combine(c12, c13), combine(c14, c15))));
    partials[(((local >> launch[2].x) * launch[2].y + step) << launch[2].x) + lane] = x;
  }
  var count = 256u * launch[2].y;
  var source = 0u;
  var sink = 1024u;
  for (var width = launch[2].y << launch[2].x; width > 1u; ) {
    let radix = min(width, 16u);
    width /= radix;
    count /= radix;
    workgroupBarrier();
    if (local < count) {
      let c0 = entry(source + local * radix + 0u, 0u < radix);
      let c1 = entry(source + local * radix + 1u, 1u < radix);
      let c2 = entry(source + local * radix + 2u, 2u < radix);
      let c3 = entry(source + local * radix + 3u, 3u < radix);
      let c4 = entry(source + local * radix + 4u, 4u < radix);
      let c5 = entry(source + local * radix + 5u, 5u < radix);
      let c6 = entry(source + local * radix + 6u, 6u < radix);
      let c7 = entry(source + local * radix + 7u, 7u < radix);
      let c8 = entry(source + local * radix + 8u, 8u < radix);
      let c9 = entry(source + local * radix + 9u, 9u < radix);
      let c10 = entry(source + local * radix + 10u, 10u < radix);
      let c11 = entry(source + local * radix + 11u, 11u < radix);
      let c12 = entry(source + local * radix + 12u, 12u < radix);
      let c13 = entry(source + local * radix + 13u, 13u < radix);
      let c14 = entry(source + local * radix + 14u, 14u < radix);
      let c15 = entry(source + local * radix + 15u, 15u < radix);
      partials[sink + local] = combine(combine(combine(combine(c0, c1), combine(c2, c3)), combine(combine(c4, c5), combine(c6, c7))), combine(combine(combine(c8, c9), combine(c10, c11)), combine(combine(c12, c13), combine(c14, c15))));
    }
    let old = source;
    source = sink;
    sink = old;
  }
  workgroupBarrier();
  x = partials[source + (local >> launch[2].x)];
  if (lane == 0u && unit < launch[0].w) {
    out0[launch[2].w + item] = x.s0;
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn order32(x: f32) -> i32 {
  let bits = bitcast<u32>(x);
  return bitcast<i32>(select(bits, 0x80000000u - bits, bits >= 0x80000000u));
}
fn less32(x: f32, y: f32) -> bool { return order32(x) < order32(y) && !nan32(x) && !nan32(y); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 1280>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[7].z)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(select(b.s0, a.s0, less32(b.s0, a.s0) || nan32(a.s0)));
}
fn entry(at: u32, is_there: bool) -> Partial {
  if (is_there) { return partials[at]; }
  return neutral();
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
  for (var step = 0u; step < launch[2].y; step += 1u) {
    let first = launch[1].z + ((((block * launch[2].y + step) << launch[2].x) + lane) * 16u);
    let last = max(launch[1].w, 1u) - 1u;
    let start = first;
    let in0_0 = in0[launch[2].z + min(start + 0u, last) * launch[1].y + kept];
    let in0_1 = in0[launch[2].z + min(start + 1u, last) * launch[1].y + kept];
    let in0_2 = in0[launch[2].z + min(start + 2u, last) * launch[1].y + kept];
    let in0_3 = in0[launch[2].z + min(start + 3u, last) * launch[1].y + kept];
    let in0_4 = in0[launch[2].z + min(start + 4u, last) * launch[1].y + kept];
    let in0_5 = in0[launch[2].z + min(start + 5u, last) * launch[1].y + kept];
    let in0_6 = in0[launch[2].z + min(start + 6u, last) * launch[1].y + kept];
    let in0_7 = in0[launch[2].z + min(start + 7u, last) * launch[1].y + kept];
    let in0_8 = in0[launch[2].z + min(start + 8u, last) * launch[1].y + kept];
    let in0_9 = in0[launch[2].z + min(start + 9u, last) * launch[1].y + kept];
    let in0_10 = in0[launch[2].z + min(start + 10u, last) * launch[1].y + kept];
    let in0_11 = in0[launch[2].z + min(start + 11u, last) * launch[1].y + kept];
    let in0_12 = in0[launch[2].z + min(start + 12u, last) * launch[1].y + kept];
    let in0_13 = in0[launch[2].z + min(start + 13u, last) * launch[1].y + kept];
    let in0_14 = in0[launch[2].z + min(start + 14u, last) * launch[1].y + kept];
    let in0_15 = in0[launch[2].z + min(start + 15u, last) * launch[1].y + kept];
    let c0 = Partial(select(zero.s0, in0_0, start + 0u < launch[1].w));
    let c1 = Partial(select(zero.s0, in0_1, start + 1u < launch[1].w));
    let c2 = Partial(select(zero.s0, in0_2, start + 2u < launch[1].w));
    let c3 = Partial(select(zero.s0, in0_3, start + 3u < launch[1].w));
    let c4 = Partial(select(zero.s0, in0_4, start + 4u < launch[1].w));
    let c5 = Partial(select(zero.s0, in0_5, start + 5u < launch[1].w));
    let c6 = Partial(select(zero.s0, in0_6, start + 6u < launch[1].w));
    let c7 = Partial(select(zero.s0, in0_7, start + 7u < launch[1].w));
    let c8 = Partial(select(zero.s0, in0_8, start + 8u < launch[1].w));
    let c9 = Partial(select(zero.s0, in0_9, start + 9u < launch[1].w));
    let c10 = Partial(select(zero.s0, in0_10, start + 10u < launch[1].w));
    let c11 = Partial(select(zero.s0, in0_11, start + 11u < launch[1].w));
    let c12 = Partial(select(zero.s0, in0_12, start + 12u < launch[1].w));
    let c13 = Partial(select(zero.s0, in0_13, start + 13u < launch[1].w));
    let c14 = Partial(select(zero.s0, in0_14, start + 14u < launch[1].w));
    let c15 = Partial(select(zero.s0, in0_15, start + 15u < launch[1].w));
    x = combine(combine(combine(combine(c0, c1), combine(c2, c3)), combine(combine(c4, c5), combine(c6, c7))), combine(combine(combine(c8, c9), combine(c10, c11)), combine(combine(c12, c13), combine(c14, c15))));
    partials[(((local >> launch[2].x) * launch[2].y + step) << launch[2].x) + lane] = x;
  }
  var count = 256u * launch[2].y;
  var source = 0u;
  var sink = 1024u;
  for (var width = launch[2].y << launch[2].x; width > 1u; ) {
    let radix = min(width, 16u);
    width /= radix;
    count /= radix;
    workgroupBarrier();
    if (local < count) {
      let c0 = entry(source + local * radix + 0u, 0u < radix);
      let c1 = entry(source + local * radix + 1u, 1u < radix);
      let c2 = entry(source + local * radix + 2u, 2u < radix);
      let c3 = entry(source + local * radix + 3u, 3u < radix);
      let c4 = entry(source + local * radix + 4u, 4u < radix);
      let c5 = entry(source + local * radix + 5u, 5u < radix);
      let c6 = entry(source + local * radix + 6u, 6u < radix);
      let c7 = entry(source + local * radix + 7u, 7u < radix);
      let c8 = entry(source + local * radix + 8u, 8u < radix);
      let c9 = entry(source + local * radix + 9u, 9u < radix);
      let c10 = entry(source + local * radix + 10u, 10u < radix);
      let c11 = entry(source + local * radix + 11u, 11u < radix);
      let c12 = entry(source + local * radix + 12u, 12u < radix);
      let c13 = entry(source + local * radix + 13u, 13u < radix);
      let c14 = entry(source + local * radix + 14u, 14u < radix);
      let c15 = entry(source + local * radix + 15u, 15u < radix);
      partials[sink + local] = combine(combine(combine(combine(c0, c1), combine(c2, c3)), combine(combine(c4, c5), combine(c6, c7))), combine(combine(combine(c8, c9), combine(c10, c11)), combine(combine(c12, c13), combine(c14, c15))));
    }
    let old = source;
    source = sink;
    sink = old;
  }
  workgroupBarrier();
  x = partials[source + (local >> launch[2].x)];
  if (lane == 0u && unit < launch[0].w) {
    x = combine(zero, x);
    let i1 = kept;
    let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i1) * bitcast<i32>(launch[7].y);
    let w1 = bitcast<u32>(e1);
    p1[w1] = x.s0;
  }
}
