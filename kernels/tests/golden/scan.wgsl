// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read> p1: array<f32>;
@group(0) @binding(3) var<storage, read_write> p2: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
struct Outer { i0: u32 }
fn outer(row: u32) -> Outer {
  var at: Outer;
  var rest = row;
  at.i0 = rest;
  return at;
}
@compute @workgroup_size(256)
fn scan(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
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
    var sum: f32;
    for (var at_line = 0u; at_line < launch[1].w; at_line++) {
      let i1 = at_line;
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i0) * bitcast<i32>(launch[7].x) + bitcast<i32>(i1) * bitcast<i32>(launch[7].y);
      let e2 = bitcast<i32>(launch[7].z) + bitcast<i32>(i0) * bitcast<i32>(launch[7].w) + bitcast<i32>(i1) * bitcast<i32>(launch[8].x);
      let v0 = p0[bitcast<u32>(e0)];
      let v1 = p1[bitcast<u32>(e1)];
      if (at_line == 0u) { sum = v1; }
      let next = hide32((sum + operand32(v0)));
      let w2 = bitcast<u32>(e2);
      p2[w2] = next;
      sum = next;
    }
  }
}
