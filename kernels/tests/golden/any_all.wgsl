// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<u32>;
@group(0) @binding(2) var<storage, read_write> out0: array<u32>;

@compute @workgroup_size(256)
fn fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    let q1 = segment / launch[4].y;
    var i1 = segment - q1 * launch[4].y;
    var i0 = q1;
    var acc0 = false;
    if (launch[2].y != 0u) {
      acc0 = (out0[item] != 0u);
    }
    for (var r = segment; r < launch[2].x; r += launch[1].z) {
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let a0 = bitcast<u32>(e0);
      let v0 = (((p0[a0 >> 2u] >> ((a0 & 3u) << 3u)) & 0xffu) != 0u);
      acc0 = (acc0 | v0);
      i1 += launch[4].w;
      let c1 = select(0u, 1u, i1 >= launch[4].y);
      i1 -= c1 * launch[4].y;
      i0 += launch[4].z + c1;
    }
    out0[item] = select(0u, 1u, acc0);
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<u32>;
@group(0) @binding(2) var<storage, read_write> out0: array<u32>;

@compute @workgroup_size(256)
fn again(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    var acc0 = false;
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = kept * launch[1].w + s;
      let x0 = (in0[at] != 0u);
      acc0 = (acc0 | x0);
    }
    out0[item] = select(0u, 1u, acc0);
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<u32>;
@group(0) @binding(2) var<storage, read_write> p1: array<atomic<u32>>;

@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    var acc0 = false;
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = kept * launch[1].w + s;
      let x0 = (in0[at] != 0u);
      acc0 = (acc0 | x0);
    }
    let e1 = bitcast<i32>(launch[6].w);
    let w1 = bitcast<u32>(e1);
    atomicAnd(&p1[w1 >> 2u], ~(0xffu << ((w1 & 3u) << 3u)));
    atomicOr(&p1[w1 >> 2u], select(0u, 1u, acc0) << ((w1 & 3u) << 3u));
  }
}
