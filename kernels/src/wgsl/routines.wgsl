// Functions that kernels call: what the language lacks, or what a driver may get wrong. All of them decide by
// integer arithmetic on bit patterns, so a driver that rounds, flushes or assumes differently cannot change a
// bit. An empty line ends each; a function stands below those that it calls.

// Hides an f32 that was computed from the driver's optimiser.
fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }

// Hides an f64 that was computed from the driver's optimiser.
fn hide64(x: f64) -> f64 { return bitcast<f64>(bitcast<u64>(x) ^ u64(launch[0].x)); }

// Hides an f32 operand. Not by another exclusive or: two of them cancel.
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }

// Hides an f64 operand.
fn operand64(x: f64) -> f64 { return bitcast<f64>(bitcast<u64>(x) + u64(launch[0].x)); }

// Elements of two units of 8-bit elements from number `by` on; not 0.
fn move8(a: u32, b: u32, by: u32) -> u32 { return (a >> (8u * by)) | (b << (32u - 8u * by)); }

// The same of 16-bit elements.
fn move16(a: vec2<u32>, b: vec2<u32>, by: u32) -> vec2<u32> {
  let lows = select(a, vec2<u32>(a.y, b.x), by >= 2u);
  let highs = select(vec2<u32>(a.y, b.x), b, by >= 2u);
  return select(lows, (lows >> vec2<u32>(16u)) | (highs << vec2<u32>(16u)), (by & 1u) != 0u);
}

// The same of 32-bit elements.
fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}

// Is an f32 NaN?
fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }

// Is an f64 NaN?
fn nan64(x: f64) -> bool { return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu; }

// A subnormal as a zero of its sign.
fn flush32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return bitcast<f32>(select(bits, bits & 0x80000000u, (bits & 0x7f800000u) == 0u));
}

// Is an f32 subnormal?
fn tiny32(x: f32) -> bool { return (bitcast<u32>(x) << 1u) - 1u < 0xffffffu; }

// Integers in the order of floats, with one zero.
fn order32(x: f32) -> i32 {
  let bits = bitcast<u32>(x);
  return bitcast<i32>(select(bits, 0x80000000u - bits, bits >= 0x80000000u));
}

fn less32(x: f32, y: f32) -> bool { return order32(x) < order32(y) && !nan32(x) && !nan32(y); }

fn at_most32(x: f32, y: f32) -> bool { return order32(x) <= order32(y) && !nan32(x) && !nan32(y); }

fn equal32(x: f32, y: f32) -> bool { return order32(x) == order32(y) && !nan32(x); }

fn floor32(x: f32) -> f32 { return select(floor(x), -1.0f, tiny32(x) && bitcast<u32>(x) >= 0x80000000u); }

fn ceil32(x: f32) -> f32 { return select(ceil(x), 1.0f, tiny32(x) && bitcast<u32>(x) < 0x80000000u); }

// f32 to f64, subnormals as multiples of 2^-149.
fn wide_f32(x: f32) -> f64 {
  let bits = bitcast<u32>(x);
  let tiny = bitcast<u64>(f64(bits & 0x7fffffu) * 1.401298464324817e-45lf);
  let signed = bitcast<f64>(tiny | (u64(bits & 0x80000000u) << 32u));
  return select(f64(x), signed, (bits & 0x7f800000u) == 0u);
}

// The magnitude of a, with the sign of x.
fn signed64(a: f64, x: f64) -> f64 {
  return bitcast<f64>(bitcast<u64>(a) | (bitcast<u64>(x) & 0x8000000000000000lu));
}

// llvmpipe on processors without AVX-512 loses the sign of zeros.
fn trunc64(x: f64) -> f64 { return signed64(trunc(x), x); }

// Ties to even; llvmpipe on processors without AVX-512 rounds 1.5 to 1.
fn round64(x: f64) -> f64 {
  let a = bitcast<f64>(bitcast<u64>(x) & 0x7ffffffffffffffflu);
  let whole = trunc(a);
  let rest = a - whole;
  let half = whole * 0.5lf;
  let up = rest > 0.5lf || (rest == 0.5lf && floor(half) != half);
  return signed64(select(whole, whole + 1.0lf, up), x);
}

// f64 to f32; below 2^-126 the nearest multiple of 2^-149.
fn near_f64(x: f64) -> f32 {
  let bits = bitcast<u64>(x);
  let a = bits & 0x7ffffffffffffffflu;
  if (a >= 0x3810000000000000lu) { return f32(x); }
  let tiny = u32(round64(bitcast<f64>(a) * 7.136238463529799e44lf));
  return bitcast<f32>((u32(bits >> 32u) & 0x80000000u) | tiny);
}

