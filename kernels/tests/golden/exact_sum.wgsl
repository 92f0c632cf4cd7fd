// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out0: array<i32>;

@compute @workgroup_size(256)
fn fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let segment = item / launch[1].y;
    let kept = item - segment * launch[1].y;
    let i1 = kept;
    var i0 = segment;
    var number: array<i32, 30>;
    var added = 0u;
    if (launch[2].w != 0u) {
      for (var k = 0u; k < 25u; k++) { number[k] = out0[item * 25u + k]; }
    }
    for (var r = segment; r < launch[1].w; r += launch[2].y) {
      let e0 = bitcast<i32>(launch[6].x) + bitcast<i32>(i0) * bitcast<i32>(launch[6].y) + bitcast<i32>(i1) * bitcast<i32>(launch[6].z);
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let high = bitcast<u32>(v0);
      let exponent = (high >> 23u) & 0xffu;
      let is_fraction = (high & 0x7fffffu) != 0u;
      var low_word = (high & 0x7fffffu) | select(0u, 0x800000u, exponent != 0u);
      let is_finite = exponent != 0xffu;
      let is_negative = (high >> 31u) != 0u;
      var position = max(exponent, 1u) - 1u;
      if (!is_finite) {
        let flag = select(select(352u, 368u, is_negative), 384u, is_fraction);
        position = flag;
        low_word = 1u;
      }
      let sign = select(1i, -1i, is_negative && is_finite);
      let by = position & 15u;
      let at = position >> 4u;
      {
        let low = low_word << by;
        let above = (low_word >> 1u) >> (31u - by);
        number[at] += sign * i32(low & 0xffffu);
        number[at + 1u] += sign * i32(low >> 16u);
        number[at + 2u] += sign * i32(above);
      }
      added += 1u;
      if (added == 8192u) {
        added = 0u;
        {
          var over = 0i;
          for (var k = 0u; k < 21u; k++) {
            let sum = number[k] + over;
            number[k] = sum & 0xffffi;
            over = sum >> 16u;
          }
          number[21u] += over;
          for (var k = 22u; k < 25u; k++) { number[k] = min(number[k], 1i); }
        }
      }
      i0 += launch[4].z;
    }
    {
      var over = 0i;
      for (var k = 0u; k < 21u; k++) {
        let sum = number[k] + over;
        number[k] = sum & 0xffffi;
        over = sum >> 16u;
      }
      number[21u] += over;
      for (var k = 22u; k < 25u; k++) { number[k] = min(number[k], 1i); }
    }
    for (var k = 0u; k < 25u; k++) { out0[item * 25u + k] = number[k]; }
  }
}
// stage 1
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<i32>;
@group(0) @binding(2) var<storage, read_write> out0: array<i32>;

@compute @workgroup_size(256)
fn again(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let segment = item / launch[1].y;
    let kept = item - segment * launch[1].y;
    var number: array<i32, 30>;
    for (var s = segment; s < launch[1].z; s += launch[2].y) {
      let at = (s * launch[1].y + kept) * 25u;
      for (var k = 0u; k < 25u; k++) { number[k] += in0[at + k]; }
    }
    {
      var over = 0i;
      for (var k = 0u; k < 21u; k++) {
        let sum = number[k] + over;
        number[k] = sum & 0xffffi;
        over = sum >> 16u;
      }
      number[21u] += over;
      for (var k = 22u; k < 25u; k++) { number[k] = min(number[k], 1i); }
    }
    for (var k = 0u; k < 25u; k++) { out0[item * 25u + k] = number[k]; }
  }
}
// stage 2
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> in0: array<i32>;
@group(0) @binding(2) var<storage, read_write> p1: array<i32>;

@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = (group.x + launch[0].y * (group.y + launch[0].z * group.z)) * 256u + local;
  if (item < launch[0].w) {
    let segment = item / launch[1].y;
    let kept = item - segment * launch[1].y;
    var number: array<i32, 30>;
    for (var s = segment; s < launch[1].z; s += launch[2].y) {
      let at = (s * launch[1].y + kept) * 25u;
      for (var k = 0u; k < 25u; k++) { number[k] += in0[at + k]; }
    }
    {
      var over = 0i;
      for (var k = 0u; k < 21u; k++) {
        let sum = number[k] + over;
        number[k] = sum & 0xffffi;
        over = sum >> 16u;
      }
      number[21u] += over;
      for (var k = 22u; k < 25u; k++) { number[k] = min(number[k], 1i); }
    }
    let i1 = kept;
    let e1 = bitcast<i32>(launch[6].w) + bitcast<i32>(i1) * bitcast<i32>(launch[7].y);
    let first = bitcast<u32>(e1);
    for (var k = 0u; k < 25u; k++) { p1[first + k] = number[k]; }
  }
}
