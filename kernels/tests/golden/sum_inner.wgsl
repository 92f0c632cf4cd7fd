// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    let i0 = kept;
    var i1 = segment;
    var acc0 = bitcast<f32>(launch[7].z);
    var lost0 = bitcast<f32>(launch[7].z);
    if (launch[2].y != 0u) {
      acc0 = out0[item];
    }
    for (var r = segment; r < launch[2].x; r += launch[1].z) {
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let sum0 = hide32((acc0 + operand32(v0)));
      let added0 = hide32((sum0 - operand32(acc0)));
      let kept0 = hide32((sum0 - operand32(added0)));
      let of_acc0 = hide32((acc0 - operand32(kept0)));
      let of_value0 = hide32((v0 - operand32(added0)));
      let both0 = hide32((of_acc0 + operand32(of_value0)));
      let all0 = hide32((lost0 + operand32(both0)));
      acc0 = sum0;
      lost0 = all0;
      i1 += launch[4].w;
    }
    acc0 = select(hide32((acc0 + operand32(lost0))), acc0, nan32(lost0));
    out0[item] = acc0;
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn again(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    var acc0 = bitcast<f32>(launch[7].z);
    var lost0 = bitcast<f32>(launch[7].z);
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = kept * launch[1].w + s;
      let x0 = in0[at];
      let sum0 = hide32((acc0 + operand32(x0)));
      let added0 = hide32((sum0 - operand32(acc0)));
      let kept0 = hide32((sum0 - operand32(added0)));
      let of_acc0 = hide32((acc0 - operand32(kept0)));
      let of_value0 = hide32((x0 - operand32(added0)));
      let both0 = hide32((of_acc0 + operand32(of_value0)));
      let all0 = hide32((lost0 + operand32(both0)));
      acc0 = sum0;
      lost0 = all0;
    }
    acc0 = select(hide32((acc0 + operand32(lost0))), acc0, nan32(lost0));
    out0[item] = acc0;
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let kept = item / launch[1].z;
    let segment = item - kept * launch[1].z;
    var acc0 = bitcast<f32>(launch[7].z);
    var lost0 = bitcast<f32>(launch[7].z);
    for (var s = segment; s < launch[1].w; s += launch[1].z) {
      let at = kept * launch[1].w + s;
      let x0 = in0[at];
      let sum0 = hide32((acc0 + operand32(x0)));
      let added0 = hide32((sum0 - operand32(acc0)));
      let kept0 = hide32((sum0 - operand32(added0)));
      let of_acc0 = hide32((acc0 - operand32(kept0)));
      let of_value0 = hide32((x0 - operand32(added0)));
      let both0 = hide32((of_acc0 + operand32(of_value0)));
      let all0 = hide32((lost0 + operand32(both0)));
      acc0 = sum0;
      lost0 = all0;
    }
    acc0 = select(hide32((acc0 + operand32(lost0))), acc0, nan32(lost0));
    let i0 = kept;
    let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i0) * bitcast<i32>(launch[7].x);
    let w1 = bitcast<u32>(e1);
    p1[w1] = acc0;
  }
}