// f32 to the bits of an f16.
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

// The bits of an f16 to f32.
fn from_f16(half: u32) -> f32 {
  let sign = (half & 0x8000u) << 16u;
  let a = half & 0x7fffu;
  let lead = countLeadingZeros(max(a, 1u)) - 21u;
  let tiny = select(0u, ((113u - lead) << 23u) | (((a << lead) & 0x3ffu) << 13u), a != 0u);
  let normal = (a << 13u) + select(0x38000000u, 0x70000000u, a >= 0x7c00u);
  return bitcast<f32>(sign | select(normal, tiny, a < 0x400u));
}

// f32 rounded to f16.
fn round_f16(x: f32) -> f32 { return from_f16(to_f16(x)); }

// f32 to the bits of a bf16.
fn to_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let nan = (bits >> 16u) | select(0u, 0x40u, (bits & 0x7f0000u) == 0u);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, nan, (bits & 0x7fffffffu) > 0x7f800000u);
}

// f32 rounded to bf16.
fn round_bf16(x: f32) -> f32 { return bitcast<f32>(to_bf16(x) << 16u); }

// f64 to f32, rounded to odd: a later rounding to f16 or bf16 is then as good as one.
fn odd_f64(x: f64) -> f32 {
  let bits = bitcast<u64>(x);
  let a = bits & 0x7ffffffffffffffflu;
  let sign = u32(bits >> 32u) & 0x80000000u;
  if (a > 0x7ff0000000000000lu) { return bitcast<f32>(sign | 0x7fc00000u | (u32(a >> 29u) & 0x3fffffu)); }
  if (a < 0x3690000000000000lu) { return bitcast<f32>(sign | select(0u, 1u, a != 0lu)); }
  if (a >= 0x47f0000000000000lu) {
    return bitcast<f32>(sign | select(0x7f7fffffu, 0x7f800000u, a == 0x7ff0000000000000lu));
  }
  let exponent = u32(a >> 52u);
  let drop = 29u + select(0u, 897u - exponent, exponent < 897u);
  let m = (a & 0xffffffffffffflu) | 0x10000000000000lu;
  let kept = u32(m >> drop) | select(0u, 1u, (m & ((1lu << drop) - 1lu)) != 0lu);
  let base = select((exponent - 897u) << 23u, 0u, exponent < 897u);
  return bitcast<f32>(sign | (base + kept));
}

// Mantissa with its leading one at bit 23, and biased exponent, of a positive f32.
fn unpack32(a: u32) -> vec2<i32> {
  let lead = countLeadingZeros(max(a, 1u)) - 8u;
  let tiny = vec2<i32>(bitcast<i32>(a << lead), 1 - bitcast<i32>(lead));
  let normal = vec2<i32>(bitcast<i32>((a & 0x7fffffu) | 0x800000u), bitcast<i32>(a >> 23u));
  return select(normal, tiny, a < 0x800000u);
}

// Sign, exponent and mantissa with its leading one at bit 31 to the nearest f32.
fn pack32(sign: u32, exponent: i32, m: u32) -> f32 {
  if (exponent >= 255) { return bitcast<f32>(sign | 0x7f800000u); }
  if (exponent < -23) { return bitcast<f32>(sign); }
  let drop = 8u + u32(max(1 - exponent, 0));
  let kept = select(m >> (drop & 31u), 0u, drop == 32u);
  let rest = m << (32u - drop);
  let up = select(0u, 1u, rest > 0x80000000u || (rest == 0x80000000u && (kept & 1u) == 1u));
  return bitcast<f32>(sign | ((u32(max(exponent - 1, 0)) << 23u) + kept + up));
}

// f32 division.
fn div32(x: f32, y: f32) -> f32 {
  let sign = (bitcast<u32>(x) ^ bitcast<u32>(y)) & 0x80000000u;
  let ax = bitcast<u32>(x) & 0x7fffffffu;
  let ay = bitcast<u32>(y) & 0x7fffffffu;
  let invalid = ax > 0x7f800000u || ay > 0x7f800000u || (ax == ay && (ax == 0u || ax == 0x7f800000u));
  if (invalid) { return bitcast<f32>(sign | 0x7fc00000u); }
  if (ax == 0u || ay == 0x7f800000u) { return bitcast<f32>(sign); }
  if (ay == 0u || ax == 0x7f800000u) { return bitcast<f32>(sign | 0x7f800000u); }
  let p = unpack32(ax);
  let q = unpack32(ay);
  let divisor = bitcast<u32>(q.x);
  let less = select(0u, 1u, p.x < q.x);
  var rest = bitcast<u32>(p.x) << less;
  var quotient = 0u;
  for (var i = 0u; i < 26u; i += 1u) {
    let fits = rest >= divisor;
    quotient = (quotient << 1u) | select(0u, 1u, fits);
    rest = select(rest, rest - divisor, fits) << 1u;
  }
  let m = (quotient << 6u) | select(0u, 1u, rest != 0u);
  return pack32(sign, p.y - q.y + 127 - bitcast<i32>(less), m);
}

