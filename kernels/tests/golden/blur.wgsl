// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
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
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row1_0 & 3i, bitcast<i32>(launch[5].w) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[5].y);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[5].w);
  var s0_0 = 0u;
  var r0_0_0: vec4<u32>;
  var r0_0_1: vec4<u32>;
  var r0_0_2: vec4<u32>;
  let b0_0 = e0_0 + bitcast<i32>(launch[6].x);
  if (bitcast<i32>(launch[5].y) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 5i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)];
    if ((b0_0 >> 2u) + 2i <= high0) { r0_0_2 = p0[min(max((b0_0 >> 2u) + 2i, low0), high0)]; }
  } else {
    r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))));
    r0_0_1 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(4i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(5i, head_0), 5i - tail_0) * bitcast<i32>(launch[5].y))));
  }
  let item_1 = first + 256u;
  var pack_1 = min(item_1, launch[0].w - 1u);
  let row0_1 = bitcast<i32>(launch[5].x);
  let row1_1 = bitcast<i32>(launch[5].z);
  let x_1 = bitcast<i32>(pack_1) * 4i - select(0i, row1_1 & 3i, bitcast<i32>(launch[5].w) == 1i);
  let head_1 = max(0i - x_1, 0i);
  let tail_1 = max(x_1 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_1 = row0_1 + x_1 * bitcast<i32>(launch[5].y);
  let e1_1 = row1_1 + x_1 * bitcast<i32>(launch[5].w);
  var s0_1 = 0u;
  var r0_1_0: vec4<u32>;
  var r0_1_1: vec4<u32>;
  var r0_1_2: vec4<u32>;
  let b0_1 = e0_1 + bitcast<i32>(launch[6].x);
  if (bitcast<i32>(launch[5].y) == 1i) {
    s0_1 = bitcast<u32>(b0_1) & 3u;
    let low0 = (b0_1 + head_1) >> 2u;
    let high0 = (b0_1 + 5i - tail_1) >> 2u;
    r0_1_0 = p0[min(max((b0_1 >> 2u) + 0i, low0), high0)];
    r0_1_1 = p0[min(max((b0_1 >> 2u) + 1i, low0), high0)];
    if ((b0_1 >> 2u) + 2i <= high0) { r0_1_2 = p0[min(max((b0_1 >> 2u) + 2i, low0), high0)]; }
  } else {
    r0_1_0 = vec4<u32>(at0(bitcast<u32>(b0_1 + min(max(0i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(1i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(2i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(3i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))));
    r0_1_1 = vec4<u32>(at0(bitcast<u32>(b0_1 + min(max(4i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(5i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(5i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(5i, head_1), 5i - tail_1) * bitcast<i32>(launch[5].y))));
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
      r0_0_1 = move32(r0_0_1, r0_0_2, s0_0);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_0_0.x);
      let v1 = bitcast<f32>(r0_0_0.z);
      let v2 = hide32((v0 + operand32(v1)));
      let v3 = 0.5f;
      let v4 = hide32((v2 * operand32(v3)));
      o1_0 = move32(o1_0, vec4<u32>(bitcast<u32>(v4), 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
      r0_0_1 = move32(r0_0_1, r0_0_2, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e1_0 & 3i)) == 0i && bitcast<i32>(launch[5].w) == 1i) {
        p1[(e1_0 >> 2u) + 0i] = o1_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 0i * bitcast<i32>(launch[5].w)), o1_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 1i * bitcast<i32>(launch[5].w)), o1_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 2i * bitcast<i32>(launch[5].w)), o1_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 3i * bitcast<i32>(launch[5].w)), o1_0.w); }
      }
    }
  }
  {
    if (s0_1 != 0u) {
      r0_1_0 = move32(r0_1_0, r0_1_1, s0_1);
      r0_1_1 = move32(r0_1_1, r0_1_2, s0_1);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_1_0.x);
      let v1 = bitcast<f32>(r0_1_0.z);
      let v2 = hide32((v0 + operand32(v1)));
      let v3 = 0.5f;
      let v4 = hide32((v2 * operand32(v3)));
      o1_0 = move32(o1_0, vec4<u32>(bitcast<u32>(v4), 0u, 0u, 0u), 1u);
      r0_1_0 = move32(r0_1_0, r0_1_1, 1u);
      r0_1_1 = move32(r0_1_1, r0_1_2, 1u);
    }
    if (item_1 < launch[0].w) {
      if ((head_1 | tail_1 | (e1_1 & 3i)) == 0i && bitcast<i32>(launch[5].w) == 1i) {
        p1[(e1_1 >> 2u) + 0i] = o1_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 0i * bitcast<i32>(launch[5].w)), o1_0.x); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 1i * bitcast<i32>(launch[5].w)), o1_0.y); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 2i * bitcast<i32>(launch[5].w)), o1_0.z); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 3i * bitcast<i32>(launch[5].w)), o1_0.w); }
      }
    }
  }
}
