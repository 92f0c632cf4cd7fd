// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> p2: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> p3: array<i32>;
@group(0) @binding(5) var<storage, read_write> p4: array<u32>;
@group(0) @binding(6) var<storage, read_write> p5: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> p6: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> p7: array<u32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn to_f16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let a = bits & 0x7fffffffu;
  let fraction = (a >> 13u) & 0x3ffu;
  let normal = (a + 0xfffu + ((a >> 13u) & 1u) - 0x38000000u) >> 13u;
  let drop = clamp(126u - (a >> 23u), 1u, 25u);
  let m = (a & 0x7fffffu) | 0x800000u;
  let tiny = (m + (1u << (drop - 1u)) - 1u + ((m >> drop) & 1u)) >> drop;
  var half = select(normal, tiny, a < 0x38800000u);
  half = select(half, 0u, a < 0x33000000u);
  half = select(half, 0x7c00u, a >= 0x477ff000u);
  half = select(half, 0x7c00u | fraction | select(0u, 0x200u, fraction == 0u), a > 0x7f800000u);
  return sign | half;
}
fn from_f16(half: u32) -> f32 {
  let sign = (half & 0x8000u) << 16u;
  let a = half & 0x7fffu;
  let lead = countLeadingZeros(max(a, 1u)) - 21u;
  let tiny = select(0u, ((113u - lead) << 23u) | (((a << lead) & 0x3ffu) << 13u), a != 0u);
  let normal = (a << 13u) + select(0x38000000u, 0x70000000u, a >= 0x7c00u);
  return bitcast<f32>(sign | select(normal, tiny, a < 0x400u));
}
fn round_f16(x: f32) -> f32 { return from_f16(to_f16(x)); }
fn to_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let nan = (bits >> 16u) | select(0u, 0x40u, (bits & 0x7f0000u) == 0u);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, nan, (bits & 0x7fffffffu) > 0x7f800000u);
}
fn round_bf16(x: f32) -> f32 { return bitcast<f32>(to_bf16(x) << 16u); }
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
      let e7 = bitcast<i32>(launch[8].z) + bitcast<i32>(i0) * bitcast<i32>(launch[8].w);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let v1 = ((bitcast<u32>(v0) & 0x7fffffffu) != 0u);
      let v2 = select(select(select(i32(v0), 127i, v0 >= 128.0f), -128i, v0 <= -128.0f), 0i, nan32(v0));
      let v3 = select(select(select(i32(v0), 2147483647i, v0 >= 2147483648.0f), (-2147483647i - 1i), v0 <= -2147483648.0f), 0i, nan32(v0));
      let v4 = select(select(select(u32(v0), 4294967295u, v0 >= 4294967296.0f), 0u, v0 <= 0.0f), 0u, nan32(v0));
      let v5 = round_f16(v0);
      let v6 = round_bf16(v0);
      let v7 = bitcast<u32>(v0);
      let w1 = bitcast<u32>(e1);
      atomicAnd(&p1[w1 >> 2u], ~(0xffu << ((w1 & 3u) << 3u)));
      atomicOr(&p1[w1 >> 2u], select(0u, 1u, v1) << ((w1 & 3u) << 3u));
      let w2 = bitcast<u32>(e2);
      atomicAnd(&p2[w2 >> 2u], ~(0xffu << ((w2 & 3u) << 3u)));
      atomicOr(&p2[w2 >> 2u], (bitcast<u32>(v2) & 0xffu) << ((w2 & 3u) << 3u));
      let w3 = bitcast<u32>(e3);
      p3[w3] = v3;
      let w4 = bitcast<u32>(e4);
      p4[w4] = v4;
      let w5 = bitcast<u32>(e5);
      atomicAnd(&p5[w5 >> 1u], ~(0xffffu << ((w5 & 1u) << 4u)));
      atomicOr(&p5[w5 >> 1u], to_f16(v5) << ((w5 & 1u) << 4u));
      let w6 = bitcast<u32>(e6);
      atomicAnd(&p6[w6 >> 1u], ~(0xffffu << ((w6 & 1u) << 4u)));
      atomicOr(&p6[w6 >> 1u], to_bf16(v6) << ((w6 & 1u) << 4u));
      let w7 = bitcast<u32>(e7);
      p7[w7] = v7;
    }
  }
}
