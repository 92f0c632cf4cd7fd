// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<vec4<u32>>;

fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u][e & 3u] = x; }
struct Outer { i0: u32 }
fn outer(row: u32) -> Outer {
  var at: Outer;
  var rest = row;
  at.i0 = rest;
  return at;
}
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
  var at = outer(row);
  let item_0 = first + 0u;
  var pack_0 = min(item_0, launch[0].w - 1u);
  var at_0 = at;
  if (chunks == 0u) {
    let own = pack_0 / launch[1].z;
    pack_0 -= own * launch[1].z;
    at_0 = outer(own);
  }
  let row0_0 = bitcast<i32>(launch[6].x) + bitcast<i32>(at_0.i0) * bitcast<i32>(launch[6].y);
  let row1_0 = bitcast<i32>(launch[6].w) + bitcast<i32>(at_0.i0) * bitcast<i32>(launch[7].x);
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row1_0 & 3i, bitcast<i32>(launch[7].y) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].y), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[6].z);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[7].y);
  var s0_0 = 0u;
  var r0_0_0: vec4<u32>;
  var r0_0_1: vec4<u32>;
  let b0_0 = e0_0;
  if (bitcast<i32>(launch[6].z) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 3i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    if ((b0_0 >> 2u) + 1i <= high0) { r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))), at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))), at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))), at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))));
  }
  let item_1 = first + 256u;
  var pack_1 = min(item_1, launch[0].w - 1u);
  var at_1 = at;
  if (chunks == 0u) {
    let own = pack_1 / launch[1].z;
    pack_1 -= own * launch[1].z;
    at_1 = outer(own);
  }
  let row0_1 = bitcast<i32>(launch[6].x) + bitcast<i32>(at_1.i0) * bitcast<i32>(launch[6].y);
  let row1_1 = bitcast<i32>(launch[6].w) + bitcast<i32>(at_1.i0) * bitcast<i32>(launch[7].x);
  let x_1 = bitcast<i32>(pack_1) * 4i - select(0i, row1_1 & 3i, bitcast<i32>(launch[7].y) == 1i);
  let head_1 = max(0i - x_1, 0i);
  let tail_1 = max(x_1 + 4i - bitcast<i32>(launch[4].y), 0i);
  let e0_1 = row0_1 + x_1 * bitcast<i32>(launch[6].z);
  let e1_1 = row1_1 + x_1 * bitcast<i32>(launch[7].y);
  var s0_1 = 0u;
  var r0_1_0: vec4<u32>;
  var r0_1_1: vec4<u32>;
  let b0_1 = e0_1;
  if (bitcast<i32>(launch[6].z) == 1i) {
    s0_1 = bitcast<u32>(b0_1) & 3u;
    let low0 = (b0_1 + head_1) >> 2u;
    let high0 = (b0_1 + 3i - tail_1) >> 2u;
    r0_1_0 = p0[min(max((b0_1 >> 2u) + 0i, low0), high0)];
    if ((b0_1 >> 2u) + 1i <= high0) { r0_1_1 = p0[min(max((b0_1 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_1_0 = vec4<u32>(at0(bitcast<u32>(b0_1 + min(max(0i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))), at0(bitcast<u32>(b0_1 + min(max(1i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))), at0(bitcast<u32>(b0_1 + min(max(2i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))), at0(bitcast<u32>(b0_1 + min(max(3i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))));
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_0_0.x);
      o1_0 = move32(o1_0, vec4<u32>(r0_0_0.x, 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e1_0 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p1[(e1_0 >> 2u) + 0i] = o1_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 0i * bitcast<i32>(launch[7].y)), o1_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 1i * bitcast<i32>(launch[7].y)), o1_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 2i * bitcast<i32>(launch[7].y)), o1_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 3i * bitcast<i32>(launch[7].y)), o1_0.w); }
      }
    }
  }
  {
    if (s0_1 != 0u) {
      r0_1_0 = move32(r0_1_0, r0_1_1, s0_1);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_1_0.x);
      o1_0 = move32(o1_0, vec4<u32>(r0_1_0.x, 0u, 0u, 0u), 1u);
      r0_1_0 = move32(r0_1_0, r0_1_1, 1u);
    }
    if (item_1 < launch[0].w) {
      if ((head_1 | tail_1 | (e1_1 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p1[(e1_1 >> 2u) + 0i] = o1_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 0i * bitcast<i32>(launch[7].y)), o1_0.x); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 1i * bitcast<i32>(launch[7].y)), o1_0.y); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 2i * bitcast<i32>(launch[7].y)), o1_0.z); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 3i * bitcast<i32>(launch[7].y)), o1_0.w); }
      }
    }
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<vec4<u32>>;

fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u][e & 3u] = x; }
var<workgroup> square0: array<u32, 1056>;
@compute @workgroup_size(256)
fn transpose(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + launch[0].y * (group.y + launch[0].z * group.z);
  let blocks = number / launch[1].z;
  let block_x = number - blocks * launch[1].z;
  let whole = blocks / launch[1].x;
  let block_y = blocks - whole * launch[1].x;
  let is_there = whole < launch[1].y;
  let tx = local & 31u;
  let ty = local >> 5u;
  let left = block_x * 32u;
  let top = block_y * 32u;
  let z0 = bitcast<i32>(launch[6].x);
  let z1 = bitcast<i32>(launch[6].w);
  let crossed0 = bitcast<i32>(launch[6].z) != 1i && bitcast<i32>(launch[6].y) == 1i;
  let x0_0 = min(left + select(tx, ty + 0u, crossed0), launch[4].y - 1u);
  let y0_0 = min(top + select(ty + 0u, tx, crossed0), launch[4].x - 1u);
  var r0_0 = at0(bitcast<u32>(z0 + bitcast<i32>(x0_0) * bitcast<i32>(launch[6].z) + bitcast<i32>(y0_0) * bitcast<i32>(launch[6].y)));
  let x0_1 = min(left + select(tx, ty + 8u, crossed0), launch[4].y - 1u);
  let y0_1 = min(top + select(ty + 8u, tx, crossed0), launch[4].x - 1u);
  var r0_1 = at0(bitcast<u32>(z0 + bitcast<i32>(x0_1) * bitcast<i32>(launch[6].z) + bitcast<i32>(y0_1) * bitcast<i32>(launch[6].y)));
  let x0_2 = min(left + select(tx, ty + 16u, crossed0), launch[4].y - 1u);
  let y0_2 = min(top + select(ty + 16u, tx, crossed0), launch[4].x - 1u);
  var r0_2 = at0(bitcast<u32>(z0 + bitcast<i32>(x0_2) * bitcast<i32>(launch[6].z) + bitcast<i32>(y0_2) * bitcast<i32>(launch[6].y)));
  let x0_3 = min(left + select(tx, ty + 24u, crossed0), launch[4].y - 1u);
  let y0_3 = min(top + select(ty + 24u, tx, crossed0), launch[4].x - 1u);
  var r0_3 = at0(bitcast<u32>(z0 + bitcast<i32>(x0_3) * bitcast<i32>(launch[6].z) + bitcast<i32>(y0_3) * bitcast<i32>(launch[6].y)));
  if (crossed0) {
    square0[(ty + 0u) * 33u + tx] = r0_0;
    square0[(ty + 8u) * 33u + tx] = r0_1;
    square0[(ty + 16u) * 33u + tx] = r0_2;
    square0[(ty + 24u) * 33u + tx] = r0_3;
  }
  workgroupBarrier();
  if (crossed0) {
    r0_0 = square0[tx * 33u + ty + 0u];
    r0_1 = square0[tx * 33u + ty + 8u];
    r0_2 = square0[tx * 33u + ty + 16u];
    r0_3 = square0[tx * 33u + ty + 24u];
  }
  if (is_there && left + tx < launch[4].y && top + ty + 0u < launch[4].x) {
    let w1 = bitcast<u32>(z1 + bitcast<i32>(left + tx) * bitcast<i32>(launch[7].y) + bitcast<i32>(top + ty + 0u) * bitcast<i32>(launch[7].x));
    let v0 = bitcast<f32>(r0_0);
    put1(w1, r0_0);
  }
  if (is_there && left + tx < launch[4].y && top + ty + 8u < launch[4].x) {
    let w1 = bitcast<u32>(z1 + bitcast<i32>(left + tx) * bitcast<i32>(launch[7].y) + bitcast<i32>(top + ty + 8u) * bitcast<i32>(launch[7].x));
    let v0 = bitcast<f32>(r0_1);
    put1(w1, r0_1);
  }
  if (is_there && left + tx < launch[4].y && top + ty + 16u < launch[4].x) {
    let w1 = bitcast<u32>(z1 + bitcast<i32>(left + tx) * bitcast<i32>(launch[7].y) + bitcast<i32>(top + ty + 16u) * bitcast<i32>(launch[7].x));
    let v0 = bitcast<f32>(r0_2);
    put1(w1, r0_2);
  }
  if (is_there && left + tx < launch[4].y && top + ty + 24u < launch[4].x) {
    let w1 = bitcast<u32>(z1 + bitcast<i32>(left + tx) * bitcast<i32>(launch[7].y) + bitcast<i32>(top + ty + 24u) * bitcast<i32>(launch[7].x));
    let v0 = bitcast<f32>(r0_3);
    put1(w1, r0_3);
  }
}
