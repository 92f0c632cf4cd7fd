// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 16>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<vec4<u32>>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u][e & 3u] = x; }
struct Outer { i0: u32, i1: u32 }
fn outer(row: u32) -> Outer {
  var at: Outer;
  var rest = row;
  at.i1 = 0u;
  if (launch[4].y > 1u) {
    let q = rest / launch[4].y;
    at.i1 = rest - q * launch[4].y;
    rest = q;
  }
  at.i0 = rest;
  return at;
}
@compute @workgroup_size(256)
fn elementwise(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + launch[0].y * (group.y + launch[0].z * group.z);
  let chunks = launch[1].x;
  var first = number * 256u + local;
  var row = 0u;
  if (chunks != 0u) {
    row = number;
    if (chunks > 1u) { row = number / chunks; }
    first = (number - row * chunks) * 256u + local;
    if (row >= launch[1].y) { return; }
  }
  var at = outer(row);
  let item_0 = first + 0u;
  var pack_0 = min(item_0, launch[0].w - 1u);
  var at_0 = at;
  if (chunks == 0u) {
    let own = pack_0 / launch[1].z;
    pack_0 -= own * launch[1].z;
    at_0 = outer(own);
  }
  let row0_0 = bitcast<i32>(launch[7].x) + bitcast<i32>(at_0.i0) * bitcast<i32>(launch[7].y) + bitcast<i32>(at_0.i1) * bitcast<i32>(launch[7].z);
  let row1_0 = bitcast<i32>(launch[8].x) + bitcast<i32>(at_0.i0) * bitcast<i32>(launch[8].y) + bitcast<i32>(at_0.i1) * bitcast<i32>(launch[8].z);
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row1_0 & 3i, bitcast<i32>(launch[8].w) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].z), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[7].w);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[8].w);
  var s0_0 = 0u;
  var r0_0_0: vec4<u32>;
  var r0_0_1: vec4<u32>;
  var r0_0_2: vec4<u32>;
  var s1_0 = 0u;
  var r1_0_0: vec4<u32>;
  var r1_0_1: vec4<u32>;
  var r1_0_2: vec4<u32>;
  var s2_0 = 0u;
  var r2_0_0: vec4<u32>;
  var r2_0_1: vec4<u32>;
  var r2_0_2: vec4<u32>;
  var s3_0 = 0u;
  var r3_0_0: vec4<u32>;
  var r3_0_1: vec4<u32>;
  var r3_0_2: vec4<u32>;
  var s4_0 = 0u;
  var r4_0_0: vec4<u32>;
  var r4_0_1: vec4<u32>;
  var r4_0_2: vec4<u32>;
  var s5_0 = 0u;
  var r5_0_0: vec4<u32>;
  var r5_0_1: vec4<u32>;
  var r5_0_2: vec4<u32>;
  var s6_0 = 0u;
  var r6_0_0: vec4<u32>;
  var r6_0_1: vec4<u32>;
  var r6_0_2: vec4<u32>;
  var s7_0 = 0u;
  var r7_0_0: vec4<u32>;
  var r7_0_1: vec4<u32>;
  var r7_0_2: vec4<u32>;
  var s8_0 = 0u;
  var r8_0_0: vec4<u32>;
  var r8_0_1: vec4<u32>;
  var r8_0_2: vec4<u32>;
  let b0_0 = e0_0 + bitcast<i32>(launch[9].x);
  let b1_0 = e0_0 + bitcast<i32>(launch[9].w);
  let b2_0 = e0_0 + bitcast<i32>(launch[10].z);
  let b3_0 = e0_0 + bitcast<i32>(launch[11].y);
  let b4_0 = e0_0 + bitcast<i32>(launch[12].x);
  let b5_0 = e0_0 + bitcast<i32>(launch[12].z);
  let b6_0 = e0_0 + bitcast<i32>(launch[13].y);
  let b7_0 = e0_0 + bitcast<i32>(launch[14].x);
  let b8_0 = e0_0 + bitcast<i32>(launch[14].w);
  if (bitcast<i32>(launch[7].w) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 5i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)];
    if ((b0_0 >> 2u) + 2i <= high0) { r0_0_2 = p0[min(max((b0_0 >> 2u) + 2i, low0), high0)]; }
    s1_0 = bitcast<u32>(b1_0) & 3u;
    let low1 = (b1_0 + head_0) >> 2u;
    let high1 = (b1_0 + 5i - tail_0) >> 2u;
    r1_0_0 = p0[min(max((b1_0 >> 2u) + 0i, low1), high1)];
    r1_0_1 = p0[min(max((b1_0 >> 2u) + 1i, low1), high1)];
    if ((b1_0 >> 2u) + 2i <= high1) { r1_0_2 = p0[min(max((b1_0 >> 2u) + 2i, low1), high1)]; }
    s2_0 = bitcast<u32>(b2_0) & 3u;
    let low2 = (b2_0 + head_0) >> 2u;
    let high2 = (b2_0 + 5i - tail_0) >> 2u;
    r2_0_0 = p0[min(max((b2_0 >> 2u) + 0i, low2), high2)];
    r2_0_1 = p0[min(max((b2_0 >> 2u) + 1i, low2), high2)];
    if ((b2_0 >> 2u) + 2i <= high2) { r2_0_2 = p0[min(max((b2_0 >> 2u) + 2i, low2), high2)]; }
    s3_0 = bitcast<u32>(b3_0) & 3u;
    let low3 = (b3_0 + head_0) >> 2u;
    let high3 = (b3_0 + 5i - tail_0) >> 2u;
    r3_0_0 = p0[min(max((b3_0 >> 2u) + 0i, low3), high3)];
    r3_0_1 = p0[min(max((b3_0 >> 2u) + 1i, low3), high3)];
    if ((b3_0 >> 2u) + 2i <= high3) { r3_0_2 = p0[min(max((b3_0 >> 2u) + 2i, low3), high3)]; }
    s4_0 = bitcast<u32>(b4_0) & 3u;
    let low4 = (b4_0 + head_0) >> 2u;
    let high4 = (b4_0 + 5i - tail_0) >> 2u;
    r4_0_0 = p0[min(max((b4_0 >> 2u) + 0i, low4), high4)];
    r4_0_1 = p0[min(max((b4_0 >> 2u) + 1i, low4), high4)];
    if ((b4_0 >> 2u) + 2i <= high4) { r4_0_2 = p0[min(max((b4_0 >> 2u) + 2i, low4), high4)]; }
    s5_0 = bitcast<u32>(b5_0) & 3u;
    let low5 = (b5_0 + head_0) >> 2u;
    let high5 = (b5_0 + 5i - tail_0) >> 2u;
    r5_0_0 = p0[min(max((b5_0 >> 2u) + 0i, low5), high5)];
    r5_0_1 = p0[min(max((b5_0 >> 2u) + 1i, low5), high5)];
    if ((b5_0 >> 2u) + 2i <= high5) { r5_0_2 = p0[min(max((b5_0 >> 2u) + 2i, low5), high5)]; }
    s6_0 = bitcast<u32>(b6_0) & 3u;
    let low6 = (b6_0 + head_0) >> 2u;
    let high6 = (b6_0 + 5i - tail_0) >> 2u;
    r6_0_0 = p0[min(max((b6_0 >> 2u) + 0i, low6), high6)];
    r6_0_1 = p0[min(max((b6_0 >> 2u) + 1i, low6), high6)];
    if ((b6_0 >> 2u) + 2i <= high6) { r6_0_2 = p0[min(max((b6_0 >> 2u) + 2i, low6), high6)]; }
    s7_0 = bitcast<u32>(b7_0) & 3u;
    let low7 = (b7_0 + head_0) >> 2u;
    let high7 = (b7_0 + 5i - tail_0) >> 2u;
    r7_0_0 = p0[min(max((b7_0 >> 2u) + 0i, low7), high7)];
    r7_0_1 = p0[min(max((b7_0 >> 2u) + 1i, low7), high7)];
    if ((b7_0 >> 2u) + 2i <= high7) { r7_0_2 = p0[min(max((b7_0 >> 2u) + 2i, low7), high7)]; }
    s8_0 = bitcast<u32>(b8_0) & 3u;
    let low8 = (b8_0 + head_0) >> 2u;
    let high8 = (b8_0 + 5i - tail_0) >> 2u;
    r8_0_0 = p0[min(max((b8_0 >> 2u) + 0i, low8), high8)];
    r8_0_1 = p0[min(max((b8_0 >> 2u) + 1i, low8), high8)];
    if ((b8_0 >> 2u) + 2i <= high8) { r8_0_2 = p0[min(max((b8_0 >> 2u) + 2i, low8), high8)]; }
  } else {
    r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r0_0_1 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r1_0_0 = vec4<u32>(at0(bitcast<u32>(b1_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r1_0_1 = vec4<u32>(at0(bitcast<u32>(b1_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r2_0_0 = vec4<u32>(at0(bitcast<u32>(b2_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r2_0_1 = vec4<u32>(at0(bitcast<u32>(b2_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r3_0_0 = vec4<u32>(at0(bitcast<u32>(b3_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r3_0_1 = vec4<u32>(at0(bitcast<u32>(b3_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r4_0_0 = vec4<u32>(at0(bitcast<u32>(b4_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r4_0_1 = vec4<u32>(at0(bitcast<u32>(b4_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r5_0_0 = vec4<u32>(at0(bitcast<u32>(b5_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b5_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b5_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b5_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r5_0_1 = vec4<u32>(at0(bitcast<u32>(b5_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b5_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b5_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b5_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r6_0_0 = vec4<u32>(at0(bitcast<u32>(b6_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b6_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b6_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b6_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r6_0_1 = vec4<u32>(at0(bitcast<u32>(b6_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b6_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b6_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b6_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r7_0_0 = vec4<u32>(at0(bitcast<u32>(b7_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b7_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b7_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b7_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r7_0_1 = vec4<u32>(at0(bitcast<u32>(b7_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b7_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b7_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b7_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r8_0_0 = vec4<u32>(at0(bitcast<u32>(b8_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b8_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b8_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b8_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r8_0_1 = vec4<u32>(at0(bitcast<u32>(b8_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b8_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b8_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b8_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
      r0_0_1 = move32(r0_0_1, r0_0_2, s0_0);
    }
    if (s1_0 != 0u) {
      r1_0_0 = move32(r1_0_0, r1_0_1, s1_0);
      r1_0_1 = move32(r1_0_1, r1_0_2, s1_0);
    }
    if (s2_0 != 0u) {
      r2_0_0 = move32(r2_0_0, r2_0_1, s2_0);
      r2_0_1 = move32(r2_0_1, r2_0_2, s2_0);
    }
    if (s3_0 != 0u) {
      r3_0_0 = move32(r3_0_0, r3_0_1, s3_0);
      r3_0_1 = move32(r3_0_1, r3_0_2, s3_0);
    }
    if (s4_0 != 0u) {
      r4_0_0 = move32(r4_0_0, r4_0_1, s4_0);
      r4_0_1 = move32(r4_0_1, r4_0_2, s4_0);
    }
    if (s5_0 != 0u) {
      r5_0_0 = move32(r5_0_0, r5_0_1, s5_0);
      r5_0_1 = move32(r5_0_1, r5_0_2, s5_0);
    }
    if (s6_0 != 0u) {
      r6_0_0 = move32(r6_0_0, r6_0_1, s6_0);
      r6_0_1 = move32(r6_0_1, r6_0_2, s6_0);
    }
    if (s7_0 != 0u) {
      r7_0_0 = move32(r7_0_0, r7_0_1, s7_0);
      r7_0_1 = move32(r7_0_1, r7_0_2, s7_0);
    }
    if (s8_0 != 0u) {
      r8_0_0 = move32(r8_0_0, r8_0_1, s8_0);
      r8_0_1 = move32(r8_0_1, r8_0_2, s8_0);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_0_0.x);
      let v1 = bitcast<f32>(r0_0_0.y);
      let v2 = 2.0f;
      let v3 = hide32((v1 * operand32(v2)));
      let v4 = bitcast<f32>(r0_0_0.z);
      let v5 = 3.0f;
      let v6 = hide32((v4 * operand32(v5)));
      let v7 = bitcast<f32>(r1_0_0.x);
      let v8 = 4.0f;
      let v9 = hide32((v7 * operand32(v8)));
      let v10 = bitcast<f32>(r1_0_0.y);
      let v11 = 5.0f;
      let v12 = hide32((v10 * operand32(v11)));
      let v13 = bitcast<f32>(r1_0_0.z);
      let v14 = bitcast<f32>(r2_0_0.x);
      let v15 = hide32((v14 * operand32(v2)));
      let v16 = bitcast<f32>(r2_0_0.y);
      let v17 = hide32((v16 * operand32(v5)));
      let v18 = bitcast<f32>(r2_0_0.z);
      let v19 = hide32((v18 * operand32(v8)));
      let v20 = bitcast<f32>(r3_0_0.x);
      let v21 = hide32((v20 * operand32(v11)));
      let v22 = bitcast<f32>(r3_0_0.y);
      let v23 = bitcast<f32>(r3_0_0.z);
      let v24 = hide32((v23 * operand32(v2)));
      let v25 = bitcast<f32>(r4_0_0.x);
      let v26 = hide32((v25 * operand32(v5)));
      let v27 = bitcast<f32>(r4_0_0.y);
      let v28 = hide32((v27 * operand32(v8)));
      let v29 = bitcast<f32>(r4_0_0.z);
      let v30 = hide32((v29 * operand32(v11)));
      let v31 = bitcast<f32>(r5_0_0.x);
      let v32 = bitcast<f32>(r5_0_0.y);
      let v33 = hide32((v32 * operand32(v2)));
      let v34 = bitcast<f32>(r5_0_0.z);
      let v35 = hide32((v34 * operand32(v5)));
      let v36 = bitcast<f32>(r6_0_0.x);
      let v37 = hide32((v36 * operand32(v8)));
      let v38 = bitcast<f32>(r6_0_0.y);
      let v39 = hide32((v38 * operand32(v11)));
      let v40 = bitcast<f32>(r6_0_0.z);
      let v41 = bitcast<f32>(r7_0_0.x);
      let v42 = hide32((v41 * operand32(v2)));
      let v43 = bitcast<f32>(r7_0_0.y);
      let v44 = hide32((v43 * operand32(v5)));
      let v45 = bitcast<f32>(r7_0_0.z);
      let v46 = hide32((v45 * operand32(v8)));
      let v47 = bitcast<f32>(r8_0_0.x);
      let v48 = hide32((v47 * operand32(v11)));
      let v49 = bitcast<f32>(r8_0_0.y);
      let v50 = bitcast<f32>(r8_0_0.z);
      let v51 = hide32((v50 * operand32(v2)));
      let v52 = hide32((v0 + operand32(v3)));
      let v53 = hide32((v52 + operand32(v6)));
      let v54 = hide32((v53 + operand32(v9)));
      let v55 = hide32((v54 + operand32(v12)));
      let v56 = hide32((v55 + operand32(v13)));
      let v57 = hide32((v56 + operand32(v15)));
      let v58 = hide32((v57 + operand32(v17)));
      let v59 = hide32((v58 + operand32(v19)));
      let v60 = hide32((v59 + operand32(v21)));
      let v61 = hide32((v60 + operand32(v22)));
      let v62 = hide32((v61 + operand32(v24)));
      let v63 = hide32((v62 + operand32(v26)));
      let v64 = hide32((v63 + operand32(v28)));
      let v65 = hide32((v64 + operand32(v30)));
      let v66 = hide32((v65 + operand32(v31)));
      let v67 = hide32((v66 + operand32(v33)));
      let v68 = hide32((v67 + operand32(v35)));
      let v69 = hide32((v68 + operand32(v37)));
      let v70 = hide32((v69 + operand32(v39)));
      let v71 = hide32((v70 + operand32(v40)));
      let v72 = hide32((v71 + operand32(v42)));
      let v73 = hide32((v72 + operand32(v44)));
      let v74 = hide32((v73 + operand32(v46)));
      let v75 = hide32((v74 + operand32(v48)));
      let v76 = hide32((v75 + operand32(v49)));
      let v77 = hide32((v76 + operand32(v51)));
      o1_0 = move32(o1_0, vec4<u32>(bitcast<u32>(v77), 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
      r0_0_1 = move32(r0_0_1, r0_0_2, 1u);
      r1_0_0 = move32(r1_0_0, r1_0_1, 1u);
      r1_0_1 = move32(r1_0_1, r1_0_2, 1u);
      r2_0_0 = move32(r2_0_0, r2_0_1, 1u);
      r2_0_1 = move32(r2_0_1, r2_0_2, 1u);
      r3_0_0 = move32(r3_0_0, r3_0_1, 1u);
      r3_0_1 = move32(r3_0_1, r3_0_2, 1u);
      r4_0_0 = move32(r4_0_0, r4_0_1, 1u);
      r4_0_1 = move32(r4_0_1, r4_0_2, 1u);
      r5_0_0 = move32(r5_0_0, r5_0_1, 1u);
      r5_0_1 = move32(r5_0_1, r5_0_2, 1u);
      r6_0_0 = move32(r6_0_0, r6_0_1, 1u);
      r6_0_1 = move32(r6_0_1, r6_0_2, 1u);
      r7_0_0 = move32(r7_0_0, r7_0_1, 1u);
      r7_0_1 = move32(r7_0_1, r7_0_2, 1u);
      r8_0_0 = move32(r8_0_0, r8_0_1, 1u);
      r8_0_1 = move32(r8_0_1, r8_0_2, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e1_0 & 3i)) == 0i && bitcast<i32>(launch[8].w) == 1i) {
        p1[(e1_0 >> 2u) + 0i] = o1_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 0i * bitcast<i32>(launch[8].w)), o1_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 1i * bitcast<i32>(launch[8].w)), o1_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 2i * bitcast<i32>(launch[8].w)), o1_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 3i * bitcast<i32>(launch[8].w)), o1_0.w); }
      }
    }
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 16>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<vec4<u32>>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u][e & 3u] = x; }
struct Point { s0: f32 }
  fn value(l0: f32, l1: f32, l2: f32, l3: f32, l4: f32, l5: f32, l6: f32, l7: f32, l8: f32, l9: f32, l10: f32, l11: f32, l12: f32, l13: f32, l14: f32, l15: f32, l16: f32, l17: f32, l18: f32, l19: f32, l20: f32, l21: f32, l22: f32, l23: f32, l24: f32, l25: f32, l26: f32) -> Point {
    let v0 = l0;
    let v1 = l1;
    let v2 = 2.0f;
    let v3 = hide32((v1 * operand32(v2)));
    let v4 = l2;
    let v5 = 3.0f;
    let v6 = hide32((v4 * operand32(v5)));
    let v7 = l3;
    let v8 = 4.0f;
    let v9 = hide32((v7 * operand32(v8)));
    let v10 = l4;
    let v11 = 5.0f;
    let v12 = hide32((v10 * operand32(v11)));
    let v13 = l5;
    let v14 = l6;
    let v15 = hide32((v14 * operand32(v2)));
    let v16 = l7;
    let v17 = hide32((v16 * operand32(v5)));
    let v18 = l8;
    let v19 = hide32((v18 * operand32(v8)));
    let v20 = l9;
    let v21 = hide32((v20 * operand32(v11)));
    let v22 = l10;
    let v23 = l11;
    let v24 = hide32((v23 * operand32(v2)));
    let v25 = l12;
    let v26 = hide32((v25 * operand32(v5)));
    let v27 = l13;
    let v28 = hide32((v27 * operand32(v8)));
    let v29 = l14;
    let v30 = hide32((v29 * operand32(v11)));
    let v31 = l15;
    let v32 = l16;
    let v33 = hide32((v32 * operand32(v2)));
    let v34 = l17;
    let v35 = hide32((v34 * operand32(v5)));
    let v36 = l18;
    let v37 = hide32((v36 * operand32(v8)));
    let v38 = l19;
    let v39 = hide32((v38 * operand32(v11)));
    let v40 = l20;
    let v41 = l21;
    let v42 = hide32((v41 * operand32(v2)));
    let v43 = l22;
    let v44 = hide32((v43 * operand32(v5)));
    let v45 = l23;
    let v46 = hide32((v45 * operand32(v8)));
    let v47 = l24;
    let v48 = hide32((v47 * operand32(v11)));
    let v49 = l25;
    let v50 = l26;
    let v51 = hide32((v50 * operand32(v2)));
    let v52 = hide32((v0 + operand32(v3)));
    let v53 = hide32((v52 + operand32(v6)));
    let v54 = hide32((v53 + operand32(v9)));
    let v55 = hide32((v54 + operand32(v12)));
    let v56 = hide32((v55 + operand32(v13)));
    let v57 = hide32((v56 + operand32(v15)));
    let v58 = hide32((v57 + operand32(v17)));
    let v59 = hide32((v58 + operand32(v19)));
    let v60 = hide32((v59 + operand32(v21)));
    let v61 = hide32((v60 + operand32(v22)));
    let v62 = hide32((v61 + operand32(v24)));
    let v63 = hide32((v62 + operand32(v26)));
    let v64 = hide32((v63 + operand32(v28)));
    let v65 = hide32((v64 + operand32(v30)));
    let v66 = hide32((v65 + operand32(v31)));
    let v67 = hide32((v66 + operand32(v33)));
    let v68 = hide32((v67 + operand32(v35)));
    let v69 = hide32((v68 + operand32(v37)));
    let v70 = hide32((v69 + operand32(v39)));
    let v71 = hide32((v70 + operand32(v40)));
    let v72 = hide32((v71 + operand32(v42)));
    let v73 = hide32((v72 + operand32(v44)));
    let v74 = hide32((v73 + operand32(v46)));
    let v75 = hide32((v74 + operand32(v48)));
    let v76 = hide32((v75 + operand32(v49)));
    let v77 = hide32((v76 + operand32(v51)));
    return Point(v77);
  }
@compute @workgroup_size(256)
fn planes(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + launch[0].y * (group.y + launch[0].z * group.z);
  let blocks = number / launch[1].z;
  let block_x = number - blocks * launch[1].z;
  let whole = blocks / launch[1].x;
  let block_y = blocks - whole * launch[1].x;
  let is_there = whole < launch[1].y;
  let n0 = min(whole, launch[1].y - 1u);
  let i0 = n0;
  let pack = (block_x << launch[2].x) + (local & ((1u << launch[2].x) - 1u));
  let row = block_y * (256u >> launch[2].x) + (local >> launch[2].x);
  let own = i0 * 2u;
  let is_mine = is_there && pack < launch[0].w && row < launch[4].y;
  let i1 = min(row, launch[4].y - 1u);
  let start = min(own, launch[4].x - 2u);
  let row0 = bitcast<i32>(launch[7].x) + bitcast<i32>(start) * bitcast<i32>(launch[7].y) + bitcast<i32>(i1) * bitcast<i32>(launch[7].z);
  let row1 = bitcast<i32>(launch[8].x) + bitcast<i32>(start) * bitcast<i32>(launch[8].y) + bitcast<i32>(i1) * bitcast<i32>(launch[8].z);
  let phase = row1 & 3i;
  let x = bitcast<i32>(min(pack, launch[0].w - 1u)) * 4i - phase;
  let head = max(0i - x, 0i);
  let tail = max(x + 4i - bitcast<i32>(launch[4].z), 0i);
  let e0 = row0 + x;
  let e1 = row1 + x;
  let b0 = e0 + -1i * bitcast<i32>(launch[7].y) + -1i * bitcast<i32>(launch[7].z);
  let r0_0 = p0[(b0 >> 2u) + 0i];
  let a0_m1 = at0(bitcast<u32>(b0 + max(-1i, head + -1i)));
  let a0_4 = at0(bitcast<u32>(b0 + min(4i, 4i - tail)));
  let b1 = e0 + -1i * bitcast<i32>(launch[7].y);
  let r1_0 = p0[(b1 >> 2u) + 0i];
  let a1_m1 = at0(bitcast<u32>(b1 + max(-1i, head + -1i)));
  let a1_4 = at0(bitcast<u32>(b1 + min(4i, 4i - tail)));
  let b2 = e0 + -1i * bitcast<i32>(launch[7].y) + 1i * bitcast<i32>(launch[7].z);
  let r2_0 = p0[(b2 >> 2u) + 0i];
  let a2_m1 = at0(bitcast<u32>(b2 + max(-1i, head + -1i)));
  let a2_4 = at0(bitcast<u32>(b2 + min(4i, 4i - tail)));
  let b3 = e0 + -1i * bitcast<i32>(launch[7].z);
  let r3_0 = p0[(b3 >> 2u) + 0i];
  let a3_m1 = at0(bitcast<u32>(b3 + max(-1i, head + -1i)));
  let a3_4 = at0(bitcast<u32>(b3 + min(4i, 4i - tail)));
  let b4 = e0;
  let r4_0 = p0[(b4 >> 2u) + 0i];
  let a4_m1 = at0(bitcast<u32>(b4 + max(-1i, head + -1i)));
  let a4_4 = at0(bitcast<u32>(b4 + min(4i, 4i - tail)));
  let b5 = e0 + 1i * bitcast<i32>(launch[7].z);
  let r5_0 = p0[(b5 >> 2u) + 0i];
  let a5_m1 = at0(bitcast<u32>(b5 + max(-1i, head + -1i)));
  let a5_4 = at0(bitcast<u32>(b5 + min(4i, 4i - tail)));
  let b6 = e0 + 1i * bitcast<i32>(launch[7].y) + -1i * bitcast<i32>(launch[7].z);
  let r6_0 = p0[(b6 >> 2u) + 0i];
  let a6_m1 = at0(bitcast<u32>(b6 + max(-1i, head + -1i)));
  let a6_4 = at0(bitcast<u32>(b6 + min(4i, 4i - tail)));
  let b7 = e0 + 1i * bitcast<i32>(launch[7].y);
  let r7_0 = p0[(b7 >> 2u) + 0i];
  let a7_m1 = at0(bitcast<u32>(b7 + max(-1i, head + -1i)));
  let a7_4 = at0(bitcast<u32>(b7 + min(4i, 4i - tail)));
  let b8 = e0 + 1i * bitcast<i32>(launch[7].y) + 1i * bitcast<i32>(launch[7].z);
  let r8_0 = p0[(b8 >> 2u) + 0i];
  let a8_m1 = at0(bitcast<u32>(b8 + max(-1i, head + -1i)));
  let a8_4 = at0(bitcast<u32>(b8 + min(4i, 4i - tail)));
  let b9 = e0 + 2i * bitcast<i32>(launch[7].y) + -1i * bitcast<i32>(launch[7].z);
  let r9_0 = p0[(b9 >> 2u) + 0i];
  let a9_m1 = at0(bitcast<u32>(b9 + max(-1i, head + -1i)));
  let a9_4 = at0(bitcast<u32>(b9 + min(4i, 4i - tail)));
  let b10 = e0 + 2i * bitcast<i32>(launch[7].y);
  let r10_0 = p0[(b10 >> 2u) + 0i];
  let a10_m1 = at0(bitcast<u32>(b10 + max(-1i, head + -1i)));
  let a10_4 = at0(bitcast<u32>(b10 + min(4i, 4i - tail)));
  let b11 = e0 + 2i * bitcast<i32>(launch[7].y) + 1i * bitcast<i32>(launch[7].z);
  let r11_0 = p0[(b11 >> 2u) + 0i];
  let a11_m1 = at0(bitcast<u32>(b11 + max(-1i, head + -1i)));
  let a11_4 = at0(bitcast<u32>(b11 + min(4i, 4i - tail)));
  {
    let y0 = value(bitcast<f32>(a0_m1), bitcast<f32>(r0_0.x), bitcast<f32>(r0_0.y), bitcast<f32>(a1_m1), bitcast<f32>(r1_0.x), bitcast<f32>(r1_0.y), bitcast<f32>(a2_m1), bitcast<f32>(r2_0.x), bitcast<f32>(r2_0.y), bitcast<f32>(a3_m1), bitcast<f32>(r3_0.x), bitcast<f32>(r3_0.y), bitcast<f32>(a4_m1), bitcast<f32>(r4_0.x), bitcast<f32>(r4_0.y), bitcast<f32>(a5_m1), bitcast<f32>(r5_0.x), bitcast<f32>(r5_0.y), bitcast<f32>(a6_m1), bitcast<f32>(r6_0.x), bitcast<f32>(r6_0.y), bitcast<f32>(a7_m1), bitcast<f32>(r7_0.x), bitcast<f32>(r7_0.y), bitcast<f32>(a8_m1), bitcast<f32>(r8_0.x), bitcast<f32>(r8_0.y));
    let y1 = value(bitcast<f32>(r0_0.x), bitcast<f32>(r0_0.y), bitcast<f32>(r0_0.z), bitcast<f32>(r1_0.x), bitcast<f32>(r1_0.y), bitcast<f32>(r1_0.z), bitcast<f32>(r2_0.x), bitcast<f32>(r2_0.y), bitcast<f32>(r2_0.z), bitcast<f32>(r3_0.x), bitcast<f32>(r3_0.y), bitcast<f32>(r3_0.z), bitcast<f32>(r4_0.x), bitcast<f32>(r4_0.y), bitcast<f32>(r4_0.z), bitcast<f32>(r5_0.x), bitcast<f32>(r5_0.y), bitcast<f32>(r5_0.z), bitcast<f32>(r6_0.x), bitcast<f32>(r6_0.y), bitcast<f32>(r6_0.z), bitcast<f32>(r7_0.x), bitcast<f32>(r7_0.y), bitcast<f32>(r7_0.z), bitcast<f32>(r8_0.x), bitcast<f32>(r8_0.y), bitcast<f32>(r8_0.z));
    let y2 = value(bitcast<f32>(r0_0.y), bitcast<f32>(r0_0.z), bitcast<f32>(r0_0.w), bitcast<f32>(r1_0.y), bitcast<f32>(r1_0.z), bitcast<f32>(r1_0.w), bitcast<f32>(r2_0.y), bitcast<f32>(r2_0.z), bitcast<f32>(r2_0.w), bitcast<f32>(r3_0.y), bitcast<f32>(r3_0.z), bitcast<f32>(r3_0.w), bitcast<f32>(r4_0.y), bitcast<f32>(r4_0.z), bitcast<f32>(r4_0.w), bitcast<f32>(r5_0.y), bitcast<f32>(r5_0.z), bitcast<f32>(r5_0.w), bitcast<f32>(r6_0.y), bitcast<f32>(r6_0.z), bitcast<f32>(r6_0.w), bitcast<f32>(r7_0.y), bitcast<f32>(r7_0.z), bitcast<f32>(r7_0.w), bitcast<f32>(r8_0.y), bitcast<f32>(r8_0.z), bitcast<f32>(r8_0.w));
    let y3 = value(bitcast<f32>(r0_0.z), bitcast<f32>(r0_0.w), bitcast<f32>(a0_4), bitcast<f32>(r1_0.z), bitcast<f32>(r1_0.w), bitcast<f32>(a1_4), bitcast<f32>(r2_0.z), bitcast<f32>(r2_0.w), bitcast<f32>(a2_4), bitcast<f32>(r3_0.z), bitcast<f32>(r3_0.w), bitcast<f32>(a3_4), bitcast<f32>(r4_0.z), bitcast<f32>(r4_0.w), bitcast<f32>(a4_4), bitcast<f32>(r5_0.z), bitcast<f32>(r5_0.w), bitcast<f32>(a5_4), bitcast<f32>(r6_0.z), bitcast<f32>(r6_0.w), bitcast<f32>(a6_4), bitcast<f32>(r7_0.z), bitcast<f32>(r7_0.w), bitcast<f32>(a7_4), bitcast<f32>(r8_0.z), bitcast<f32>(r8_0.w), bitcast<f32>(a8_4));
    if (is_mine && start + 0u >= own) {
      let o1_0 = vec4<u32>(bitcast<u32>(y0.s0), bitcast<u32>(y1.s0), bitcast<u32>(y2.s0), bitcast<u32>(y3.s0));
      let w1 = e1 + 0i * bitcast<i32>(launch[8].y);
      if ((head | tail | (w1 & 3i)) == 0i && 1i == 1i) {
        p1[(w1 >> 2u) + 0i] = o1_0;
      } else {
        if (head <= 0i && 0i < 4i - tail) { put1(bitcast<u32>(w1 + 0i * 1i), o1_0.x); }
        if (head <= 1i && 1i < 4i - tail) { put1(bitcast<u32>(w1 + 1i * 1i), o1_0.y); }
        if (head <= 2i && 2i < 4i - tail) { put1(bitcast<u32>(w1 + 2i * 1i), o1_0.z); }
        if (head <= 3i && 3i < 4i - tail) { put1(bitcast<u32>(w1 + 3i * 1i), o1_0.w); }
      }
    }
  }
  {
    let y0 = value(bitcast<f32>(a3_m1), bitcast<f32>(r3_0.x), bitcast<f32>(r3_0.y), bitcast<f32>(a4_m1), bitcast<f32>(r4_0.x), bitcast<f32>(r4_0.y), bitcast<f32>(a5_m1), bitcast<f32>(r5_0.x), bitcast<f32>(r5_0.y), bitcast<f32>(a6_m1), bitcast<f32>(r6_0.x), bitcast<f32>(r6_0.y), bitcast<f32>(a7_m1), bitcast<f32>(r7_0.x), bitcast<f32>(r7_0.y), bitcast<f32>(a8_m1), bitcast<f32>(r8_0.x), bitcast<f32>(r8_0.y), bitcast<f32>(a9_m1), bitcast<f32>(r9_0.x), bitcast<f32>(r9_0.y), bitcast<f32>(a10_m1), bitcast<f32>(r10_0.x), bitcast<f32>(r10_0.y), bitcast<f32>(a11_m1), bitcast<f32>(r11_0.x), bitcast<f32>(r11_0.y));
    let y1 = value(bitcast<f32>(r3_0.x), bitcast<f32>(r3_0.y), bitcast<f32>(r3_0.z), bitcast<f32>(r4_0.x), bitcast<f32>(r4_0.y), bitcast<f32>(r4_0.z), bitcast<f32>(r5_0.x), bitcast<f32>(r5_0.y), bitcast<f32>(r5_0.z), bitcast<f32>(r6_0.x), bitcast<f32>(r6_0.y), bitcast<f32>(r6_0.z), bitcast<f32>(r7_0.x), bitcast<f32>(r7_0.y), bitcast<f32>(r7_0.z), bitcast<f32>(r8_0.x), bitcast<f32>(r8_0.y), bitcast<f32>(r8_0.z), bitcast<f32>(r9_0.x), bitcast<f32>(r9_0.y), bitcast<f32>(r9_0.z), bitcast<f32>(r10_0.x), bitcast<f32>(r10_0.y), bitcast<f32>(r10_0.z), bitcast<f32>(r11_0.x), bitcast<f32>(r11_0.y), bitcast<f32>(r11_0.z));
    let y2 = value(bitcast<f32>(r3_0.y), bitcast<f32>(r3_0.z), bitcast<f32>(r3_0.w), bitcast<f32>(r4_0.y), bitcast<f32>(r4_0.z), bitcast<f32>(r4_0.w), bitcast<f32>(r5_0.y), bitcast<f32>(r5_0.z), bitcast<f32>(r5_0.w), bitcast<f32>(r6_0.y), bitcast<f32>(r6_0.z), bitcast<f32>(r6_0.w), bitcast<f32>(r7_0.y), bitcast<f32>(r7_0.z), bitcast<f32>(r7_0.w), bitcast<f32>(r8_0.y), bitcast<f32>(r8_0.z), bitcast<f32>(r8_0.w), bitcast<f32>(r9_0.y), bitcast<f32>(r9_0.z), bitcast<f32>(r9_0.w), bitcast<f32>(r10_0.y), bitcast<f32>(r10_0.z), bitcast<f32>(r10_0.w), bitcast<f32>(r11_0.y), bitcast<f32>(r11_0.z), bitcast<f32>(r11_0.w));
    let y3 = value(bitcast<f32>(r3_0.z), bitcast<f32>(r3_0.w), bitcast<f32>(a3_4), bitcast<f32>(r4_0.z), bitcast<f32>(r4_0.w), bitcast<f32>(a4_4), bitcast<f32>(r5_0.z), bitcast<f32>(r5_0.w), bitcast<f32>(a5_4), bitcast<f32>(r6_0.z), bitcast<f32>(r6_0.w), bitcast<f32>(a6_4), bitcast<f32>(r7_0.z), bitcast<f32>(r7_0.w), bitcast<f32>(a7_4), bitcast<f32>(r8_0.z), bitcast<f32>(r8_0.w), bitcast<f32>(a8_4), bitcast<f32>(r9_0.z), bitcast<f32>(r9_0.w), bitcast<f32>(a9_4), bitcast<f32>(r10_0.z), bitcast<f32>(r10_0.w), bitcast<f32>(a10_4), bitcast<f32>(r11_0.z), bitcast<f32>(r11_0.w), bitcast<f32>(a11_4));
    if (is_mine && start + 1u >= own) {
      let o1_0 = vec4<u32>(bitcast<u32>(y0.s0), bitcast<u32>(y1.s0), bitcast<u32>(y2.s0), bitcast<u32>(y3.s0));
      let w1 = e1 + 1i * bitcast<i32>(launch[8].y);
      if ((head | tail | (w1 & 3i)) == 0i && 1i == 1i) {
        p1[(w1 >> 2u) + 0i] = o1_0;
      } else {
        if (head <= 0i && 0i < 4i - tail) { put1(bitcast<u32>(w1 + 0i * 1i), o1_0.x); }
        if (head <= 1i && 1i < 4i - tail) { put1(bitcast<u32>(w1 + 1i * 1i), o1_0.y); }
        if (head <= 2i && 2i < 4i - tail) { put1(bitcast<u32>(w1 + 2i * 1i), o1_0.z); }
        if (head <= 3i && 3i < 4i - tail) { put1(bitcast<u32>(w1 + 3i * 1i), o1_0.w); }
      }
    }
  }
}
