// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> p1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> p2: array<vec4<u32>>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn at1(e: u32) -> u32 { return p1[e >> 2u][e & 3u]; }
fn put2(e: u32, x: u32) { p2[e >> 2u][e & 3u] = x; }
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
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row2_0 & 3i, bitcast<i32>(launch[6].y) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[5].y);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[5].w);
  let e2_0 = row2_0 + x_0 * bitcast<i32>(launch[6].y);
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
    var o2_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(launch[6].z);
      let v1 = bitcast<f32>(r0_0_0.x);
      let v2 = bitcast<f32>(r1_0_0.x);
      let v3 = hide32((v0 * operand32(v2)));
      let v4 = hide32((v1 + operand32(v3)));
      o2_0 = move32(o2_0, vec4<u32>(bitcast<u32>(v4), 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
      r1_0_0 = move32(r1_0_0, r1_0_1, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e2_0 & 3i)) == 0i && bitcast<i32>(launch[6].y) == 1i) {
        p2[(e2_0 >> 2u) + 0i] = o2_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 0i * bitcast<i32>(launch[6].y)), o2_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 1i * bitcast<i32>(launch[6].y)), o2_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 2i * bitcast<i32>(launch[6].y)), o2_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put2(bitcast<u32>(e2_0 + 3i * bitcast<i32>(launch[6].y)), o2_0.w); }
      }
    }
  }
}
