// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let segment = item / launch[1].y;
    let kept = item - segment * launch[1].y;
    let i1 = kept;
    var i0 = segment;
    var acc0 = bitcast<f32>(launch[7].z);
    if (launch[2].y != 0u) {
      acc0 = out0[item];
    }
    for (var r = segment; r < launch[2].x; r += launch[1].z) {
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      acc0 = select(v0, acc0, acc0 > v0 || nan32(acc0));
      i0 += launch[4].z;
    }
    out0[item] = acc0;
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn again(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let segment = item / launch[1].y;
    let kept = item - segment * launch[1].y;
    var acc0 = bitcast<f32>(launch[7].z);
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = s * launch[1].y + kept;
      let x0 = in0[at];
      acc0 = select(x0, acc0, acc0 > x0 || nan32(acc0));
    }
    out0[item] = acc0;
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let segment = item / launch[1].y;
    let kept = item - segment * launch[1].y;
    var acc0 = bitcast<f32>(launch[7].z);
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = s * launch[1].y + kept;
      let x0 = in0[at];
      acc0 = select(x0, acc0, acc0 > x0 || nan32(acc0));
    }
    let i1 = kept;
    let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i1) * bitcast<i32>(launch[7].y);
    let w1 = bitcast<u32>(e1);
    p1[w1] = acc0;
  }
}
