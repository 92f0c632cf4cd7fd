// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 12>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> p2: array<vec4<u32>>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn at2(e: u32) -> u32 { return p2[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u][e & 3u] = x; }
fn put2(e: u32, x: u32) { p2[e >> 2u][e & 3u] = x; }
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
  let row2_0 = bitcast<i32>(launch[9].x) + bitcast<i32>(at_0.i0) * bitcast<i32>(launch[9].y) + bitcast<i32>(at_0.i1) * bitcast<i32>(launch[9].z);
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row1_0 & 3i, bitcast<i32>(launch[8].w) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].z), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[7].w);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[8].w);
  let e2_0 = row2_0 + x_0 * bitcast<i32>(launch[9].w);
  var s0_0 = 0u;
  var r0_0_0: vec4<u32>;
  var r0_0_1: vec4<u32>;
  var r0_0_2: vec4<u32>;
  var s1_0 = 0u;
  var r1_0_0: vec4<u32>;
  var r1_0_1: vec4<u32>;
  var s2_0 = 0u;
  var r2_0_0: vec4<u32>;
  var r2_0_1: vec4<u32>;
  var s3_0 = 0u;
  var r3_0_0: vec4<u32>;
  var r3_0_1: vec4<u32>;
  var s4_0 = 0u;
  var r4_0_0: vec4<u32>;
  var r4_0_1: vec4<u32>;
  var s5_0 = 0u;
  var r5_0_0: vec4<u32>;
  var r5_0_1: vec4<u32>;
  let b0_0 = e0_0 + bitcast<i32>(launch[11].x);
  let b1_0 = e0_0 + bitcast<i32>(launch[10].x);
  let b2_0 = e0_0 + bitcast<i32>(launch[10].y);
  let b3_0 = e0_0 + bitcast<i32>(launch[10].z);
  let b4_0 = e0_0 + bitcast<i32>(launch[10].w);
  let b5_0 = e2_0;
  if (bitcast<i32>(launch[7].w) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 5i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)];
    if ((b0_0 >> 2u) + 2i <= high0) { r0_0_2 = p0[min(max((b0_0 >> 2u) + 2i, low0), high0)]; }
    s1_0 = bitcast<u32>(b1_0) & 3u;
    let low1 = (b1_0 + head_0) >> 2u;
    let high1 = (b1_0 + 3i - tail_0) >> 2u;
    r1_0_0 = p0[min(max((b1_0 >> 2u) + 0i, low1), high1)];
    if ((b1_0 >> 2u) + 1i <= high1) { r1_0_1 = p0[min(max((b1_0 >> 2u) + 1i, low1), high1)]; }
    s2_0 = bitcast<u32>(b2_0) & 3u;
    let low2 = (b2_0 + head_0) >> 2u;
    let high2 = (b2_0 + 3i - tail_0) >> 2u;
    r2_0_0 = p0[min(max((b2_0 >> 2u) + 0i, low2), high2)];
    if ((b2_0 >> 2u) + 1i <= high2) { r2_0_1 = p0[min(max((b2_0 >> 2u) + 1i, low2), high2)]; }
    s3_0 = bitcast<u32>(b3_0) & 3u;
    let low3 = (b3_0 + head_0) >> 2u;
    let high3 = (b3_0 + 3i - tail_0) >> 2u;
    r3_0_0 = p0[min(max((b3_0 >> 2u) + 0i, low3), high3)];
    if ((b3_0 >> 2u) + 1i <= high3) { r3_0_1 = p0[min(max((b3_0 >> 2u) + 1i, low3), high3)]; }
    s4_0 = bitcast<u32>(b4_0) & 3u;
    let low4 = (b4_0 + head_0) >> 2u;
    let high4 = (b4_0 + 3i - tail_0) >> 2u;
    r4_0_0 = p0[min(max((b4_0 >> 2u) + 0i, low4), high4)];
    if ((b4_0 >> 2u) + 1i <= high4) { r4_0_1 = p0[min(max((b4_0 >> 2u) + 1i, low4), high4)]; }
  } else {
    r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r0_0_1 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[7].w))));
    r1_0_0 = vec4<u32>(at0(bitcast<u32>(b1_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b1_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))));
    r2_0_0 = vec4<u32>(at0(bitcast<u32>(b2_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b2_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))));
    r3_0_0 = vec4<u32>(at0(bitcast<u32>(b3_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b3_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))));
    r4_0_0 = vec4<u32>(at0(bitcast<u32>(b4_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))), at0(bitcast<u32>(b4_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[7].w))));
  }
  if (bitcast<i32>(launch[9].w) == 1i) {
    s5_0 = bitcast<u32>(b5_0) & 3u;
    let low5 = (b5_0 + head_0) >> 2u;
    let high5 = (b5_0 + 3i - tail_0) >> 2u;
    r5_0_0 = p2[min(max((b5_0 >> 2u) + 0i, low5), high5)];
    if ((b5_0 >> 2u) + 1i <= high5) { r5_0_1 = p2[min(max((b5_0 >> 2u) + 1i, low5), high5)]; }
  } else {
    r5_0_0 = vec4<u32>(at2(bitcast<u32>(b5_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[9].w))), at2(bitcast<u32>(b5_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[9].w))), at2(bitcast<u32>(b5_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[9].w))), at2(bitcast<u32>(b5_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[9].w))));
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
      r0_0_1 = move32(r0_0_1, r0_0_2, s0_0);
    }
    if (s1_0 != 0u) {
      r1_0_0 = move32(r1_0_0, r1_0_1, s1_0);
    }
    if (s2_0 != 0u) {
      r2_0_0 = move32(r2_0_0, r2_0_1, s2_0);
    }
    if (s3_0 != 0u) {
      r3_0_0 = move32(r3_0_0, r3_0_1, s3_0);
    }
    if (s4_0 != 0u) {
      r4_0_0 = move32(r4_0_0, r4_0_1, s4_0);
    }
    if (s5_0 != 0u) {
      r5_0_0 = move32(r5_0_0, r5_0_1, s5_0);
    }
    var o1_0: vec4<u32>;
    var o2_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let i0 = at_0.i0;
      let i1 = at_0.i1;
      let i2 = bitcast<u32>(x_0 + j);
      let v0 = bitcast<f32>(r0_0_0.y);
      let v1 = bitcast<f32>(r1_0_0.x);
      let v2 = hide32((v0 + operand32(v1)));
      let v3 = bitcast<f32>(r2_0_0.x);
      let v4 = hide32((v2 + operand32(v3)));
      let v5 = (bitcast<i32>(launch[5].z) + bitcast<i32>(i0));
      let v6 = hide32(f32(v5));
      let v7 = hide32((v4 + operand32(v6)));
      let v8 = bitcast<f32>(r3_0_0.x);
      let v9 = hide32((v7 + operand32(v8)));
      let v10 = bitcast<f32>(r4_0_0.x);
      let v11 = hide32((v9 + operand32(v10)));
      let v12 = (bitcast<i32>(launch[6].x) + bitcast<i32>(i1));
      let v13 = hide32(f32(v12));
      let v14 = hide32((v11 + operand32(v13)));
      let v15 = bitcast<f32>(r0_0_0.x);
      let v16 = hide32((v14 + operand32(v15)));
      let v17 = bitcast<f32>(r0_0_0.z);
      let v18 = hide32((v16 + operand32(v17)));
      let v19 = (bitcast<i32>(launch[6].z) + bitcast<i32>(i2));
      let v20 = hide32(f32(v19));
      let v21 = hide32((v18 + operand32(v20)));
      let v22 = bitcast<f32>(launch[11].z);
      let v23 = bitcast<f32>(r5_0_0.x);
      let v24 = hide32((v21 * operand32(v22)));
      let v25 = hide32((v23 - operand32(v24)));
      o1_0 = move32(o1_0, vec4<u32>(bitcast<u32>(v24), 0u, 0u, 0u), 1u);
      o2_0 = move32(o2_0, vec4<u32>(bitcast<u32>(v25), 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
      r0_0_1 = move32(r0_0_1, r0_0_2, 1u);
      r1_0_0 = move32(r1_0_0, r1_0_1, 1u);
      r2_0_0 = move32(r2_0_0, r2_0_1, 1u);
      r3_0_0 = move32(r3_0_0, r3_0_1, 1u);
      r4_0_0 = move32(r4_0_0, r4_0_1, 1u);
      r5_0_0 = move32(r5_0_0, r5_0_1, 1u);
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
      if ((head_0 | tail_0 | (e2_0 & 3i)) == 0i && bitcast<i32>(launch[9].w) == 1i) {
        p2[(e2_0 >> 2u) + 0i] = o2_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 0i * bitcast<i32>(launch[9].w)), o2_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 1i * bitcast<i32>(launch[9].w)), o2_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 2i * bitcast<i32>(launch[9].w)), o2_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 3i * bitcast<i32>(launch[9].w)), o2_0.w); }
      }
    }
  }
}
