@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u64>>;
@group(0) @binding(2) var<storage, read_write> p1: array<u32>;

@compute @workgroup_size(8)
fn elementwise(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let launch0 = launch[0];
  let launch1 = launch[1];
  let launch2 = launch[2];
  let launch3 = launch[3];
  let launch4 = launch[4];
  let launch5 = launch[5];
  let launch6 = launch[6];
  let first = (group.x + launch0.y * (group.y + launch0.z * group.z)) * launch3.w;
  for (var turn = 0u; turn < launch3.w; turn += 1u) {
    let place = min((first + turn) * 8u + local, launch1.y * launch1.x - 1u);
    let row_low = u32((u64(place) * u64(launch4.y)) >> 32u);
    let row = row_low + select(0u, 1u, place - row_low * launch1.x >= launch1.x);
    let x = bitcast<i32>(min((place - row * launch1.x) * 8u, launch0.w - 8u));
    let e0 = bitcast<i32>(launch5.x);
    let e1 = bitcast<i32>(launch5.z);
    let b0 = e0 + bitcast<i32>(launch6.x);
    let f0 = b0 >> 3u;
    let l0 = (b0 + bitcast<i32>(launch0.w) + 1) >> 3u;
    let c0 = (b0 + x) >> 3u;
    let d0_0 = p0[clamp(c0 + (0), f0, l0)];
    let w0_0 = d0_0.x;
    let w0_1 = d0_0.y;
    let w0_2 = d0_0.z;
    let w0_3 = d0_0.w;
    let d0_1 = p0[clamp(c0 + (1), f0, l0)];
    let w0_4 = d0_1.x;
    let w0_5 = d0_1.y;
    let w0_6 = d0_1.z;
    let w0_7 = d0_1.w;
    let d0_2 = clamp(c0 + (2), f0, l0);
    let w0_8 = p0[d0_2].x;
    let o0 = ((b0 + x) & 4) != 0;
    let t0 = ((b0 + x) & 2) != 0;
    let h0 = ((b0 + x) & 1) != 0;
    let o0_0 = select(w0_0, w0_2, o0);
    let o0_1 = select(w0_1, w0_3, o0);
    let o0_2 = select(w0_2, w0_4, o0);
    let o0_3 = select(w0_3, w0_5, o0);
    let o0_4 = select(w0_4, w0_6, o0);
    let o0_5 = select(w0_5, w0_7, o0);
    let o0_6 = select(w0_6, w0_8, o0);
    let t0_0 = select(o0_0, o0_1, t0);
    let t0_1 = select(o0_1, o0_2, t0);
    let t0_2 = select(o0_2, o0_3, t0);
    let t0_3 = select(o0_3, o0_4, t0);
    let t0_4 = select(o0_4, o0_5, t0);
    let t0_5 = select(o0_5, o0_6, t0);
    let r0_0 = select(u32(t0_0), u32(t0_0 >> 32u), h0);
    let r0_1 = select(u32(t0_0 >> 32u), u32(t0_1), h0);
    let r0_2 = select(u32(t0_1), u32(t0_1 >> 32u), h0);
    let r0_3 = select(u32(t0_1 >> 32u), u32(t0_2), h0);
    let r0_4 = select(u32(t0_2), u32(t0_2 >> 32u), h0);
    let r0_5 = select(u32(t0_2 >> 32u), u32(t0_3), h0);
    let r0_6 = select(u32(t0_3), u32(t0_3 >> 32u), h0);
    let r0_7 = select(u32(t0_3 >> 32u), u32(t0_4), h0);
    let r0_8 = select(u32(t0_4), u32(t0_4 >> 32u), h0);
    let r0_9 = select(u32(t0_4 >> 32u), u32(t0_5), h0);
    var s1_0 = 0u;
    {
      let i0 = bitcast<u32>(x) + 0u;
      let v0 = bitcast<f32>(r0_0);
      let v1 = bitcast<f32>(r0_2);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_0 = bitcast<u32>(v4);
    }
    var s1_1 = 0u;
    {
      let i0 = bitcast<u32>(x) + 1u;
      let v0 = bitcast<f32>(r0_1);
      let v1 = bitcast<f32>(r0_3);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_1 = bitcast<u32>(v4);
    }
    var s1_2 = 0u;
    {
      let i0 = bitcast<u32>(x) + 2u;
      let v0 = bitcast<f32>(r0_2);
      let v1 = bitcast<f32>(r0_4);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_2 = bitcast<u32>(v4);
    }
    var s1_3 = 0u;
    {
      let i0 = bitcast<u32>(x) + 3u;
      let v0 = bitcast<f32>(r0_3);
      let v1 = bitcast<f32>(r0_5);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_3 = bitcast<u32>(v4);
    }
    var s1_4 = 0u;
    {
      let i0 = bitcast<u32>(x) + 4u;
      let v0 = bitcast<f32>(r0_4);
      let v1 = bitcast<f32>(r0_6);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_4 = bitcast<u32>(v4);
    }
    var s1_5 = 0u;
    {
      let i0 = bitcast<u32>(x) + 5u;
      let v0 = bitcast<f32>(r0_5);
      let v1 = bitcast<f32>(r0_7);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_5 = bitcast<u32>(v4);
    }
    var s1_6 = 0u;
    {
      let i0 = bitcast<u32>(x) + 6u;
      let v0 = bitcast<f32>(r0_6);
      let v1 = bitcast<f32>(r0_8);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_6 = bitcast<u32>(v4);
    }
    var s1_7 = 0u;
    {
      let i0 = bitcast<u32>(x) + 7u;
      let v0 = bitcast<f32>(r0_7);
      let v1 = bitcast<f32>(r0_9);
      let v2 = (v0 + v1);
      let v3 = 0.5f;
      let v4 = (v2 * v3);
      s1_7 = bitcast<u32>(v4);
    }
    p1[e1 + x + 0] = s1_0;
    p1[e1 + x + 1] = s1_1;
    p1[e1 + x + 2] = s1_2;
    p1[e1 + x + 3] = s1_3;
    p1[e1 + x + 4] = s1_4;
    p1[e1 + x + 5] = s1_5;
    p1[e1 + x + 6] = s1_6;
    p1[e1 + x + 7] = s1_7;
  }
}
