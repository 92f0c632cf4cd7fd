// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> p0: array<u32>;
@group(0) @binding(2) var<storage, read> p1: array<u32>;
@group(0) @binding(3) var<storage, read_write> p2: array<atomic<u32>>;

@compute @workgroup_size(256)
fn scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
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
  if (first < launch[0].w) {
    var x = first;
    let i0 = x;
    let e0 = bitcast<i32>(launch[5].x) + bitcast<i32>(i0) * bitcast<i32>(launch[5].y);
    let e1 = bitcast<i32>(launch[5].z) + bitcast<i32>(i0) * bitcast<i32>(launch[5].w);
    let v0 = p0[bitcast<u32>(e0)];
    let v1 = (bitcast<i32>((p1[bitcast<u32>(e1) >> 1u] >> ((bitcast<u32>(e1) & 1u) << 4u)) << 16u) >> 16u);
    let slot = u32(v0) - launch[3].x;
    if (slot < launch[3].z) {
      let slot_element = launch[3].w + u32(slot);
      atomicAnd(&p2[slot_element >> 1u], ~(0xffffu << ((slot_element & 1u) << 4u)));
      atomicOr(&p2[slot_element >> 1u], (bitcast<u32>(v1) & 0xffffu) << ((slot_element & 1u) << 4u));
    }
  }
}