// f32 square root.
fn sqrt32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) == 0u || bits == 0x7f800000u) { return x; }
  if (bits >= 0x7f800000u) { return bitcast<f32>(0x7fc00000u | bits); }
  let p = unpack32(bits);
  let odd = bitcast<u32>(p.y - 127) & 1u;
  let m = bitcast<u32>(p.x) << (odd + 7u);
  var root = 0u;
  var rest = 0u;
  for (var i = 0u; i < 26u; i += 1u) {
    let at = 2u * i;
    let pair = select(0u, (m >> ((30u - at) & 31u)) & 3u, at <= 30u);
    rest = (rest << 2u) | pair;
    let trial = (root << 2u) | 1u;
    let fits = rest >= trial;
    rest = select(rest, rest - trial, fits);
    root = (root << 1u) | select(0u, 1u, fits);
  }
  let exponent = ((p.y - 127 - bitcast<i32>(odd)) >> 1u) + 127;
  return pack32(0u, exponent, (root << 6u) | select(0u, 1u, rest != 0u));
}

// The driver's reciprocal, and its inverse square root.
fn inverse32(x: f32) -> f32 { return 1.0f / x; }

fn inverse_root32(x: f32) -> f32 { return inverseSqrt(x); }

// Twice the integer next to x, from 2^22 to 2^23. The sum with 2^23 has it in its low bits: conversions are slow.
fn half32(x: f32) -> i32 { return (bitcast<i32>(x + 8388608.0f) - 0x4b000000i) << 1u; }

// The integer next to a product, if both are below 2^22.
fn step32(left: i32, inverse: f32) -> i32 {
  let scaled = bitcast<f32>(left + 0x4b400000i) - 12582912.0f;
  return bitcast<i32>(scaled * inverse + 12582912.0f) - 0x4b400000i;
}

// f32 division from the driver's reciprocal, which may be 3 units in the last place off. The quotient of the
// mantissas is an integer of 24 bits; what it leaves of the dividend, exact in 32 bits, corrects it once. The integers
// divide where more than half a divisor is left then, and where an exponent is out of range; quotients below 2^-126
// are zeros where the adapter flushes them.
fn quotient32(x: f32, y: f32, flushes: bool) -> f32 {
  let ex = (bitcast<u32>(x) >> 23u) & 0xffu;
  let ey = (bitcast<u32>(y) >> 23u) & 0xffu;
  let p = bitcast<u32>(x) & 0x7fffffu;
  let q = bitcast<u32>(y) & 0x7fffffu;
  let less = select(0u, 1u, p < q);
  let inverse = inverse32(bitcast<f32>(q | 0x48000000u));
  let divisor = bitcast<i32>(q | 0x800000u);
  let guess = half32(bitcast<f32>(p | (0x53000000u + (less << 23u))) * inverse);
  let left = bitcast<i32>((p | 0x800000u) << (23u + less)) - guess * divisor;
  let step = step32(left >> 6u, inverse);
  let rest = left - step * divisor;
  let exponent = ex + 127u - ey - less;
  let sign = (bitcast<u32>(x) ^ bitcast<u32>(y)) & 0x80000000u;
  let is_rare = ex - 1u >= 254u || ey - 1u >= 254u;
  if (flushes && !is_rare && bitcast<i32>(exponent) < 1i) { return bitcast<f32>(sign); }
  if (is_rare || exponent - 1u >= 254u || 2 * abs(rest) > divisor) { return div32(x, y); }
  return bitcast<f32>(sign | (((exponent - 1u) << 23u) + bitcast<u32>(guess + step)));
}

// f32 square root, likewise: a correct one leaves at most itself.
fn root32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let exponent = bits >> 23u;
  let odd = ~exponent & 1u;
  let p = bits & 0x7fffffu;
  let inverse = inverse_root32(bitcast<f32>(p | (0x50800000u + (odd << 23u))));
  let guess = half32(bitcast<f32>(p | (0x53000000u + (odd << 23u))) * inverse);
  let left = bitcast<i32>((p | 0x800000u) << (23u + odd)) - guess * guess;
  let step = step32(left >> 7u, inverse);
  let root = guess + step;
  let rest = left - step * (guess + root);
  if (exponent - 1u >= 254u || rest > root || rest <= -root) { return sqrt32(x); }
  return bitcast<f32>((((exponent + 125u - odd) >> 1u) << 23u) + bitcast<u32>(root));
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

