// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 12>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;
@group(0) @binding(3) var<storage, read_write> p2: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
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
        row = item / launch[4].z;
        x = item - row * launch[4].z;
        at = outer(row);
      }
      let i0 = at.i0;
      let i1 = at.i1;
      let i2 = x;
      let e0 = bitcast<i32>(launch[7].x) + bitcast<i32>(i0) * bitcast<i32>(launch[7].y) + bitcast<i32>(i1) * bitcast<i32>(launch[7].z) + bitcast<i32>(i2) * bitcast<i32>(launch[7].w);
      let e1 = bitcast<i32>(launch[8].x) + bitcast<i32>(i0) * bitcast<i32>(launch[8].y) + bitcast<i32>(i1) * bitcast<i32>(launch[8].z) + bitcast<i32>(i2) * bitcast<i32>(launch[8].w);
      let e2 = bitcast<i32>(launch[9].x) + bitcast<i32>(i0) * bitcast<i32>(launch[9].y) + bitcast<i32>(i1) * bitcast<i32>(launch[9].z) + bitcast<i32>(i2) * bitcast<i32>(launch[9].w);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let a1 = bitcast<u32>(e0 + bitcast<i32>(launch[10].x));
      let v1 = p0[a1];
      let v2 = hide32((v0 + operand32(v1)));
      let a3 = bitcast<u32>(e0 + bitcast<i32>(launch[10].y));
      let v3 = p0[a3];
      let v4 = hide32((v2 + operand32(v3)));
      let v5 = (bitcast<i32>(launch[5].z) + bitcast<i32>(i0));
      let v6 = hide32(f32(v5));
      let v7 = hide32((v4 + operand32(v6)));
      let a8 = bitcast<u32>(e0 + bitcast<i32>(launch[10].z));
      let v8 = p0[a8];
      let v9 = hide32((v7 + operand32(v8)));
      let a10 = bitcast<u32>(e0 + bitcast<i32>(launch[10].w));
      let v10 = p0[a10];
      let v11 = hide32((v9 + operand32(v10)));
      let v12 = (bitcast<i32>(launch[6].x) + bitcast<i32>(i1));
      let v13 = hide32(f32(v12));
      let v14 = hide32((v11 + operand32(v13)));
      let a15 = bitcast<u32>(e0 + bitcast<i32>(launch[11].x));
      let v15 = p0[a15];
      let v16 = hide32((v14 + operand32(v15)));
      let a17 = bitcast<u32>(e0 + bitcast<i32>(launch[11].y));
      let v17 = p0[a17];
      let v18 = hide32((v16 + operand32(v17)));
      let v19 = (bitcast<i32>(launch[6].z) + bitcast<i32>(i2));
      let v20 = hide32(f32(v19));
      let v21 = hide32((v18 + operand32(v20)));
      let v22 = bitcast<f32>(launch[11].z);
      let a23 = bitcast<u32>(e2);
      let v23 = p2[a23];
      let v24 = hide32((v21 * operand32(v22)));
      let v25 = hide32((v23 - operand32(v24)));
      let w1 = bitcast<u32>(e1);
      p1[w1] = v24;
      let w2 = bitcast<u32>(e2);
      p2[w2] = v25;
    }
  }
}
