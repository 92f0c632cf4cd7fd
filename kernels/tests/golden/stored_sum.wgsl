// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p2: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> out0: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 1280>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[8].y)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(hide32((a.s0 + operand32(b.s0))));
}
fn entry(at: u32, is_there: bool) -> Partial {
  if (is_there) { return partials[at]; }
  return neutral();
}
fn coordinate(number: u32, divisor: u32, extent: u32) -> u32 {
  if (extent <= 1u) { return 0u; }
  var rest = number;
  if (divisor > 1u) { rest = number / divisor; }
  if (rest >= extent) { rest -= rest / extent * extent; }
  return rest;
}
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put2(e: u32, x: u32) { p2[e >> 2u][e & 3u] = x; }
struct Point { s0: f32, t0: f32 }
  fn value(l0: f32) -> Point {
    let v0 = l0;
    let v1 = hide32((v0 + operand32(v0)));
    return Point(v1, v1);
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
      let i0 = coordinate(at, launch[4].z, launch[4].x);
      let i1 = coordinate(at, launch[4].w, launch[4].y);
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let e0_0 = e0;
      let along0 = launch[4].z == 1u && launch[4].x > 1u;
      let along1 = launch[4].w == 1u && launch[4].y > 1u;
      if ((along0 && i0 + bitcast<u32>(there) > launch[4].x) || (along1 && i1 + bitcast<u32>(there) > launch[4].y)) {
        for (var n = 0u; n < 16u; n += 1u) {
          let i0 = coordinate(min(at + n, launch[1].w - 1u), launch[4].z, launch[4].x);
          let i1 = coordinate(min(at + n, launch[1].w - 1u), launch[4].w, launch[4].y);
          let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
          r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
          r0_0_1 = move32(r0_0_1, r0_0_2, 1u);
          r0_0_2 = move32(r0_0_2, r0_0_3, 1u);
          r0_0_3 = move32(r0_0_3, vec4<u32>(at0(bitcast<u32>(e0)), 0u, 0u, 0u), 1u);
        }
      } else {
        let b0_0 = e0_0;
        if (select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1) == 1i) {
          s0_0 = bitcast<u32>(b0_0) & 3u;
          let low0 = (b0_0 + 0i) >> 2u;
          let high0 = (b0_0 + 15i - (16i - there)) >> 2u;
          r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
          r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)];
          r0_0_2 = p0[min(max((b0_0 >> 2u) + 2i, low0), high0)];
          r0_0_3 = p0[min(max((b0_0 >> 2u) + 3i, low0), high0)];
          if ((b0_0 >> 2u) + 4i <= high0) { r0_0_4 = p0[min(max((b0_0 >> 2u) + 4i, low0), high0)]; }
        } else {
          r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(1i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(2i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(3i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))));
          r0_0_1 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(4i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(5i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(6i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(7i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))));
          r0_0_2 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(8i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(9i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(10i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(11i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))));
          r0_0_3 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(12i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(13i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(14i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))), at0(bitcast<u32>(b0_0 + min(max(15i, 0i), 15i - (16i - there)) * select(select(0i, bitcast<i32>(launch[6].y), along0), bitcast<i32>(launch[6].z), along1))));
        }
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
    if (unit < launch[0].w && start < launch[1].w) {
      let i0 = coordinate(at, launch[4].z, launch[4].x);
      let i1 = coordinate(at, launch[4].w, launch[4].y);
      let e2 = bitcast<i32>(launch[7].z) + bitcast<i32>(i0) * bitcast<i32>(launch[7].w) + bitcast<i32>(i1) * bitcast<i32>(launch[8].x);
      let along0 = launch[4].z == 1u && launch[4].x > 1u;
      let along1 = launch[4].w == 1u && launch[4].y > 1u;
      if ((along0 && i0 + bitcast<u32>(there) > launch[4].x) || (along1 && i1 + bitcast<u32>(there) > launch[4].y)) {
        var t0 = array<u32, 16>(bitcast<u32>(y0.t0), bitcast<u32>(y1.t0), bitcast<u32>(y2.t0), bitcast<u32>(y3.t0), bitcast<u32>(y4.t0), bitcast<u32>(y5.t0), bitcast<u32>(y6.t0), bitcast<u32>(y7.t0), bitcast<u32>(y8.t0), bitcast<u32>(y9.t0), bitcast<u32>(y10.t0), bitcast<u32>(y11.t0), bitcast<u32>(y12.t0), bitcast<u32>(y13.t0), bitcast<u32>(y14.t0), bitcast<u32>(y15.t0));
        for (var n = 0i; n < there; n += 1i) {
          let i0 = coordinate((at + bitcast<u32>(n)), launch[4].z, launch[4].x);
          let i1 = coordinate((at + bitcast<u32>(n)), launch[4].w, launch[4].y);
          let e2 = bitcast<i32>(launch[7].z) + bitcast<i32>(i0) * bitcast<i32>(launch[7].w) + bitcast<i32>(i1) * bitcast<i32>(launch[8].x);
          put2(bitcast<u32>(e2), t0[n]);
        }
      } else {
        let o2_0 = vec4<u32>(bitcast<u32>(y0.t0), bitcast<u32>(y1.t0), bitcast<u32>(y2.t0), bitcast<u32>(y3.t0));
        let o2_1 = vec4<u32>(bitcast<u32>(y4.t0), bitcast<u32>(y5.t0), bitcast<u32>(y6.t0), bitcast<u32>(y7.t0));
        let o2_2 = vec4<u32>(bitcast<u32>(y8.t0), bitcast<u32>(y9.t0), bitcast<u32>(y10.t0), bitcast<u32>(y11.t0));
        let o2_3 = vec4<u32>(bitcast<u32>(y12.t0), bitcast<u32>(y13.t0), bitcast<u32>(y14.t0), bitcast<u32>(y15.t0));
        if ((0i | (16i - there) | (e2 & 3i)) == 0i && select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1) == 1i) {
          p2[(e2 >> 2u) + 0i] = o2_0;
          p2[(e2 >> 2u) + 1i] = o2_1;
          p2[(e2 >> 2u) + 2i] = o2_2;
          p2[(e2 >> 2u) + 3i] = o2_3;
        } else {
          if (0i <= 0i && 0i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 0i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_0.x); }
          if (0i <= 1i && 1i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 1i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_0.y); }
          if (0i <= 2i && 2i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 2i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_0.z); }
          if (0i <= 3i && 3i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 3i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_0.w); }
          if (0i <= 4i && 4i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 4i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_1.x); }
          if (0i <= 5i && 5i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 5i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_1.y); }
          if (0i <= 6i && 6i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 6i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_1.z); }
          if (0i <= 7i && 7i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 7i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_1.w); }
          if (0i <= 8i && 8i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 8i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_2.x); }
          if (0i <= 9i && 9i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 9i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_2.y); }
          if (0i <= 10i && 10i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 10i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_2.z); }
          if (0i <= 11i && 11i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 11i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_2.w); }
          if (0i <= 12i && 12i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 12i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_3.x); }
          if (0i <= 13i && 13i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 13i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_3.y); }
          if (0i <= 14i && 14i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 14i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_3.z); }
          if (0i <= 15i && 15i < 16i - (16i - there)) { put2(bitcast<u32>(e2 + 15i * select(select(0i, bitcast<i32>(launch[7].w), along0), bitcast<i32>(launch[8].x), along1)), o2_3.w); }
        }
      }
    }
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
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 1280>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[8].y)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(hide32((a.s0 + operand32(b.s0))));
}
fn entry(at: u32, is_there: bool) -> Partial {
  if (is_there) { return partials[at]; }
  return neutral();
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
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
struct Partial { s0: f32 }
var<workgroup> partials: array<Partial, 1280>;
fn neutral() -> Partial { return Partial(bitcast<f32>(launch[8].y)); }
fn combine(a: Partial, b: Partial) -> Partial {
  return Partial(hide32((a.s0 + operand32(b.s0))));
}
fn entry(at: u32, is_there: bool) -> Partial {
  if (is_there) { return partials[at]; }
  return neutral();
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
    let e1 = bitcast<i32>(launch[6].w);
    let w1 = bitcast<u32>(e1);
    p1[w1] = x.s0;
  }
}