// f32 fused multiply-add.
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

// The sum of two bf16, where the driver's (z) may have flushed.
fn sum_bf16(x: f32, y: f32, z: f32) -> f32 {
  if (tiny32(x) || tiny32(y) || (bitcast<u32>(z) & 0x7f800000u) == 0u) { return fma32(x, 1.0f, y); }
  return z;
}

// The product of two bf16, where the driver's (z) may have flushed.
fn product_bf16(x: f32, y: f32, z: f32) -> f32 {
  let is_small = (bitcast<u32>(z) & 0x7f800000u) == 0u && !equal32(x, 0.0f) && !equal32(y, 0.0f);
  if (tiny32(x) || tiny32(y) || is_small) { return fma32(x, y, bitcast<f32>(0x80000000u ^ launch[0].x)); }
  return z;
}

// f32 remainder with the sign of the dividend.
fn rem32(x: f32, y: f32) -> f32 {
  let sign = bitcast<u32>(x) & 0x80000000u;
  let ax = bitcast<u32>(x) & 0x7fffffffu;
  let ay = bitcast<u32>(y) & 0x7fffffffu;
  if (ax >= 0x7f800000u || ay == 0u || ay > 0x7f800000u) { return bitcast<f32>(sign | 0x7fc00000u); }
  if (ax < ay) { return x; }
  let p = unpack32(ax);
  let q = unpack32(ay);
  let divisor = bitcast<u32>(q.x);
  var rest = bitcast<u32>(p.x) % divisor;
  for (var left = u32(p.y - q.y); left > 0u && rest != 0u; ) {
    let by = min(left, 8u);
    rest = (rest << by) % divisor;
    left -= by;
  }
  if (rest == 0u) { return bitcast<f32>(sign); }
  let gap = bitcast<i32>(countLeadingZeros(rest)) - 8;
  let exponent = q.y - gap;
  if (exponent >= 1) {
    return bitcast<f32>(sign | (bitcast<u32>(exponent) << 23u) | ((rest << bitcast<u32>(gap)) & 0x7fffffu));
  }
  let tiny = select(rest >> bitcast<u32>(1 - q.y), rest << bitcast<u32>(q.y - 1), q.y >= 1);
  return bitcast<f32>(sign | tiny);
}

fn lead64(x: u64) -> u32 {
  let high = u32(x >> 32u);
  return select(countLeadingZeros(high), 32u + countLeadingZeros(u32(x & 0xfffffffflu)), high == 0u);
}

// f64 remainder with the sign of the dividend.
fn rem64(x: f64, y: f64) -> f64 {
  let sign = bitcast<u64>(x) & 0x8000000000000000lu;
  let ax = bitcast<u64>(x) & 0x7ffffffffffffffflu;
  let ay = bitcast<u64>(y) & 0x7ffffffffffffffflu;
  if (ax >= 0x7ff0000000000000lu || ay == 0lu || ay > 0x7ff0000000000000lu) {
    return bitcast<f64>(sign | 0x7ff8000000000000lu);
  }
  if (ax < ay) { return x; }
  let gap_x = select(0u, lead64(ax) - 11u, ax < 0x10000000000000lu);
  let gap_y = select(0u, lead64(ay) - 11u, ay < 0x10000000000000lu);
  let ex = select(i32(ax >> 52u), 1 - bitcast<i32>(gap_x), ax < 0x10000000000000lu);
  let ey = select(i32(ay >> 52u), 1 - bitcast<i32>(gap_y), ay < 0x10000000000000lu);
  let top = 0x10000000000000lu;
  let mx = select((ax & (top - 1lu)) | top, ax << gap_x, ax < top);
  let divisor = select((ay & (top - 1lu)) | top, ay << gap_y, ay < top);
  var rest = mx % divisor;
  for (var left = u32(ex - ey); left > 0u && rest != 0lu; ) {
    let by = min(left, 11u);
    rest = (rest << by) % divisor;
    left -= by;
  }
  if (rest == 0lu) { return bitcast<f64>(sign); }
  let gap = bitcast<i32>(lead64(rest)) - 11;
  let exponent = ey - gap;
  if (exponent >= 1) {
    return bitcast<f64>(sign | (u64(exponent) << 52u) | ((rest << bitcast<u32>(gap)) & (top - 1lu)));
  }
  let tiny = select(rest >> bitcast<u32>(1 - ey), rest << bitcast<u32>(ey - 1), ey >= 1);
  return bitcast<f64>(sign | tiny);
}
