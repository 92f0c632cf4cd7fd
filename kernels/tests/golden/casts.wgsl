// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<u32>;
@group(0) @binding(3) var<storage, read_write> p2: array<u32>;
@group(0) @binding(4) var<storage, read_write> p3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> p4: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> p5: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> p6: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> p7: array<vec4<u32>>;

fn move8(a: u32, b: u32, by: u32) -> u32 { return (a >> (8u * by)) | (b << (32u - 8u * by)); }
fn move16(a: vec2<u32>, b: vec2<u32>, by: u32) -> vec2<u32> {
  let lows = select(a, vec2<u32>(a.y, b.x), by >= 2u);
  let highs = select(vec2<u32>(a.y, b.x), b, by >= 2u);
  return select(lows, (lows >> vec2<u32>(16u)) | (highs << vec2<u32>(16u)), (by & 1u) != 0u);
}
fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn to_f16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let a = bits & 0x7fffffffu;
  let fraction = (a >> 13u) & 0x3ffu;
  let normal = (a + 0xfffu + ((a >> 13u) & 1u) - 0x38000000u) >> 13u;
  let drop = clamp(126u - (a >> 23u), 1u, 25u);
  let m = (a & 0x7fffffu) | 0x800000u;
  let tiny = (m + (1u << (drop - 1u)) - 1u + ((m >> drop) & 1u)) >> drop;
  var half = select(normal, tiny, a < 0x38800000u);
  half = select(half, 0u, a < 0x33000000u);
  half = select(half, 0x7c00u, a >= 0x477ff000u);
  half = select(half, 0x7c00u | fraction | select(0u, 0x200u, fraction == 0u), a > 0x7f800000u);
  return sign | half;
}
fn from_f16(half: u32) -> f32 {
  let sign = (half & 0x8000u) << 16u;
  let a = half & 0x7fffu;
  let lead = countLeadingZeros(max(a, 1u)) - 21u;
  let tiny = select(0u, ((113u - lead) << 23u) | (((a << lead) & 0x3ffu) << 13u), a != 0u);
  let normal = (a << 13u) + select(0x38000000u, 0x70000000u, a >= 0x7c00u);
  return bitcast<f32>(sign | select(normal, tiny, a < 0x400u));
}
fn round_f16(x: f32) -> f32 { return from_f16(to_f16(x)); }
fn to_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let nan = (bits >> 16u) | select(0u, 0x40u, (bits & 0x7f0000u) == 0u);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, nan, (bits & 0x7fffffffu) > 0x7f800000u);
}
fn round_bf16(x: f32) -> f32 { return bitcast<f32>(to_bf16(x) << 16u); }
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u] = (p1[e >> 2u] & ~(0xffu << ((e & 3u) << 3u))) | (x << ((e & 3u) << 3u)); }
fn put2(e: u32, x: u32) { p2[e >> 2u] = (p2[e >> 2u] & ~(0xffu << ((e & 3u) << 3u))) | (x << ((e & 3u) << 3u)); }
fn put3(e: u32, x: u32) { p3[e >> 2u][e & 3u] = x; }
fn put4(e: u32, x: u32) { p4[e >> 2u][e & 3u] = x; }
fn put5(e: u32, x: u32) { p5[e >> 2u][(e >> 1u) & 1u] = (p5[e >> 2u][(e >> 1u) & 1u] & ~(0xffffu << ((e & 1u) << 4u))) | (x << ((e & 1u) << 4u)); }
fn put6(e: u32, x: u32) { p6[e >> 2u][(e >> 1u) & 1u] = (p6[e >> 2u][(e >> 1u) & 1u] & ~(0xffffu << ((e & 1u) << 4u))) | (x << ((e & 1u) << 4u)); }
fn put7(e: u32, x: u32) { p7[e >> 2u][e & 3u] = x; }
@compute @workgroup_size(256)
fn elementwise(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + launch[0].y * (group.y + launch[0].z * group.z);
  let chunks = launch[1].x;
  var first = number * 512u + local;
  var row = 0u;
  if (chunks != 0u) {
    row = number;
    if (chunks > 1u) { row = number / chunks; }
    first = (number - row * chunks) * 512u + local;
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
  let row7_0 = bitcast<i32>(launch[8].z);
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row1_0 & 3i, bitcast<i32>(launch[5].w) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[5].y);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[5].w);
  let e2_0 = row2_0 + x_0 * bitcast<i32>(launch[6].y);
  let e3_0 = row3_0 + x_0 * bitcast<i32>(launch[6].w);
  let e4_0 = row4_0 + x_0 * bitcast<i32>(launch[7].y);
  let e5_0 = row5_0 + x_0 * bitcast<i32>(launch[7].w);
  let e6_0 = row6_0 + x_0 * bitcast<i32>(launch[8].y);
  let e7_0 = row7_0 + x_0 * bitcast<i32>(launch[8].w);
  var s0_0 = 0u;
  var r0_0_0: vec4<u32>;
  var r0_0_1: vec4<u32>;
  let b0_0 = e0_0;
  if (bitcast<i32>(launch[5].y) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 3i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    if ((b0_0 >> 2u) + 1i <= high0) { r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))));
  }
  let item_1 = first + 256u;
  var pack_1 = min(item_1, launch[0].w - 1u);
  let row0_1 = bitcast<i32>(launch[5].x);
  let row1_1 = bitcast<i32>(launch[5].z);
  let row2_1 = bitcast<i32>(launch[6].x);
  let row3_1 = bitcast<i32>(launch[6].z);
  let row4_1 = bitcast<i32>(launch[7].x);
  let row5_1 = bitcast<i32>(launch[7].z);
  let row6_1 = bitcast<i32>(launch[8].x);
  let row7_1 = bitcast<i32>(launch[8].z);
  let x_1 = bitcast<i32>(pack_1) * 4i - select(0i, row1_1 & 3i, bitcast<i32>(launch[5].w) == 1i);
  let head_1 = max(0i - x_1, 0i);
  let tail_1 = max(x_1 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_1 = row0_1 + x_1 * bitcast<i32>(launch[5].y);
  let e1_1 = row1_1 + x_1 * bitcast<i32>(launch[5].w);
  let e2_1 = row2_1 + x_1 * bitcast<i32>(launch[6].y);
  let e3_1 = row3_1 + x_1 * bitcast<i32>(launch[6].w);
  let e4_1 = row4_1 + x_1 * bitcast<i32>(launch[7].y);
  let e5_1 = row5_1 + x_1 * bitcast<i32>(launch[7].w);
  let e6_1 = row6_1 + x_1 * bitcast<i32>(launch[8].y);
  let e7_1 = row7_1 + x_1 * bitcast<i32>(launch[8].w);
  var s0_1 = 0u;
  var r0_1_0: vec4<u32>;
  var r0_1_1: vec4<u32>;
  let b0_1 = e0_1;
  if (bitcast<i32>(launch[5].y) == 1i) {
    s0_1 = bitcast<u32>(b0_1) & 3u;
    let low0 = (b0_1 + head_1) >> 2u;
    let high0 = (b0_1 + 3i - tail_1) >> 2u;
    r0_1_0 = p0[min(max((b0_1 >> 2u) + 0i, low0), high0)];
    if ((b0_1 >> 2u) + 1i <= high0) { r0_1_1 = p0[min(max((b0_1 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_1_0 = vec4<u32>(at0(bitcast<u32>(b0_1 + min(max(0i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(1i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(2i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(3i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))));
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
    }
    var o1_0: u32;
    var o2_0: u32;
    var o3_0: vec4<u32>;
    var o4_0: vec4<u32>;
    var o5_0: vec2<u32>;
    var o6_0: vec2<u32>;
    var o7_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_0_0.x);
      let v1 = ((bitcast<u32>(v0) & 0x7fffffffu) != 0u);
      let v2 = select(select(select(i32(v0), 127i, v0 >= 128.0f), -128i, v0 <= -128.0f), 0i, nan32(v0));
      let v3 = select(select(select(i32(v0), 2147483647i, v0 >= 2147483648.0f), (-2147483647i - 1i), v0 <= -2147483648.0f), 0i, nan32(v0));
      let v4 = select(select(select(u32(v0), 4294967295u, v0 >= 4294967296.0f), 0u, v0 <= 0.0f), 0u, nan32(v0));
      let v5 = round_f16(v0);
      let v6 = round_bf16(v0);
      let v7 = bitcast<u32>(v0);
      o1_0 = move8(o1_0, select(0u, 1u, v1), 1u);
      o2_0 = move8(o2_0, (bitcast<u32>(v2) & 0xffu), 1u);
      o3_0 = move32(o3_0, vec4<u32>(bitcast<u32>(v3), 0u, 0u, 0u), 1u);
      o4_0 = move32(o4_0, vec4<u32>(v4, 0u, 0u, 0u), 1u);
      o5_0 = move16(o5_0, vec2<u32>(to_f16(v5), 0u), 1u);
      o6_0 = move16(o6_0, vec2<u32>(to_bf16(v6), 0u), 1u);
      o7_0 = move32(o7_0, vec4<u32>(v7, 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e1_0 & 3i)) == 0i && bitcast<i32>(launch[5].w) == 1i) {
        p1[(e1_0 >> 2u) + 0i] = o1_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 0i * bitcast<i32>(launch[5].w)), (o1_0 >> 0u) & 0xffu); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 1i * bitcast<i32>(launch[5].w)), (o1_0 >> 8u) & 0xffu); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 2i * bitcast<i32>(launch[5].w)), (o1_0 >> 16u) & 0xffu); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 3i * bitcast<i32>(launch[5].w)), (o1_0 >> 24u) & 0xffu); }
      }
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
        if (head_0 <= 0i && 0i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 0i * bitcast<i32>(launch[6].w)), o3_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 1i * bitcast<i32>(launch[6].w)), o3_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 2i * bitcast<i32>(launch[6].w)), o3_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put3(bitcast<u32>(e3_0 + 3i * bitcast<i32>(launch[6].w)), o3_0.w); }
      }
      if ((head_0 | tail_0 | (e4_0 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p4[(e4_0 >> 2u) + 0i] = o4_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 0i * bitcast<i32>(launch[7].y)), o4_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 1i * bitcast<i32>(launch[7].y)), o4_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 2i * bitcast<i32>(launch[7].y)), o4_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put4(bitcast<u32>(e4_0 + 3i * bitcast<i32>(launch[7].y)), o4_0.w); }
      }
      if ((head_0 | tail_0 | (e5_0 & 3i)) == 0i && bitcast<i32>(launch[7].w) == 1i) {
        p5[(e5_0 >> 2u) + 0i] = o5_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 0i * bitcast<i32>(launch[7].w)), (o5_0.x >> 0u) & 0xffffu); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 1i * bitcast<i32>(launch[7].w)), (o5_0.x >> 16u) & 0xffffu); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 2i * bitcast<i32>(launch[7].w)), (o5_0.y >> 0u) & 0xffffu); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put5(bitcast<u32>(e5_0 + 3i * bitcast<i32>(launch[7].w)), (o5_0.y >> 16u) & 0xffffu); }
      }
      if ((head_0 | tail_0 | (e6_0 & 3i)) == 0i && bitcast<i32>(launch[8].y) == 1i) {
        p6[(e6_0 >> 2u) + 0i] = o6_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 0i * bitcast<i32>(launch[8].y)), (o6_0.x >> 0u) & 0xffffu); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 1i * bitcast<i32>(launch[8].y)), (o6_0.x >> 16u) & 0xffffu); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 2i * bitcast<i32>(launch[8].y)), (o6_0.y >> 0u) & 0xffffu); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put6(bitcast<u32>(e6_0 + 3i * bitcast<i32>(launch[8].y)), (o6_0.y >> 16u) & 0xffffu); }
      }
      if ((head_0 | tail_0 | (e7_0 & 3i)) == 0i && bitcast<i32>(launch[8].w) == 1i) {
        p7[(e7_0 >> 2u) + 0i] = o7_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put7(bitcast<u32>(e7_0 + 0i * bitcast<i32>(launch[8].w)), o7_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put7(bitcast<u32>(e7_0 + 1i * bitcast<i32>(launch[8].w)), o7_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put7(bitcast<u32>(e7_0 + 2i * bitcast<i32>(launch[8].w)), o7_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put7(bitcast<u32>(e7_0 + 3i * bitcast<i32>(launch[8].w)), o7_0.w); }
      }
    }
  }
  {
    if (s0_1 != 0u) {
      r0_1_0 = move32(r0_1_0, r0_1_1, s0_1);
    }
    var o1_0: u32;
    var o2_0: u32;
    var o3_0: vec4<u32>;
    var o4_0: vec4<u32>;
    var o5_0: vec2<u32>;
    var o6_0: vec2<u32>;
    var o7_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_1_0.x);
      let v1 = ((bitcast<u32>(v0) & 0x7fffffffu) != 0u);
      let v2 = select(select(select(i32(v0), 127i, v0 >= 128.0f), -128i, v0 <= -128.0f), 0i, nan32(v0));
      let v3 = select(select(select(i32(v0), 2147483647i, v0 >= 2147483648.0f), (-2147483647i - 1i), v0 <= -2147483648.0f), 0i, nan32(v0));
      let v4 = select(select(select(u32(v0), 4294967295u, v0 >= 4294967296.0f), 0u, v0 <= 0.0f), 0u, nan32(v0));
      let v5 = round_f16(v0);
      let v6 = round_bf16(v0);
      let v7 = bitcast<u32>(v0);
      o1_0 = move8(o1_0, select(0u, 1u, v1), 1u);
      o2_0 = move8(o2_0, (bitcast<u32>(v2) & 0xffu), 1u);
      o3_0 = move32(o3_0, vec4<u32>(bitcast<u32>(v3), 0u, 0u, 0u), 1u);
      o4_0 = move32(o4_0, vec4<u32>(v4, 0u, 0u, 0u), 1u);
      o5_0 = move16(o5_0, vec2<u32>(to_f16(v5), 0u), 1u);
      o6_0 = move16(o6_0, vec2<u32>(to_bf16(v6), 0u), 1u);
      o7_0 = move32(o7_0, vec4<u32>(v7, 0u, 0u, 0u), 1u);
      r0_1_0 = move32(r0_1_0, r0_1_1, 1u);
    }
    if (item_1 < launch[0].w) {
      if ((head_1 | tail_1 | (e1_1 & 3i)) == 0i && bitcast<i32>(launch[5].w) == 1i) {
        p1[(e1_1 >> 2u) + 0i] = o1_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 0i * bitcast<i32>(launch[5].w)), (o1_0 >> 0u) & 0xffu); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 1i * bitcast<i32>(launch[5].w)), (o1_0 >> 8u) & 0xffu); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 2i * bitcast<i32>(launch[5].w)), (o1_0 >> 16u) & 0xffu); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 3i * bitcast<i32>(launch[5].w)), (o1_0 >> 24u) & 0xffu); }
      }
      if ((head_1 | tail_1 | (e2_1 & 3i)) == 0i && bitcast<i32>(launch[6].y) == 1i) {
        p2[(e2_1 >> 2u) + 0i] = o2_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put2(bitcast<u32>(e2_1 + 0i * bitcast<i32>(launch[6].y)), (o2_0 >> 0u) & 0xffu); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put2(bitcast<u32>(e2_1 + 1i * bitcast<i32>(launch[6].y)), (o2_0 >> 8u) & 0xffu); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put2(bitcast<u32>(e2_1 + 2i * bitcast<i32>(launch[6].y)), (o2_0 >> 16u) & 0xffu); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put2(bitcast<u32>(e2_1 + 3i * bitcast<i32>(launch[6].y)), (o2_0 >> 24u) & 0xffu); }
      }
      if ((head_1 | tail_1 | (e3_1 & 3i)) == 0i && bitcast<i32>(launch[6].w) == 1i) {
        p3[(e3_1 >> 2u) + 0i] = o3_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put3(bitcast<u32>(e3_1 + 0i * bitcast<i32>(launch[6].w)), o3_0.x); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put3(bitcast<u32>(e3_1 + 1i * bitcast<i32>(launch[6].w)), o3_0.y); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put3(bitcast<u32>(e3_1 + 2i * bitcast<i32>(launch[6].w)), o3_0.z); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put3(bitcast<u32>(e3_1 + 3i * bitcast<i32>(launch[6].w)), o3_0.w); }
      }
      if ((head_1 | tail_1 | (e4_1 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p4[(e4_1 >> 2u) + 0i] = o4_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put4(bitcast<u32>(e4_1 + 0i * bitcast<i32>(launch[7].y)), o4_0.x); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put4(bitcast<u32>(e4_1 + 1i * bitcast<i32>(launch[7].y)), o4_0.y); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put4(bitcast<u32>(e4_1 + 2i * bitcast<i32>(launch[7].y)), o4_0.z); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put4(bitcast<u32>(e4_1 + 3i * bitcast<i32>(launch[7].y)), o4_0.w); }
      }
      if ((head_1 | tail_1 | (e5_1 & 3i)) == 0i && bitcast<i32>(launch[7].w) == 1i) {
        p5[(e5_1 >> 2u) + 0i] = o5_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put5(bitcast<u32>(e5_1 + 0i * bitcast<i32>(launch[7].w)), (o5_0.x >> 0u) & 0xffffu); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put5(bitcast<u32>(e5_1 + 1i * bitcast<i32>(launch[7].w)), (o5_0.x >> 16u) & 0xffffu); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put5(bitcast<u32>(e5_1 + 2i * bitcast<i32>(launch[7].w)), (o5_0.y >> 0u) & 0xffffu); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put5(bitcast<u32>(e5_1 + 3i * bitcast<i32>(launch[7].w)), (o5_0.y >> 16u) & 0xffffu); }
      }
      if ((head_1 | tail_1 | (e6_1 & 3i)) == 0i && bitcast<i32>(launch[8].y) == 1i) {
        p6[(e6_1 >> 2u) + 0i] = o6_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put6(bitcast<u32>(e6_1 + 0i * bitcast<i32>(launch[8].y)), (o6_0.x >> 0u) & 0xffffu); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put6(bitcast<u32>(e6_1 + 1i * bitcast<i32>(launch[8].y)), (o6_0.x >> 16u) & 0xffffu); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put6(bitcast<u32>(e6_1 + 2i * bitcast<i32>(launch[8].y)), (o6_0.y >> 0u) & 0xffffu); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put6(bitcast<u32>(e6_1 + 3i * bitcast<i32>(launch[8].y)), (o6_0.y >> 16u) & 0xffffu); }
      }
      if ((head_1 | tail_1 | (e7_1 & 3i)) == 0i && bitcast<i32>(launch[8].w) == 1i) {
        p7[(e7_1 >> 2u) + 0i] = o7_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put7(bitcast<u32>(e7_1 + 0i * bitcast<i32>(launch[8].w)), o7_0.x); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put7(bitcast<u32>(e7_1 + 1i * bitcast<i32>(launch[8].w)), o7_0.y); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put7(bitcast<u32>(e7_1 + 2i * bitcast<i32>(launch[8].w)), o7_0.z); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put7(bitcast<u32>(e7_1 + 3i * bitcast<i32>(launch[8].w)), o7_0.w); }
      }
    }
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> p2: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> p3: array<i32>;
@group(0) @binding(5) var<storage, read_write> p4: array<u32>;
@group(0) @binding(6) var<storage, read_write> p5: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> p6: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> p7: array<u32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn to_f16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let a = bits & 0x7fffffffu;
  let fraction = (a >> 13u) & 0x3ffu;
  let normal = (a + 0xfffu + ((a >> 13u) & 1u) - 0x38000000u) >> 13u;
  let drop = clamp(126u - (a >> 23u), 1u, 25u);
  let m = (a & 0x7fffffu) | 0x800000u;
  let tiny = (m + (1u << (drop - 1u)) - 1u + ((m >> drop) & 1u)) >> drop;
  var half = select(normal, tiny, a < 0x38800000u);
  half = select(half, 0u, a < 0x33000000u);
  half = select(half, 0x7c00u, a >= 0x477ff000u);
  half = select(half, 0x7c00u | fraction | select(0u, 0x200u, fraction == 0u), a > 0x7f800000u);
  return sign | half;
}
fn from_f16(half: u32) -> f32 {
  let sign = (half & 0x8000u) << 16u;
  let a = half & 0x7fffu;
  let lead = countLeadingZeros(max(a, 1u)) - 21u;
  let tiny = select(0u, ((113u - lead) << 23u) | (((a << lead) & 0x3ffu) << 13u), a != 0u);
  let normal = (a << 13u) + select(0x38000000u, 0x70000000u, a >= 0x7c00u);
  return bitcast<f32>(sign | select(normal, tiny, a < 0x400u));
}
fn round_f16(x: f32) -> f32 { return from_f16(to_f16(x)); }
fn to_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let nan = (bits >> 16u) | select(0u, 0x40u, (bits & 0x7f0000u) == 0u);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, nan, (bits & 0x7fffffffu) > 0x7f800000u);
}
fn round_bf16(x: f32) -> f32 { return bitcast<f32>(to_bf16(x) << 16u); }
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
    let e7 = bitcast<i32>(launch[8].z) + bitcast<i32>(i0) * bitcast<i32>(launch[8].w);
    let v0 = p0[bitcast<u32>(e0)];
    let v1 = ((bitcast<u32>(v0) & 0x7fffffffu) != 0u);
    let v2 = select(select(select(i32(v0), 127i, v0 >= 128.0f), -128i, v0 <= -128.0f), 0i, nan32(v0));
    let v3 = select(select(select(i32(v0), 2147483647i, v0 >= 2147483648.0f), (-2147483647i - 1i), v0 <= -2147483648.0f), 0i, nan32(v0));
    let v4 = select(select(select(u32(v0), 4294967295u, v0 >= 4294967296.0f), 0u, v0 <= 0.0f), 0u, nan32(v0));
    let v5 = round_f16(v0);
    let v6 = round_bf16(v0);
    let v7 = bitcast<u32>(v0);
    let w1 = bitcast<u32>(e1);
    atomicAnd(&p1[w1 >> 2u], ~(0xffu << ((w1 & 3u) << 3u)));
    atomicOr(&p1[w1 >> 2u], select(0u, 1u, v1) << ((w1 & 3u) << 3u));
    let w2 = bitcast<u32>(e2);
    atomicAnd(&p2[w2 >> 2u], ~(0xffu << ((w2 & 3u) << 3u)));
    atomicOr(&p2[w2 >> 2u], (bitcast<u32>(v2) & 0xffu) << ((w2 & 3u) << 3u));
    let w3 = bitcast<u32>(e3);
    p3[w3] = v3;
    let w4 = bitcast<u32>(e4);
    p4[w4] = v4;
    let w5 = bitcast<u32>(e5);
    atomicAnd(&p5[w5 >> 1u], ~(0xffffu << ((w5 & 1u) << 4u)));
    atomicOr(&p5[w5 >> 1u], to_f16(v5) << ((w5 & 1u) << 4u));
    let w6 = bitcast<u32>(e6);
    atomicAnd(&p6[w6 >> 1u], ~(0xffffu << ((w6 & 1u) << 4u)));
    atomicOr(&p6[w6 >> 1u], to_bf16(v6) << ((w6 & 1u) << 4u));
    let w7 = bitcast<u32>(e7);
    p7[w7] = v7;
  }
}
