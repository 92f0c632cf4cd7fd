// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> p1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> p2: array<u32>;
@group(0) @binding(4) var<storage, read_write> p3: array<u32>;
@group(0) @binding(5) var<storage, read_write> p4: array<u32>;
@group(0) @binding(6) var<storage, read_write> p5: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> p6: array<vec4<u32>>;

fn move8(a: u32, b: u32, by: u32) -> u32 { return (a >> (8u * by)) | (b << (32u - 8u * by)); }
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
fn at_most32(x: f32, y: f32) -> bool { return order32(x) <= order32(y) && !nan32(x) && !nan32(y); }
fn equal32(x: f32, y: f32) -> bool { return order32(x) == order32(y) && !nan32(x); }
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn at1(e: u32) -> u32 { return p1[e >> 2u][e & 3u]; }
fn put2(e: u32, x: u32) { p2[e >> 2u] = (p2[e >> 2u] & ~(0xffu << ((e & 3u) << 3u))) | (x << ((e & 3u) << 3u)); }
fn put3(e: u32, x: u32) { p3[e >> 2u] = (p3[e >> 2u] & ~(0xffu << ((e & 3u) << 3u))) | (x << ((e & 3u) << 3u)); }
fn put4(e: u32, x: u32) { p4[e >> 2u] = (p4[e >> 2u] & ~(0xffu << ((e & 3u) << 3u))) | (x << ((e & 3u) << 3u)); }
fn put5(e: u32, x: u32) { p5[e >> 2u][e & 3u] = x; }
fn put6(e: u32, x: u32) { p6[e >> 2u][e & 3u] = x; }
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
  let item_0 = first + 0u;
  var pack_0 = min(item_0, launch[0].w - 1u);
  let row0_0 = bitcast<i32>(launch[5].x);
  let row1_0 = bitcast<i32>(launch[5].z);
  let row2_0 = bitcast<i32>(launch[6].x);
  let row3_0 = bitcast<i32>(launch[6].z);
  let row4_0 = bitcast<i32>(launch[7].x);
  let row5_0 = bitcast<i32>(launch[7].z);
  let row6_0 = bitcast<i32>(launch[8].x);
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row2_0 & 3i, bitcast<i32>(launch[6].y) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[5].y);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[5].w);
  let e2_0 = row2_0 + x_0 * bitcast<i32>(launch[6].y);
  let e3_0 = row3_0 + x_0 * bitcast<i32>(launch[6].w);
  let e4_0 = row4_0 + x_0 * bitcast<i32>(launch[7].y);
  let e5_0 = row5_0 + x_0 * bitcast<i32>(launch[7].w);
  let e6_0 = row6_0 + x_0 * bitcast<i32>(launch[8].y);
  var s0_0 = 0u;
  var r0_0_0: vec4<u32>;
  var r0_0_1: vec4<u32>;
  var s1_0 = 0u;
  var r1_0_0: vec4<u32>;
  var r1_0_1: vec4<u32>;
  let b0_0 = e0_0;
  let b1_0 = e1_0;
  if (bitcast<i32>(launch[5].y) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 3i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    if ((b0_0 >> 2u) + 1i <= high0) { r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))));
  }
  if (bitcast<i32>(launch[5].w) == 1i) {
    s1_0 = bitcast<u32>(b1_0) & 3u;
    let low1 = (b1_0 + head_0) >> 2u;
    let high1 = (b1_0 + 3i - tail_0) >> 2u;
    r1_0_0 = p1[min(max((b1_0 >> 2u) + 0i, low1), high1)];
    if ((b1_0 >> 2u) + 1i <= high1) { r1_0_1 = p1[min(max((b1_0 >> 2u) + 1i, low1), high1)]; }
  } else {
    r1_0_0 = vec4<u32>(at1(bitcast<u32>(b1_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].w))), at1(bitcast<u32>(b1_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].w))), at1(bitcast<u32>(b1_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].w))), at1(bitcast<u32>(b1_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].w))));
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
    }
    if (s1_0 != 0u) {
      r1_0_0 = move32(r1_0_0, r1_0_1, s1_0);
    }
    var o2_0: u32;
    var o3_0: u32;
    var o4_0: u32;
    var o5_0: vec4<u32>;
    var o6_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_0_0.x);
      let v1 = bitcast<f32>(r1_0_0.x);
      let v2 = nan32(v0);
      let v3 = !equal32(v0, v0);
      let v4 = at_most32(v0, v1);
      let v5 = select(v1, v0, less32(v0, v1) || nan32(v0));
      let v6 = select(v1, v0, less32(v1, v0) || nan32(v0));
      o2_0 = move8(o2_0, select(0u, 1u, v2), 1u);
      o3_0 = move8(o3_0, select(0u, 1u, v3), 1u);
      o4_0 = move8(o4_0, select(0u, 1u, v4), 1u);
      o5_0 = move32(o5_0, vec4<u32>(bitcast<u32>(v5), 0u, 0u, 0u), 1u);
      o6_0 = move32(o6_0, vec4<u32>(bitcast<u32>(v6), 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
      r1_0_0 = move32(r1_0_0, r1_0_1, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e2_0 & 3i)) == 0i && bitcast<i32>(launch[6].y) == 1i) {
        p2[(e2_0 >> 2u) + 0i] = o2_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 0i * bitcast<i32>(launch[6].y)), (o2_0 >> 0u) & 0xffu); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 1i * bitcast<i32>(launch[6].y)), (o2_0 >> 8u) & 0xffu); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 2i * bitcast<i32>(launch[6].y)), (o2_0 >> 16u) & 0xffu); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 3i * bitcast<i32>(launch[6].y)), (o2_0 >> 24u) & 0xffu); }
      }
      if ((head_0 | tail_0 | (e3_0 & 3i)) == 0i && bitcast<i32>(launch[6].w) == 1i) {
        p3[(e3_0 >> 2u) + 0i] = o3_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 0i * bitcast<i32>(launch[6].w)), (o3_0 >> 0u) & 0xffu); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 1i * bitcast<i32>(launch[6].w)), (o3_0 >> 8u) & 0xffu); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 2i * bitcast<i32>(launch[6].w)), (o3_0 >> 16u) & 0xffu); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 3i * bitcast<i32>(launch[6].w)), (o3_0 >> 24u) & 0xffu); }
      }
      if ((head_0 | tail_0 | (e4_0 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p4[(e4_0 >> 2u) + 0i] = o4_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 0i * bitcast<i32>(launch[7].y)), (o4_0 >> 0u) & 0xffu); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 1i * bitcast<i32>(launch[7].y)), (o4_0 >> 8u) & 0xffu); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 2i * bitcast<i32>(launch[7].y)), (o4_0 >> 16u) & 0xffu); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 3i * bitcast<i32>(launch[7].y)), (o4_0 >> 24u) & 0xffu); }
      }
      if ((head_0 | tail_0 | (e5_0 & 3i)) == 0i && bitcast<i32>(launch[7].w) == 1i) {
        p5[(e5_0 >> 2u) + 0i] = o5_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 0i * bitcast<i32>(launch[7].w)), o5_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 1i * bitcast<i32>(launch[7].w)), o5_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 2i * bitcast<i32>(launch[7].w)), o5_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 3i * bitcast<i32>(launch[7].w)), o5_0.w); }
      }
      if ((head_0 | tail_0 | (e6_0 & 3i)) == 0i && bitcast<i32>(launch[8].y) == 1i) {
        p6[(e6_0 >> 2u) + 0i] = o6_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 0i * bitcast<i32>(launch[8].y)), o6_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 1i * bitcast<i32>(launch[8].y)), o6_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 2i * bitcast<i32>(launch[8].y)), o6_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 3i * bitcast<i32>(launch[8].y)), o6_0.w); }
      }
    }
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read> p1: array<f32>;
@group(0) @binding(3) var<storage, read_write> p2: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> p3: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> p4: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> p5: array<f32>;
@group(0) @binding(7) var<storage, read_write> p6: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn order32(x: f32) -> i32 {
  let bits = bitcast<u32>(x);
  return bitcast<i32>(select(bits, 0x80000000u - bits, bits >= 0x80000000u));
}
fn less32(x: f32, y: f32) -> bool { return order32(x) < order32(y) && !nan32(x) && !nan32(y); }
fn at_most32(x: f32, y: f32) -> bool { return order32(x) <= order32(y) && !nan32(x) && !nan32(y); }
fn equal32(x: f32, y: f32) -> bool { return order32(x) == order32(y) && !nan32(x); }
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
  if (first < launch[0].w) {
    var x = first;
    let i0 = x;
    let e0 = bitcast<i32>(launch[5].x) + bitcast<i32>(i0) * bitcast<i32>(launch[5].y);
    let e1 = bitcast<i32>(launch[5].z) + bitcast<i32>(i0) * bitcast<i32>(launch[5].w);
    let e2 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y);
    let e3 = bitcast<i32>(launch[6].z) + bitcast<i32>(i0) * bitcast<i32>(launch[6].w);
    let e4 = bitcast<i32>(launch[7].x) + bitcast<i32>(i0) * bitcast<i32>(launch[7].y);
    let e5 = bitcast<i32>(launch[7].z) + bitcast<i32>(i0) * bitcast<i32>(launch[7].w);
    let e6 = bitcast<i32>(launch[8].x) + bitcast<i32>(i0) * bitcast<i32>(launch[8].y);
    let v0 = p0[bitcast<u32>(e0)];
    let v1 = p1[bitcast<u32>(e1)];
    let v2 = nan32(v0);
    let v3 = !equal32(v0, v0);
    let v4 = at_most32(v0, v1);
    let v5 = select(v1, v0, less32(v0, v1) || nan32(v0));
    let v6 = select(v1, v0, less32(v1, v0) || nan32(v0));
    let w2 = bitcast<u32>(e2);
    atomicAnd(&p2[w2 >> 2u], ~(0xffu << ((w2 & 3u) << 3u)));
    atomicOr(&p2[w2 >> 2u], select(0u, 1u, v2) << ((w2 & 3u) << 3u));
    let w3 = bitcast<u32>(e3);
    atomicAnd(&p3[w3 >> 2u], ~(0xffu << ((w3 & 3u) << 3u)));
    atomicOr(&p3[w3 >> 2u], select(0u, 1u, v3) << ((w3 & 3u) << 3u));
    let w4 = bitcast<u32>(e4);
    atomicAnd(&p4[w4 >> 2u], ~(0xffu << ((w4 & 3u) << 3u)));
    atomicOr(&p4[w4 >> 2u], select(0u, 1u, v4) << ((w4 & 3u) << 3u));
    let w5 = bitcast<u32>(e5);
    p5[w5] = v5;
    let w6 = bitcast<u32>(e6);
    p6[w6] = v6;
  }
}
