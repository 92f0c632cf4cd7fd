// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<u32>;
@group(0) @binding(2) var<storage, read_write> p1: array<u32>;

fn move8(a: u32, b: u32, by: u32) -> u32 { return (a >> (8u * by)) | (b << (32u - 8u * by)); }
fn at0(e: u32) -> u32 { return (p0[e >> 2u] >> ((e & 3u) << 3u)) & 0xffu; }
fn put1(e: u32, x: u32) { p1[e >> 2u] = (p1[e >> 2u] & ~(0xffu << ((e & 3u) << 3u))) | (x << ((e & 3u) << 3u)); }
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
  var first = number * 1024u + local;
  var row = 0u;
  if (chunks != 0u) {
    row = number;
    if (chunks > 1u) { row = number / chunks; }
    first = (number - row * chunks) * 1024u + local;
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
  var r0_0_0: u32;
  var r0_0_1: u32;
  let b0_0 = e0_0;
  if (bitcast<i32>(launch[6].z) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 3i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    if ((b0_0 >> 2u) + 1i <= high0) { r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_0_0 = at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))) | (at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))) << 8u) | (at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))) << 16u) | (at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[6].z))) << 24u);
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
  var r0_1_0: u32;
  var r0_1_1: u32;
  let b0_1 = e0_1;
  if (bitcast<i32>(launch[6].z) == 1i) {
    s0_1 = bitcast<u32>(b0_1) & 3u;
    let low0 = (b0_1 + head_1) >> 2u;
    let high0 = (b0_1 + 3i - tail_1) >> 2u;
    r0_1_0 = p0[min(max((b0_1 >> 2u) + 0i, low0), high0)];
    if ((b0_1 >> 2u) + 1i <= high0) { r0_1_1 = p0[min(max((b0_1 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_1_0 = at0(bitcast<u32>(b0_1 + min(max(0i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))) | (at0(bitcast<u32>(b0_1 + min(max(1i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))) << 8u) | (at0(bitcast<u32>(b0_1 + min(max(2i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))) << 16u) | (at0(bitcast<u32>(b0_1 + min(max(3i, head_1), 3i - tail_1) * bitcast<i32>(launch[6].z))) << 24u);
  }
  let item_2 = first + 512u;
  var pack_2 = min(item_2, launch[0].w - 1u);
  var at_2 = at;
  if (chunks == 0u) {
    let own = pack_2 / launch[1].z;
    pack_2 -= own * launch[1].z;
    at_2 = outer(own);
  }
  let row0_2 = bitcast<i32>(launch[6].x) + bitcast<i32>(at_2.i0) * bitcast<i32>(launch[6].y);
  let row1_2 = bitcast<i32>(launch[6].w) + bitcast<i32>(at_2.i0) * bitcast<i32>(launch[7].x);
  let x_2 = bitcast<i32>(pack_2) * 4i - select(0i, row1_2 & 3i, bitcast<i32>(launch[7].y) == 1i);
  let head_2 = max(0i - x_2, 0i);
  let tail_2 = max(x_2 + 4i - bitcast<i32>(launch[4].y), 0i);
  let e0_2 = row0_2 + x_2 * bitcast<i32>(launch[6].z);
  let e1_2 = row1_2 + x_2 * bitcast<i32>(launch[7].y);
  var s0_2 = 0u;
  var r0_2_0: u32;
  var r0_2_1: u32;
  let b0_2 = e0_2;
  if (bitcast<i32>(launch[6].z) == 1i) {
    s0_2 = bitcast<u32>(b0_2) & 3u;
    let low0 = (b0_2 + head_2) >> 2u;
    let high0 = (b0_2 + 3i - tail_2) >> 2u;
    r0_2_0 = p0[min(max((b0_2 >> 2u) + 0i, low0), high0)];
    if ((b0_2 >> 2u) + 1i <= high0) { r0_2_1 = p0[min(max((b0_2 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_2_0 = at0(bitcast<u32>(b0_2 + min(max(0i, head_2), 3i - tail_2) * bitcast<i32>(launch[6].z))) | (at0(bitcast<u32>(b0_2 + min(max(1i, head_2), 3i - tail_2) * bitcast<i32>(launch[6].z))) << 8u) | (at0(bitcast<u32>(b0_2 + min(max(2i, head_2), 3i - tail_2) * bitcast<i32>(launch[6].z))) << 16u) | (at0(bitcast<u32>(b0_2 + min(max(3i, head_2), 3i - tail_2) * bitcast<i32>(launch[6].z))) << 24u);
  }
  let item_3 = first + 768u;
  var pack_3 = min(item_3, launch[0].w - 1u);
  var at_3 = at;
  if (chunks == 0u) {
    let own = pack_3 / launch[1].z;
    pack_3 -= own * launch[1].z;
    at_3 = outer(own);
  }
  let row0_3 = bitcast<i32>(launch[6].x) + bitcast<i32>(at_3.i0) * bitcast<i32>(launch[6].y);
  let row1_3 = bitcast<i32>(launch[6].w) + bitcast<i32>(at_3.i0) * bitcast<i32>(launch[7].x);
  let x_3 = bitcast<i32>(pack_3) * 4i - select(0i, row1_3 & 3i, bitcast<i32>(launch[7].y) == 1i);
  let head_3 = max(0i - x_3, 0i);
  let tail_3 = max(x_3 + 4i - bitcast<i32>(launch[4].y), 0i);
  let e0_3 = row0_3 + x_3 * bitcast<i32>(launch[6].z);
  let e1_3 = row1_3 + x_3 * bitcast<i32>(launch[7].y);
  var s0_3 = 0u;
  var r0_3_0: u32;
  var r0_3_1: u32;
  let b0_3 = e0_3;
  if (bitcast<i32>(launch[6].z) == 1i) {
    s0_3 = bitcast<u32>(b0_3) & 3u;
    let low0 = (b0_3 + head_3) >> 2u;
    let high0 = (b0_3 + 3i - tail_3) >> 2u;
    r0_3_0 = p0[min(max((b0_3 >> 2u) + 0i, low0), high0)];
    if ((b0_3 >> 2u) + 1i <= high0) { r0_3_1 = p0[min(max((b0_3 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_3_0 = at0(bitcast<u32>(b0_3 + min(max(0i, head_3), 3i - tail_3) * bitcast<i32>(launch[6].z))) | (at0(bitcast<u32>(b0_3 + min(max(1i, head_3), 3i - tail_3) * bitcast<i32>(launch[6].z))) << 8u) | (at0(bitcast<u32>(b0_3 + min(max(2i, head_3), 3i - tail_3) * bitcast<i32>(launch[6].z))) << 16u) | (at0(bitcast<u32>(b0_3 + min(max(3i, head_3), 3i - tail_3) * bitcast<i32>(launch[6].z))) << 24u);
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move8(r0_0_0, r0_0_1, s0_0);
    }
    var o1_0: u32;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = (((r0_0_0 >> 0u) & 0xffu) != 0u);
      o1_0 = move8(o1_0, (r0_0_0 >> 0u), 1u);
      r0_0_0 = move8(r0_0_0, r0_0_1, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e1_0 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p1[(e1_0 >> 2u) + 0i] = o1_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 0i * bitcast<i32>(launch[7].y)), (o1_0 >> 0u) & 0xffu); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 1i * bitcast<i32>(launch[7].y)), (o1_0 >> 8u) & 0xffu); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 2i * bitcast<i32>(launch[7].y)), (o1_0 >> 16u) & 0xffu); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 3i * bitcast<i32>(launch[7].y)), (o1_0 >> 24u) & 0xffu); }
      }
    }
  }
  {
    if (s0_1 != 0u) {
      r0_1_0 = move8(r0_1_0, r0_1_1, s0_1);
    }
    var o1_0: u32;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = (((r0_1_0 >> 0u) & 0xffu) != 0u);
      o1_0 = move8(o1_0, (r0_1_0 >> 0u), 1u);
      r0_1_0 = move8(r0_1_0, r0_1_1, 1u);
    }
    if (item_1 < launch[0].w) {
      if ((head_1 | tail_1 | (e1_1 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p1[(e1_1 >> 2u) + 0i] = o1_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 0i * bitcast<i32>(launch[7].y)), (o1_0 >> 0u) & 0xffu); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 1i * bitcast<i32>(launch[7].y)), (o1_0 >> 8u) & 0xffu); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 2i * bitcast<i32>(launch[7].y)), (o1_0 >> 16u) & 0xffu); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 3i * bitcast<i32>(launch[7].y)), (o1_0 >> 24u) & 0xffu); }
      }
    }
  }
  {
    if (s0_2 != 0u) {
      r0_2_0 = move8(r0_2_0, r0_2_1, s0_2);
    }
    var o1_0: u32;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = (((r0_2_0 >> 0u) & 0xffu) != 0u);
      o1_0 = move8(o1_0, (r0_2_0 >> 0u), 1u);
      r0_2_0 = move8(r0_2_0, r0_2_1, 1u);
    }
    if (item_2 < launch[0].w) {
      if ((head_2 | tail_2 | (e1_2 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p1[(e1_2 >> 2u) + 0i] = o1_0;
      } else {
        if (head_2 <= 0i && 0i < 4i - tail_2) { put1(bitcast<u32>(e1_2 + 0i * bitcast<i32>(launch[7].y)), (o1_0 >> 0u) & 0xffu); }
        if (head_2 <= 1i && 1i < 4i - tail_2) { put1(bitcast<u32>(e1_2 + 1i * bitcast<i32>(launch[7].y)), (o1_0 >> 8u) & 0xffu); }
        if (head_2 <= 2i && 2i < 4i - tail_2) { put1(bitcast<u32>(e1_2 + 2i * bitcast<i32>(launch[7].y)), (o1_0 >> 16u) & 0xffu); }
        if (head_2 <= 3i && 3i < 4i - tail_2) { put1(bitcast<u32>(e1_2 + 3i * bitcast<i32>(launch[7].y)), (o1_0 >> 24u) & 0xffu); }
      }
    }
  }
  {
    if (s0_3 != 0u) {
      r0_3_0 = move8(r0_3_0, r0_3_1, s0_3);
    }
    var o1_0: u32;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = (((r0_3_0 >> 0u) & 0xffu) != 0u);
      o1_0 = move8(o1_0, (r0_3_0 >> 0u), 1u);
      r0_3_0 = move8(r0_3_0, r0_3_1, 1u);
    }
    if (item_3 < launch[0].w) {
      if ((head_3 | tail_3 | (e1_3 & 3i)) == 0i && bitcast<i32>(launch[7].y) == 1i) {
        p1[(e1_3 >> 2u) + 0i] = o1_0;
      } else {
        if (head_3 <= 0i && 0i < 4i - tail_3) { put1(bitcast<u32>(e1_3 + 0i * bitcast<i32>(launch[7].y)), (o1_0 >> 0u) & 0xffu); }
        if (head_3 <= 1i && 1i < 4i - tail_3) { put1(bitcast<u32>(e1_3 + 1i * bitcast<i32>(launch[7].y)), (o1_0 >> 8u) & 0xffu); }
        if (head_3 <= 2i && 2i < 4i - tail_3) { put1(bitcast<u32>(e1_3 + 2i * bitcast<i32>(launch[7].y)), (o1_0 >> 16u) & 0xffu); }
        if (head_3 <= 3i && 3i < 4i - tail_3) { put1(bitcast<u32>(e1_3 + 3i * bitcast<i32>(launch[7].y)), (o1_0 >> 24u) & 0xffu); }
      }
    }
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<u32>;
@group(0) @binding(2) var<storage, read_write> p1: array<atomic<u32>>;

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
  var first = number * 256u + local;
  var row = 0u;
  if (chunks != 0u) {
    row = number;
    if (chunks > 1u) { row = number / chunks; }
    first = (number - row * chunks) * 256u + local;
    if (row >= launch[1].y) { return; }
  }
  var at = outer(row);
  if (first < launch[0].w) {
    var x = first;
    if (chunks == 0u) {
      row = first / launch[4].y;
      x = first - row * launch[4].y;
      at = outer(row);
    }
    let i0 = at.i0;
    let i1 = x;
    let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
    let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i0) * bitcast<i32>(launch[7].x) + bitcast<i32>(i1) * bitcast<i32>(launch[7].y);
    let v0 = (((p0[bitcast<u32>(e0) >> 2u] >> ((bitcast<u32>(e0) & 3u) << 3u)) & 0xffu) != 0u);
    let w1 = bitcast<u32>(e1);
    atomicAnd(&p1[w1 >> 2u], ~(0xffu << ((w1 & 3u) << 3u)));
    atomicOr(&p1[w1 >> 2u], select(0u, 1u, v0) << ((w1 & 3u) << 3u));
  }
}
