@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> p0: array<u64>;
@group(0) @binding(2) var<storage, read> p1: array<u64>;
@group(0) @binding(3) var<storage, read_write> p2: array<u64>;

@compute @workgroup_size(256)
fn elementwise(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + launch[0].y * (group.y + launch[0].z * group.z);
  let place = number * 256u + local;
  var row = 0u;
  if (launch[1].y > 1u) { row = place / launch[1].x; }
  if (row >= launch[1].y) { return; }
  var x = (place - row * launch[1].x) * 8u;
  if (x >= launch[0].w) { return; }
  x = min(x, launch[0].w - 8u);
  let e0 = bitcast<i32>(launch[4].z);
  let e1 = bitcast<i32>(launch[5].x);
  let e2 = bitcast<i32>(launch[5].z);
  let b0 = bitcast<u32>(e0) + x;
  let w0_0 = p0[(b0 >> 1u) + 0u];
  let w0_1 = p0[(b0 >> 1u) + 1u];
  let w0_2 = p0[(b0 >> 1u) + 2u];
  let w0_3 = p0[(b0 + 7u) >> 1u];
  let r0_0 = u32(w0_0);
  let r0_1 = u32(w0_0 >> 32u);
  let r0_2 = u32(w0_1);
  let r0_3 = u32(w0_1 >> 32u);
  let r0_4 = u32(w0_2);
  let r0_5 = u32(w0_2 >> 32u);
  let r0_6 = u32(w0_3);
  let r0_7 = u32(w0_3 >> 32u);
  let b1 = bitcast<u32>(e1) + x;
  let w1_0 = p1[(b1 >> 1u) + 0u];
  let w1_1 = p1[(b1 >> 1u) + 1u];
  let w1_2 = p1[(b1 >> 1u) + 2u];
  let w1_3 = p1[(b1 + 7u) >> 1u];
  let r1_0 = u32(w1_0);
  let r1_1 = u32(w1_0 >> 32u);
  let r1_2 = u32(w1_1);
  let r1_3 = u32(w1_1 >> 32u);
  let r1_4 = u32(w1_2);
  let r1_5 = u32(w1_2 >> 32u);
  let r1_6 = u32(w1_3);
  let r1_7 = u32(w1_3 >> 32u);
  var kept2 = 0u;
  {
    let i0 = x + 0u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_0);
    let v2 = bitcast<f32>(r1_0);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    kept2 = bitcast<u32>(v4);
  }
  {
    let i0 = x + 1u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_1);
    let v2 = bitcast<f32>(r1_1);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    p2[(bitcast<u32>(e2) + x + 1u) >> 1u] = u64(kept2) | (u64(bitcast<u32>(v4)) << 32u);
  }
  {
    let i0 = x + 2u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_2);
    let v2 = bitcast<f32>(r1_2);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    kept2 = bitcast<u32>(v4);
  }
  {
    let i0 = x + 3u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_3);
    let v2 = bitcast<f32>(r1_3);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    p2[(bitcast<u32>(e2) + x + 3u) >> 1u] = u64(kept2) | (u64(bitcast<u32>(v4)) << 32u);
  }
  {
    let i0 = x + 4u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_4);
    let v2 = bitcast<f32>(r1_4);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    kept2 = bitcast<u32>(v4);
  }
  {
    let i0 = x + 5u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_5);
    let v2 = bitcast<f32>(r1_5);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    p2[(bitcast<u32>(e2) + x + 5u) >> 1u] = u64(kept2) | (u64(bitcast<u32>(v4)) << 32u);
  }
  {
    let i0 = x + 6u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_6);
    let v2 = bitcast<f32>(r1_6);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    kept2 = bitcast<u32>(v4);
  }
  {
    let i0 = x + 7u;
    let v0 = bitcast<f32>(launch[6].x);
    let v1 = bitcast<f32>(r0_7);
    let v2 = bitcast<f32>(r1_7);
    let v3 = (v0 * v2);
    let v4 = (v1 + v3);
    p2[(bitcast<u32>(e2) + x + 7u) >> 1u] = u64(kept2) | (u64(bitcast<u32>(v4)) << 32u);
  }
}
