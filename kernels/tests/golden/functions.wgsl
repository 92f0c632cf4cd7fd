// stage 0
@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 9>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> p1: array<vec4<u32>>;

fn hide32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch[0].x); }
fn operand32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + launch[0].x); }
fn move32(a: vec4<u32>, b: vec4<u32>, by: u32) -> vec4<u32> {
  let first = select(a, vec4<u32>(a.zw, b.xy), by >= 2u);
  let next = select(b.x, b.z, by >= 2u);
  return select(first, vec4<u32>(first.yzw, next), (by & 1u) != 0u);
}
fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn order32(x: f32) -> i32 {
  let bits = bitcast<u32>(x);
  return bitcast<i32>(select(bits, 0x80000000u - bits, bits >= 0x80000000u));
}
fn less32(x: f32, y: f32) -> bool { return order32(x) < order32(y) && !nan32(x) && !nan32(y); }
fn equal32(x: f32, y: f32) -> bool { return order32(x) == order32(y) && !nan32(x); }
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
fn at0(e: u32) -> u32 { return p0[e >> 2u][e & 3u]; }
fn put1(e: u32, x: u32) { p1[e >> 2u][e & 3u] = x; }
@compute @workgroup_size(256)
fn elementwise(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
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
  {
    if (s0_0 != 0u) {
      r0_0_0 = move32(r0_0_0, r0_0_1, s0_0);
    }
    var o1_0: vec4<u32>;
    for (var j = 0i; j < 4i; j += 1i) {
      let v0 = bitcast<f32>(r0_0_0.x);
      let v1 = bitcast<f32>(bitcast<u32>(v0) & 0x7fffffffu);
      let v2 = bitcast<f32>(launch[7].y);
      let v4 = bitcast<f32>(launch[6].z);
      let v5 = bitcast<f32>(launch[6].w);
      let v10 = 2.3509887e-38f;
      let v12 = 1.1754944e-38f;
      let v16 = 16i;
      let v18 = bitcast<u32>(v16);
      let v21 = 21845i;
      let v23 = 1419880442i;
      let v30 = 0.17454192f;
      let v32 = 0.22358833f;
      let v35 = 0.33332917f;
      let v40 = bitcast<f32>(launch[7].x);
      let v43 = bitcast<f32>(launch[7].z);
      let v51 = 0.33333334f;
      let v55 = bitcast<f32>(launch[7].w);
      let v58 = bitcast<f32>(launch[6].x);
      let v59 = less32(v1, v58);
      let v60 = bitcast<i32>(v0);
      let v61 = bitcast<f32>(launch[6].y);
      let v62 = bitcast<i32>(v61);
      var v67 = v0;
      if (v59) {
        let v3 = less32(v1, v2);
        let v6 = select(v5, v4, v3);
        let v7 = hide32((v1 * operand32(v6)));
        let v8 = bitcast<i32>(v1);
        let v9 = hide32(f32(v8));
        let v11 = hide32((v9 * operand32(v10)));
        let v13 = less32(v1, v12);
        let v14 = select(v7, v11, v13);
        let v15 = bitcast<i32>(v14);
        let v17 = bitcast<u32>(v15);
        let v19 = (v17 >> u32(v18 & 31u));
        let v20 = bitcast<i32>(v19);
        let v22 = (v20 * v21);
        let v24 = (v23 - v22);
        let v25 = hide32(bitcast<f32>(v24));
        let v26 = hide32((v14 * operand32(v25)));
        let v27 = hide32((v26 * operand32(v25)));
        let v28 = hide32((v27 * operand32(v25)));
        let v29 = hide32((v2 - operand32(v28)));
        let v31 = hide32((v30 * operand32(v29)));
        let v33 = hide32((v31 + operand32(v32)));
        let v34 = hide32((v33 * operand32(v29)));
        let v36 = hide32((v34 + operand32(v35)));
        let v37 = hide32((v29 * operand32(v36)));
        let v38 = hide32((v25 * operand32(v37)));
        let v39 = hide32((v25 + operand32(v38)));
        let v41 = select(v2, v40, v3);
        let v42 = hide32((v14 * operand32(v41)));
        let v44 = select(v2, v43, v3);
        let v45 = hide32((v39 * operand32(v44)));
        let v46 = hide32((v45 * operand32(v45)));
        let v47 = hide32((v42 * operand32(v46)));
        let v48 = hide32((v47 * operand32(v47)));
        let v49 = hide32((v48 * operand32(v47)));
        let v50 = hide32((v49 - operand32(v42)));
        let v52 = hide32((v46 * operand32(v51)));
        let v53 = hide32((v50 * operand32(v52)));
        let v54 = hide32((v47 - operand32(v53)));
        let v56 = select(v55, v5, v3);
        let v57 = hide32((v54 * operand32(v56)));
        let v63 = (v60 & v62);
        let v64 = bitcast<i32>(v57);
        let v65 = (v64 ^ v63);
        let v66 = hide32(bitcast<f32>(v65));
        v67 = v66;
      }
      let v68 = bitcast<i32>(v67);
      let v69 = 2139095040i;
      let v70 = (v68 & v69);
      let v71 = (-2147483647i - 1i);
      let v72 = (v68 & v71);
      let v73 = 0i;
      let v74 = hide32(bitcast<f32>(v72));
      let v75 = (v70 == v73);
      let v76 = select(v67, v74, v75);
      let v77 = (v60 & v69);
      let v78 = (v60 & v71);
      let v79 = hide32(bitcast<f32>(v78));
      let v80 = (v77 == v73);
      let v81 = select(v0, v79, v80);
      let v82 = bitcast<i32>(v76);
      let v83 = (v82 & v69);
      let v84 = (v82 & v71);
      let v85 = hide32(bitcast<f32>(v84));
      let v86 = (v83 == v73);
      let v87 = select(v76, v85, v86);
      let v88 = bitcast<f32>(bitcast<u32>(v81) & 0x7fffffffu);
      let v89 = bitcast<f32>(bitcast<u32>(v87) & 0x7fffffffu);
      let v90 = less32(v88, v89);
      let v91 = select(v88, v89, v90);
      let v92 = 1.1529215e18f;
      let v93 = less32(v92, v91);
      let v94 = 8.881784e-16f;
      let v95 = less32(v91, v94);
      let v96 = bitcast<f32>(launch[8].y);
      let v97 = bitcast<f32>(launch[8].x);
      let v98 = select(v2, v97, v95);
      let v99 = select(v98, v96, v93);
      let v100 = select(v2, v96, v95);
      let v101 = select(v100, v97, v93);
      let v102 = hide32((v88 * operand32(v99)));
      let v103 = hide32((v89 * operand32(v99)));
      let v104 = hide32((v102 * operand32(v102)));
      let v105 = hide32((v103 * operand32(v103)));
      let v106 = hide32((v104 + operand32(v105)));
      let v107 = sqrt32(v106);
      let v108 = hide32((v107 * operand32(v101)));
      let v109 = equal32(v88, v58);
      let v110 = equal32(v89, v58);
      let v111 = (v109 | v110);
      let v112 = select(v108, v58, v111);
      let v113 = bitcast<i32>(v112);
      let v114 = (v113 & v69);
      let v115 = (v113 & v71);
      let v116 = hide32(bitcast<f32>(v115));
      let v117 = (v114 == v73);
      let v118 = select(v112, v116, v117);
      o1_0 = move32(o1_0, vec4<u32>(bitcast<u32>(v118), 0u, 0u, 0u), 1u);
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
}
