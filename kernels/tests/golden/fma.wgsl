// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 6>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<vec4<u32>>;

fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
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
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u][e & 3u] = x; }
@compute @workgroup_size(256)
fn elementwise(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + launch[0].y * (group.y + launch[0].z * group.z);
  let chunks = launch[1].x;
  var first = number * 512u + local;
  var row = 0u;
  if (chunks != 0u) {
    row = number;
    if (chunks > 1u) { row = number / chunks; }
    first = (number - row * chunks) * 512u + local;
    if (row >= launch[1].y) { return; }
  }
  let item_0 = first + 0u;
  var pack_0 = min(item_0, launch[0].w - 1u);
  let row0_0 = bitcast<i32>(launch[5].x);
  let row1_0 = bitcast<i32>(launch[5].z);
  let x_0 = bitcast<i32>(pack_0) * 4i - select(0i, row1_0 & 3i, bitcast<i32>(launch[5].w) == 1i);
  let head_0 = max(0i - x_0, 0i);
  let tail_0 = max(x_0 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_0 = row0_0 + x_0 * bitcast<i32>(launch[5].y);
  let e1_0 = row1_0 + x_0 * bitcast<i32>(launch[5].w);
  var s0_0 = 0u;
  var r0_0_0: vec4<u32>;
  var r0_0_1: vec4<u32>;
  let b0_0 = e0_0;
  if (bitcast<i32>(launch[5].y) == 1i) {
    s0_0 = bitcast<u32>(b0_0) & 3u;
    let low0 = (b0_0 + head_0) >> 2u;
    let high0 = (b0_0 + 3i - tail_0) >> 2u;
    r0_0_0 = p0[min(max((b0_0 >> 2u) + 0i, low0), high0)];
    if ((b0_0 >> 2u) + 1i <= high0) { r0_0_1 = p0[min(max((b0_0 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_0_0 = vec4<u32>(at0(bitcast<u32>(b0_0 + min(max(0i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(1i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(2i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_0 + min(max(3i, head_0), 3i - tail_0) * bitcast<i32>(launch[5].y))));
  }
  let item_1 = first + 256u;
  var pack_1 = min(item_1, launch[0].w - 1u);
  let row0_1 = bitcast<i32>(launch[5].x);
  let row1_1 = bitcast<i32>(launch[5].z);
  let x_1 = bitcast<i32>(pack_1) * 4i - select(0i, row1_1 & 3i, bitcast<i32>(launch[5].w) == 1i);
  let head_1 = max(0i - x_1, 0i);
  let tail_1 = max(x_1 + 4i - bitcast<i32>(launch[4].x), 0i);
  let e0_1 = row0_1 + x_1 * bitcast<i32>(launch[5].y);
  let e1_1 = row1_1 + x_1 * bitcast<i32>(launch[5].w);
  var s0_1 = 0u;
  var r0_1_0: vec4<u32>;
  var r0_1_1: vec4<u32>;
  let b0_1 = e0_1;
  if (bitcast<i32>(launch[5].y) == 1i) {
    s0_1 = bitcast<u32>(b0_1) & 3u;
    let low0 = (b0_1 + head_1) >> 2u;
    let high0 = (b0_1 + 3i - tail_1) >> 2u;
    r0_1_0 = p0[min(max((b0_1 >> 2u) + 0i, low0), high0)];
    if ((b0_1 >> 2u) + 1i <= high0) { r0_1_1 = p0[min(max((b0_1 >> 2u) + 1i, low0), high0)]; }
  } else {
    r0_1_0 = vec4<u32>(at0(bitcast<u32>(b0_1 + min(max(0i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(1i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(2i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))), at0(bitcast<u32>(b0_1 + min(max(3i, head_1), 3i - tail_1) * bitcast<i32>(launch[5].y))));
  }
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_0_0.x);
      let v1 = 0.33333334f;
      let v2 = fma32(v0, v1, v0);
      o1_0 = move32(o1_0, vec4<u32>(bitcast<u32>(v2), 0u, 0u, 0u), 1u);
      r0_0_0 = move32(r0_0_0, r0_0_1, 1u);
    }
    if (item_0 < launch[0].w) {
      if ((head_0 | tail_0 | (e1_0 & 3i)) == 0i && bitcast<i32>(launch[5].w) == 1i) {
        p1[(e1_0 >> 2u) + 0i] = o1_0;
      } else {
        if (head_0 <= 0i && 0i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 0i * bitcast<i32>(launch[5].w)), o1_0.x); }
        if (head_0 <= 1i && 1i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 1i * bitcast<i32>(launch[5].w)), o1_0.y); }
        if (head_0 <= 2i && 2i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 2i * bitcast<i32>(launch[5].w)), o1_0.z); }
        if (head_0 <= 3i && 3i < 4i - tail_0) { put1(bitcast<u32>(e1_0 + 3i * bitcast<i32>(launch[5].w)), o1_0.w); }
      }
    }
  }
  {
    if (s0_1 != 0u) {
      r0_1_0 = move32(r0_1_0, r0_1_1, s0_1);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_1_0.x);
      let v1 = 0.33333334f;
      let v2 = fma32(v0, v1, v0);
      o1_0 = move32(o1_0, vec4<u32>(bitcast<u32>(v2), 0u, 0u, 0u), 1u);
      r0_1_0 = move32(r0_1_0, r0_1_1, 1u);
    }
    if (item_1 < launch[0].w) {
      if ((head_1 | tail_1 | (e1_1 & 3i)) == 0i && bitcast<i32>(launch[5].w) == 1i) {
        p1[(e1_1 >> 2u) + 0i] = o1_0;
      } else {
        if (head_1 <= 0i && 0i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 0i * bitcast<i32>(launch[5].w)), o1_0.x); }
        if (head_1 <= 1i && 1i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 1i * bitcast<i32>(launch[5].w)), o1_0.y); }
        if (head_1 <= 2i && 2i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 2i * bitcast<i32>(launch[5].w)), o1_0.z); }
        if (head_1 <= 3i && 3i < 4i - tail_1) { put1(bitcast<u32>(e1_1 + 3i * bitcast<i32>(launch[5].w)), o1_0.w); }
      }
    }
  }
}
