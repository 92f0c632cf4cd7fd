// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 6>;
@group(0) @binding(1) var<storage, read> p0: array<f32>;
@group(0) @binding(2) var<storage, read_write> p1: array<f32>;

fn unpack32(a: u32) -> vec2<i32> {
  let lead = countLeadingZeros(max(a, 1u)) - 8u;
  let tiny = vec2<i32>(bitcast<i32>(a << lead), 1 - bitcast<i32>(lead));
  let normal = vec2<i32>(bitcast<i32>((a & 0x7fffffu) | 0x800000u), bitcast<i32>(a >> 23u));
  return select(normal, tiny, a < 0x800000u);
}
fn pack32(sign: u32, exponent: i32, m: u32) -> f32 {
  if (exponent >= 255) { return bitcast<f32>(sign | 0x7f800000u); }
  if (exponent < -23) { return bitcast<f32>(sign); }
  let drop = 8u + u32(max(1 - exponent, 0));
  let kept = select(m >> (drop & 31u), 0u, drop == 32u);
  let rest = m << (32u - drop);
  let up = select(0u, 1u, rest > 0x80000000u || (rest == 0x80000000u && (kept & 1u) == 1u));
  return bitcast<f32>(sign | ((u32(max(exponent - 1, 0)) << 23u) + kept + up));
}
fn shift_jam(x: vec2<u32>, by: u32) -> vec2<u32> {
  if (by == 0u) { return x; }
  if (by >= 64u) { return vec2<u32>(0u, select(0u, 1u, (x.x | x.y) != 0u)); }
  if (by >= 32u) {
    let lost = x.y | select(0u, x.x << (64u - by), by > 32u);
    return vec2<u32>(0u, (x.x >> (by - 32u)) | select(0u, 1u, lost != 0u));
  }
  let lost = x.y << (32u - by);
  return vec2<u32>(x.x >> by, (x.y >> by) | (x.x << (32u - by)) | select(0u, 1u, lost != 0u));
}
fn shift_left(x: vec2<u32>, by: u32) -> vec2<u32> {
  if (by == 0u) { return x; }
  if (by >= 32u) { return vec2<u32>(x.y << (by - 32u), 0u); }
  return vec2<u32>((x.x << by) | (x.y >> (32u - by)), x.y << by);
}
fn product48(x: u32, y: u32) -> vec2<u32> {
  let middle = (x >> 12u) * (y & 0xfffu) + (x & 0xfffu) * (y >> 12u);
  let top = (x >> 12u) * (y >> 12u);
  let part = (x & 0xfffu) * (y & 0xfffu) + ((middle & 0xfffffu) << 12u);
  let carry = select(0u, 1u, part < ((middle & 0xfffffu) << 12u));
  let low = part + (top << 24u);
  return vec2<u32>((middle >> 20u) + (top >> 8u) + carry + select(0u, 1u, low < part), low);
}
fn fma32(x: f32, y: f32, z: f32) -> f32 {
  let ax = bitcast<u32>(x) & 0x7fffffffu;
  let ay = bitcast<u32>(y) & 0x7fffffffu;
  let az = bitcast<u32>(z) & 0x7fffffffu;
  let sign = (bitcast<u32>(x) ^ bitcast<u32>(y)) & 0x80000000u;
  let sign_z = bitcast<u32>(z) & 0x80000000u;
  let infinite = ax == 0x7f800000u || ay == 0x7f800000u;
  var nan = max(ax, max(ay, az)) > 0x7f800000u || (infinite && (ax == 0u || ay == 0u));
  nan = nan || (infinite && az == 0x7f800000u && sign != sign_z);
  if (nan) { return bitcast<f32>(sign | 0x7fc00000u); }
  if (infinite) { return bitcast<f32>(sign | 0x7f800000u); }
  if (az == 0x7f800000u) { return z; }
  if (ax == 0u || ay == 0u) {
    return bitcast<f32>(select(bitcast<u32>(z), sign & sign_z, az == 0u));
  }
  let p = unpack32(ax);
  let q = unpack32(ay);
  let whole = product48(bitcast<u32>(p.x), bitcast<u32>(q.x));
  let lead = select(0u, 1u, (whole.x & 0x8000u) == 0u);
  var big = shift_left(whole, 16u + lead);
  var big_exponent = p.y + q.y - 126 - bitcast<i32>(lead);
  var big_sign = sign;
  if (az == 0u) { return pack32(sign, big_exponent, big.x | select(0u, 1u, big.y != 0u)); }
  let r = unpack32(az);
  var small = vec2<u32>(bitcast<u32>(r.x) << 8u, 0u);
  var small_exponent = r.y;
  let tied = small_exponent == big_exponent;
  let above = small.x > big.x || (small.x == big.x && small.y > big.y);
  if (small_exponent > big_exponent || (tied && above)) {
    let old = big;
    big = small;
    small = old;
    let old_exponent = big_exponent;
    big_exponent = small_exponent;
    small_exponent = old_exponent;
    big_sign = sign_z;
  }
  small = shift_jam(small, u32(big_exponent - small_exponent));
  if (sign == sign_z) {
    let low = big.y + small.y;
    let carry = select(0u, 1u, low < big.y);
    let high = big.x + small.x + carry;
    let over = high < big.x || (high == big.x && carry == 1u && small.x == 0xffffffffu);
    let sticky = select(0u, 1u, low != 0u);
    if (over) { return pack32(sign, big_exponent + 1, 0x80000000u | (high >> 1u) | (high & 1u) | sticky); }
    return pack32(sign, big_exponent, high | sticky);
  }
  let low = big.y - small.y;
  let high = big.x - small.x - select(0u, 1u, big.y < small.y);
  if ((high | low) == 0u) { return 0.0f; }
  let gap = select(countLeadingZeros(high), 32u + countLeadingZeros(low), high == 0u);
  let m = shift_left(vec2<u32>(high, low), gap);
  return pack32(big_sign, big_exponent - bitcast<i32>(gap), m.x | select(0u, 1u, m.y != 0u));
}
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
      let a0 = bitcast<u32>(e0);
      let v0 = p0[a0];
      let v1 = 0.33333334f;
      let v2 = fma32(v0, v1, v0);
      let w1 = bitcast<u32>(e1);
      p1[w1] = v2;
    }
  }
}
