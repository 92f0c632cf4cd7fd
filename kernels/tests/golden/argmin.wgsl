// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;
@group(0) @binding(3) var<storage, read_write> out1: array<i32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    var i0 = segment;
    var acc0 = bitcast<f32>(launch[6].z);
    var acc1 = 2147483647i;
    if (launch[2].y != 0u) {
      acc0 = out0[item];
      acc1 = out1[item];
    }
    for (var r = segment; r < launch[2].x; r += launch[1].z) {
      let e0 = bitcast<i32>(launch[5].x) + bitcast<i32>(i0) * bitcast<i32>(launch[5].y);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let v1 = (bitcast<i32>(launch[4].z) + bitcast<i32>(i0));
      let better0 = select(!nan32(acc0) && ((v0 < acc0) || ((v0 == acc0) && v1 < acc1)), !nan32(acc0) || v1 < acc1, nan32(v0));
      acc0 = select(acc0, v0, better0);
      acc1 = select(acc1, v1, better0);
      i0 += launch[4].y;
    }
    out0[item] = acc0;
    out1[item] = acc1;
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read> in1: array<i32>;
@group(0) @binding(3) var<storage, read_write> out0: array<f32>;
@group(0) @binding(4) var<storage, read_write> out1: array<i32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn again(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    var acc0 = bitcast<f32>(launch[6].z);
    var acc1 = 2147483647i;
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = kept * launch[1].w + s;
      let x0 = in0[at];
      let x1 = in1[at];
      let better0 = select(!nan32(acc0) && ((x0 < acc0) || ((x0 == acc0) && x1 < acc1)), !nan32(acc0) || x1 < acc1, nan32(x0));
      acc0 = select(acc0, x0, better0);
      acc1 = select(acc1, x1, better0);
    }
    out0[item] = acc0;
    out1[item] = acc1;
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 7>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read> in1: array<i32>;
@group(0) @binding(3) var<storage, read_write> p1: array<f32>;
@group(0) @binding(4) var<storage, read_write> p2: array<i32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    var acc0 = bitcast<f32>(launch[6].z);
    var acc1 = 2147483647i;
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = kept * launch[1].w + s;
      let x0 = in0[at];
      let x1 = in1[at];
      let better0 = select(!nan32(acc0) && ((x0 < acc0) || ((x0 == acc0) && x1 < acc1)), !nan32(acc0) || x1 < acc1, nan32(x0));
      acc0 = select(acc0, x0, better0);
      acc1 = select(acc1, x1, better0);
    }
    if (launch[1].w == 0u) { acc1 = 0i; }
    let e1 = bitcast<i32>(launch[5].z);
    let w1 = bitcast<u32>(e1);
    p1[w1] = acc0;
    let e2 = bitcast<i32>(launch[6].x);
    let w2 = bitcast<u32>(e2);
    p2[w2] = acc1;
  }
}
