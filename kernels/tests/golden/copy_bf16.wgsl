// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<u32>;
@group(0) @binding(2) var<storage, read_write> p1: array<atomic<u32>>;

fn to_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let nan = (bits >> 16u) | select(0u, 0x40u, (bits & 0x7f0000u) == 0u);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, nan, (bits & 0x7fffffffu) > 0x7f800000u);
}
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
  for (var j = 0u; j < 4u; j += 1u) {
    let item = first + j * 256u;
    if (item < launch[0].w) {
      var x = item;
      if (chunks == 0u) {
        row = item / launch[4].y;
        x = item - row * launch[4].y;
        at = outer(row);
      }
      let i0 = at.i0;
      let i1 = x;
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i0) * bitcast<i32>(launch[7].x) + bitcast<i32>(i1) * bitcast<i32>(launch[7].y);
      let a0 = bitcast<u32>(e0);
      let v0 = bitcast<f32>((p0[a0 >> 1u] >> ((a0 & 1u) << 4u)) << 16u);
      let w1 = bitcast<u32>(e1);
      atomicAnd(&p1[w1 >> 1u], ~(0xffffu << ((w1 & 1u) << 4u)));
      atomicOr(&p1[w1 >> 1u], to_bf16(v0) << ((w1 & 1u) << 4u));
    }
  }
}
