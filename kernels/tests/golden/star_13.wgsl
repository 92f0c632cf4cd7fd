// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 12>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

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
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let a1 = bitcast<u32>(e0 + bitcast<i32>(launch[9].x));
      let v1 = p0[a1];
      let v2 = 2.0f;
      let v3 = hide32((v1 * operand32(v2)));
      let a4 = bitcast<u32>(e0 + bitcast<i32>(launch[9].y));
      let v4 = p0[a4];
      let v5 = 3.0f;
      let v6 = hide32((v4 * operand32(v5)));
      let a7 = bitcast<u32>(e0 + bitcast<i32>(launch[9].z));
      let v7 = p0[a7];
      let v8 = 4.0f;
      let v9 = hide32((v7 * operand32(v8)));
      let a10 = bitcast<u32>(e0 + bitcast<i32>(launch[9].w));
      let v10 = p0[a10];
      let v11 = 5.0f;
      let v12 = hide32((v10 * operand32(v11)));
      let a13 = bitcast<u32>(e0 + bitcast<i32>(launch[10].x));
      let v13 = p0[a13];
      let a14 = bitcast<u32>(e0 + bitcast<i32>(launch[10].y));
      let v14 = p0[a14];
      let v15 = hide32((v14 * operand32(v2)));
      let a16 = bitcast<u32>(e0 + bitcast<i32>(launch[10].z));
      let v16 = p0[a16];
      let v17 = hide32((v16 * operand32(v5)));
      let a18 = bitcast<u32>(e0 + bitcast<i32>(launch[10].w));
      let v18 = p0[a18];
      let v19 = hide32((v18 * operand32(v8)));
      let a20 = bitcast<u32>(e0 + bitcast<i32>(launch[11].x));
      let v20 = p0[a20];
      let v21 = hide32((v20 * operand32(v11)));
      let a22 = bitcast<u32>(e0 + bitcast<i32>(launch[11].y));
      let v22 = p0[a22];
      let a23 = bitcast<u32>(e0 + bitcast<i32>(launch[11].z));
      let v23 = p0[a23];
      let v24 = hide32((v23 * operand32(v2)));
      let a25 = bitcast<u32>(e0 + bitcast<i32>(launch[11].w));
      let v25 = p0[a25];
      let v26 = hide32((v25 * operand32(v5)));
      let v27 = hide32((v0 + operand32(v3)));
      let v28 = hide32((v27 + operand32(v6)));
      let v29 = hide32((v28 + operand32(v9)));
      let v30 = hide32((v29 + operand32(v12)));
      let v31 = hide32((v30 + operand32(v13)));
      let v32 = hide32((v31 + operand32(v15)));
      let v33 = hide32((v32 + operand32(v17)));
      let v34 = hide32((v33 + operand32(v19)));
      let v35 = hide32((v34 + operand32(v21)));
      let v36 = hide32((v35 + operand32(v22)));
      let v37 = hide32((v36 + operand32(v24)));
      let v38 = hide32((v37 + operand32(v26)));
      let w1 = bitcast<u32>(e1);
      p1[w1] = v38;
    }
  }
}
