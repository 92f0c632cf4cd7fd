// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read> p1: array<f32>;
@group(0) @binding(3) var<storage, read_write> p2: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> p3: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> p4: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> p5: array<f32>;
@group(0) @binding(7) var<storage, read_write> p6: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
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
  for (var j = 0u; j < 4u; j += 1u) {
    let item = first + j * 256u;
    if (item < launch[0].w) {
      var x = item;
      let i0 = x;
      let e0 = bitcast<i32>(launch[5].x) + bitcast<i32>(i0) * bitcast<i32>(launch[5].y);
      let e1 = bitcast<i32>(launch[5].z) + bitcast<i32>(i0) * bitcast<i32>(launch[5].w);
      let e2 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y);
      let e3 = bitcast<i32>(launch[6].z) + bitcast<i32>(i0) * bitcast<i32>(launch[6].w);
      let e4 = bitcast<i32>(launch[7].x) + bitcast<i32>(i0) * bitcast<i32>(launch[7].y);
      let e5 = bitcast<i32>(launch[7].z) + bitcast<i32>(i0) * bitcast<i32>(launch[7].w);
      let e6 = bitcast<i32>(launch[8].x) + bitcast<i32>(i0) * bitcast<i32>(launch[8].y);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let a1 = bitcast<u32>(e1);
      let v1 = p1[a1];
      let v2 = nan32(v0);
      let v3 = !(v0 == v0);
      let v4 = (v0 <= v1);
      let v5 = select(v1, v0, v0 < v1 || nan32(v0));
      let v6 = select(v1, v0, v0 > v1 || nan32(v0));
      let w2 = bitcast<u32>(e2);
      atomicAnd(&p2[w2 >> 2u], ~(0xffu << ((w2 & 3u) << 3u)));
      atomicOr(&p2[w2 >> 2u], select(0u, 1u, v2) << ((w2 & 3u) << 3u));
      let w3 = bitcast<u32>(e3);
      atomicAnd(&p3[w3 >> 2u], ~(0xffu << ((w3 & 3u) << 3u)));
      atomicOr(&p3[w3 >> 2u], select(0u, 1u, v3) << ((w3 & 3u) << 3u));
      let w4 = bitcast<u32>(e4);
      atomicAnd(&p4[w4 >> 2u], ~(0xffu << ((w4 & 3u) << 3u)));
      atomicOr(&p4[w4 >> 2u], select(0u, 1u, v4) << ((w4 & 3u) << 3u));
      let w5 = bitcast<u32>(e5);
      p5[w5] = v5;
      let w6 = bitcast<u32>(e6);
      p6[w6] = v6;
    }
  }
}
