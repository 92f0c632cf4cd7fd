@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 6>;
@group(0) @binding(1) var<storage, read> p0: array<u64>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

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
  let b0 = bitcast<u32>(e0 + bitcast<i32>(launch[5].z)) + x;
  let w0_0 = p0[(b0 >> 1u) + 0u];
  let w0_1 = p0[(b0 >> 1u) + 1u];
  let w0_2 = p0[(b0 >> 1u) + 2u];
  let w0_3 = p0[(b0 >> 1u) + 3u];
  let w0_4 = p0[(b0 >> 1u) + 4u];
  let w0_5 = p0[(b0 + 9u) >> 1u];
  let r0_0 = select(u32(w0_0), u32(w0_0 >> 32u), (b0 & 1u) != 0u);
  let r0_1 = select(u32(w0_0 >> 32u), u32(w0_1), (b0 & 1u) != 0u);
  let r0_2 = select(u32(w0_1), u32(w0_1 >> 32u), (b0 & 1u) != 0u);
  let r0_3 = select(u32(w0_1 >> 32u), u32(w0_2), (b0 & 1u) != 0u);
  let r0_4 = select(u32(w0_2), u32(w0_2 >> 32u), (b0 & 1u) != 0u);
  let r0_5 = select(u32(w0_2 >> 32u), u32(w0_3), (b0 & 1u) != 0u);
  let r0_6 = select(u32(w0_3), u32(w0_3 >> 32u), (b0 & 1u) != 0u);
  let r0_7 = select(u32(w0_3 >> 32u), u32(w0_4), (b0 & 1u) != 0u);
  let r0_8 = select(u32(w0_4), u32(w0_4 >> 32u), (b0 & 1u) != 0u);
  let r0_9 = select(u32(w0_4 >> 32u), u32(w0_5), (b0 & 1u) != 0u);
  {
    let i0 = x + 0u;
    let v0 = bitcast<f32>(r0_0);
    let v1 = bitcast<f32>(r0_2);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 0u)] = v4;
  }
  {
    let i0 = x + 1u;
    let v0 = bitcast<f32>(r0_1);
    let v1 = bitcast<f32>(r0_3);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 1u)] = v4;
  }
  {
    let i0 = x + 2u;
    let v0 = bitcast<f32>(r0_2);
    let v1 = bitcast<f32>(r0_4);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 2u)] = v4;
  }
  {
    let i0 = x + 3u;
    let v0 = bitcast<f32>(r0_3);
    let v1 = bitcast<f32>(r0_5);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 3u)] = v4;
  }
  {
    let i0 = x + 4u;
    let v0 = bitcast<f32>(r0_4);
    let v1 = bitcast<f32>(r0_6);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 4u)] = v4;
  }
  {
    let i0 = x + 5u;
    let v0 = bitcast<f32>(r0_5);
    let v1 = bitcast<f32>(r0_7);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 5u)] = v4;
  }
  {
    let i0 = x + 6u;
    let v0 = bitcast<f32>(r0_6);
    let v1 = bitcast<f32>(r0_8);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 6u)] = v4;
  }
  {
    let i0 = x + 7u;
    let v0 = bitcast<f32>(r0_7);
    let v1 = bitcast<f32>(r0_9);
    let v2 = (v0 + v1);
    let v3 = 0.5f;
    let v4 = (v2 * v3);
    p1[(bitcast<u32>(e1) + x + 7u)] = v4;
  }
}
