@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u64>>;
@group(0) @binding(2) var<storage, read> p1: array<vec4<u64>>;
@group(0) @binding(3) var<storage, read_write> p2: array<vec4<u64>>;

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
    let x = bitcast<i32>((place - row * launch1.x) * 8u - launch3.z);
    let e0 = bitcast<i32>(launch5.x);
    let e1 = bitcast<i32>(launch5.z);
    let e2 = bitcast<i32>(launch6.x);
    let b0 = e0;
    let f0 = b0 >> 3u;
    let l0 = (b0 + bitcast<i32>(launch0.w) + -1) >> 3u;
    let c0 = (b0 + x - (0)) >> 3u;
    let d0_0 = p0[clamp(c0 + (0), f0, l0)];
    let w0_0 = d0_0.x;
    let w0_1 = d0_0.y;
    let w0_2 = d0_0.z;
    let w0_3 = d0_0.w;
    let r0_0 = u32(w0_0);
    let r0_1 = u32(w0_0 >> 32u);
    let r0_2 = u32(w0_1);
    let r0_3 = u32(w0_1 >> 32u);
    let r0_4 = u32(w0_2);
    let r0_5 = u32(w0_2 >> 32u);
    let r0_6 = u32(w0_3);
    let r0_7 = u32(w0_3 >> 32u);
    let b1 = e1;
    let f1 = b1 >> 3u;
    let l1 = (b1 + bitcast<i32>(launch0.w) + -1) >> 3u;
    let c1 = (b1 + x - (0)) >> 3u;
    let d1_0 = p1[clamp(c1 + (0), f1, l1)];
    let w1_0 = d1_0.x;
    let w1_1 = d1_0.y;
    let w1_2 = d1_0.z;
    let w1_3 = d1_0.w;
    let r1_0 = u32(w1_0);
    let r1_1 = u32(w1_0 >> 32u);
    let r1_2 = u32(w1_1);
    let r1_3 = u32(w1_1 >> 32u);
    let r1_4 = u32(w1_2);
    let r1_5 = u32(w1_2 >> 32u);
    let r1_6 = u32(w1_3);
    let r1_7 = u32(w1_3 >> 32u);
    var s2_0 = 0u;
    {
      let i0 = bitcast<u32>(x) + 0u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_0);
      let v2 = bitcast<f32>(r1_0);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_0 = bitcast<u32>(v4);
    }
    var s2_1 = 0u;
    {
      let i0 = bitcast<u32>(x) + 1u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_1);
      let v2 = bitcast<f32>(r1_1);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_1 = bitcast<u32>(v4);
    }
    var s2_2 = 0u;
    {
      let i0 = bitcast<u32>(x) + 2u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_2);
      let v2 = bitcast<f32>(r1_2);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_2 = bitcast<u32>(v4);
    }
    var s2_3 = 0u;
    {
      let i0 = bitcast<u32>(x) + 3u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_3);
      let v2 = bitcast<f32>(r1_3);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_3 = bitcast<u32>(v4);
    }
    var s2_4 = 0u;
    {
      let i0 = bitcast<u32>(x) + 4u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_4);
      let v2 = bitcast<f32>(r1_4);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_4 = bitcast<u32>(v4);
    }
    var s2_5 = 0u;
    {
      let i0 = bitcast<u32>(x) + 5u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_5);
      let v2 = bitcast<f32>(r1_5);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_5 = bitcast<u32>(v4);
    }
    var s2_6 = 0u;
    {
      let i0 = bitcast<u32>(x) + 6u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_6);
      let v2 = bitcast<f32>(r1_6);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_6 = bitcast<u32>(v4);
    }
    var s2_7 = 0u;
    {
      let i0 = bitcast<u32>(x) + 7u;
      let v0 = bitcast<f32>(launch6.z);
      let v1 = bitcast<f32>(r0_7);
      let v2 = bitcast<f32>(r1_7);
      let v3 = (v0 * v2);
      let v4 = (v1 + v3);
      s2_7 = bitcast<u32>(v4);
    }
    let inside0 = bitcast<u32>(x) + 0u < launch0.w;
    let inside1 = bitcast<u32>(x) + 1u < launch0.w;
    let inside2 = bitcast<u32>(x) + 2u < launch0.w;
    let inside3 = bitcast<u32>(x) + 3u < launch0.w;
    let inside4 = bitcast<u32>(x) + 4u < launch0.w;
    let inside5 = bitcast<u32>(x) + 5u < launch0.w;
    let inside6 = bitcast<u32>(x) + 6u < launch0.w;
    let inside7 = bitcast<u32>(x) + 7u < launch0.w;
    let at2 = (e2 + x) >> 3u;
    var old2 = vec4<u64>();
    if (!(inside0 && inside7)) {
      old2 = p2[at2];
    }
    let n2_0 = u64(select(u32(old2.x), s2_0, inside0)) | (u64(select(u32(old2.x >> 32u), s2_1, inside1)) << 32u);
    let n2_2 = u64(select(u32(old2.y), s2_2, inside2)) | (u64(select(u32(old2.y >> 32u), s2_3, inside3)) << 32u);
    let n2_4 = u64(select(u32(old2.z), s2_4, inside4)) | (u64(select(u32(old2.z >> 32u), s2_5, inside5)) << 32u);
    let n2_6 = u64(select(u32(old2.w), s2_6, inside6)) | (u64(select(u32(old2.w >> 32u), s2_7, inside7)) << 32u);
    p2[at2] = vec4<u64>(n2_0, n2_2, n2_4, n2_6);
  }
}
