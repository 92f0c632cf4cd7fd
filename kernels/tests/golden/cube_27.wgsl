// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 16>;
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
      let a0 = bitcast<u32>(e0 + bitcast<i32>(launch[9].x));
      let v0 = p0[a0];
      let a1 = bitcast<u32>(e0 + bitcast<i32>(launch[9].y));
      let v1 = p0[a1];
      let v2 = 2.0f;
      let v3 = hide32((v1 * operand32(v2)));
      let a4 = bitcast<u32>(e0 + bitcast<i32>(launch[9].z));
      let v4 = p0[a4];
      let v5 = 3.0f;
      let v6 = hide32((v4 * operand32(v5)));
      let a7 = bitcast<u32>(e0 + bitcast<i32>(launch[9].w));
      let v7 = p0[a7];
      let v8 = 4.0f;
      let v9 = hide32((v7 * operand32(v8)));
      let a10 = bitcast<u32>(e0 + bitcast<i32>(launch[10].x));
      let v10 = p0[a10];
      let v11 = 5.0f;
      let v12 = hide32((v10 * operand32(v11)));
      let a13 = bitcast<u32>(e0 + bitcast<i32>(launch[10].y));
      let v13 = p0[a13];
      let a14 = bitcast<u32>(e0 + bitcast<i32>(launch[10].z));
      let v14 = p0[a14];
      let v15 = hide32((v14 * operand32(v2)));
      let a16 = bitcast<u32>(e0 + bitcast<i32>(launch[10].w));
      let v16 = p0[a16];
      let v17 = hide32((v16 * operand32(v5)));
      let a18 = bitcast<u32>(e0 + bitcast<i32>(launch[11].x));
      let v18 = p0[a18];
      let v19 = hide32((v18 * operand32(v8)));
      let a20 = bitcast<u32>(e0 + bitcast<i32>(launch[11].y));
      let v20 = p0[a20];
      let v21 = hide32((v20 * operand32(v11)));
      let a22 = bitcast<u32>(e0 + bitcast<i32>(launch[11].z));
      let v22 = p0[a22];
      let a23 = bitcast<u32>(e0 + bitcast<i32>(launch[11].w));
      let v23 = p0[a23];
      let v24 = hide32((v23 * operand32(v2)));
      let a25 = bitcast<u32>(e0 + bitcast<i32>(launch[12].x));
      let v25 = p0[a25];
      let v26 = hide32((v25 * operand32(v5)));
      let a27 = bitcast<u32>(e0);
      let v27 = p0[a27];
      let v28 = hide32((v27 * operand32(v8)));
      let a29 = bitcast<u32>(e0 + bitcast<i32>(launch[12].y));
      let v29 = p0[a29];
      let v30 = hide32((v29 * operand32(v11)));
      let a31 = bitcast<u32>(e0 + bitcast<i32>(launch[12].z));
      let v31 = p0[a31];
      let a32 = bitcast<u32>(e0 + bitcast<i32>(launch[12].w));
      let v32 = p0[a32];
      let v33 = hide32((v32 * operand32(v2)));
      let a34 = bitcast<u32>(e0 + bitcast<i32>(launch[13].x));
      let v34 = p0[a34];
      let v35 = hide32((v34 * operand32(v5)));
      let a36 = bitcast<u32>(e0 + bitcast<i32>(launch[13].y));
      let v36 = p0[a36];
      let v37 = hide32((v36 * operand32(v8)));
      let a38 = bitcast<u32>(e0 + bitcast<i32>(launch[13].z));
      let v38 = p0[a38];
      let v39 = hide32((v38 * operand32(v11)));
      let a40 = bitcast<u32>(e0 + bitcast<i32>(launch[13].w));
      let v40 = p0[a40];
      let a41 = bitcast<u32>(e0 + bitcast<i32>(launch[14].x));
      let v41 = p0[a41];
      let v42 = hide32((v41 * operand32(v2)));
      let a43 = bitcast<u32>(e0 + bitcast<i32>(launch[14].y));
      let v43 = p0[a43];
      let v44 = hide32((v43 * operand32(v5)));
      let a45 = bitcast<u32>(e0 + bitcast<i32>(launch[14].z));
      let v45 = p0[a45];
      let v46 = hide32((v45 * operand32(v8)));
      let a47 = bitcast<u32>(e0 + bitcast<i32>(launch[14].w));
      let v47 = p0[a47];
      let v48 = hide32((v47 * operand32(v11)));
      let a49 = bitcast<u32>(e0 + bitcast<i32>(launch[15].x));
      let v49 = p0[a49];
      let a50 = bitcast<u32>(e0 + bitcast<i32>(launch[15].y));
      let v50 = p0[a50];
      let v51 = hide32((v50 * operand32(v2)));
      let v52 = hide32((v0 + operand32(v3)));
      let v53 = hide32((v52 + operand32(v6)));
      let v54 = hide32((v53 + operand32(v9)));
      let v55 = hide32((v54 + operand32(v12)));
      let v56 = hide32((v55 + operand32(v13)));
      let v57 = hide32((v56 + operand32(v15)));
      let v58 = hide32((v57 + operand32(v17)));
      let v59 = hide32((v58 + operand32(v19)));
      let v60 = hide32((v59 + operand32(v21)));
      let v61 = hide32((v60 + operand32(v22)));
      let v62 = hide32((v61 + operand32(v24)));
      let v63 = hide32((v62 + operand32(v26)));
      let v64 = hide32((v63 + operand32(v28)));
      let v65 = hide32((v64 + operand32(v30)));
      let v66 = hide32((v65 + operand32(v31)));
      let v67 = hide32((v66 + operand32(v33)));
      let v68 = hide32((v67 + operand32(v35)));
      let v69 = hide32((v68 + operand32(v37)));
      let v70 = hide32((v69 + operand32(v39)));
      let v71 = hide32((v70 + operand32(v40)));
      let v72 = hide32((v71 + operand32(v42)));
      let v73 = hide32((v72 + operand32(v44)));
      let v74 = hide32((v73 + operand32(v46)));
      let v75 = hide32((v74 + operand32(v48)));
      let v76 = hide32((v75 + operand32(v49)));
      let v77 = hide32((v76 + operand32(v51)));
      let w1 = bitcast<u32>(e1);
      p1[w1] = v77;
    }
  }
}
