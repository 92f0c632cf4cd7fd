@group(0) @binding(0) var<uniform> launch: array<vec4<u32>, 8>;
@group(0) @binding(1) var<storage, read> p0: array<vec4<u64>>;
@group(0) @binding(2) var<storage, read_write> out0: array<f32>;

fn nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(8)
fn fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let launch0 = launch[0];
  let launch1 = launch[1];
  let launch2 = launch[2];
  let launch3 = launch[3];
  let launch4 = launch[4];
  let launch5 = launch[5];
  let launch6 = launch[6];
  let launch7 = launch[7];
  let item = (group.x + launch0.y * (group.y + launch0.z * group.z)) * 8u + local;
  if (item < launch0.w) {
    let kept = item / launch1.z;
    let segment = item - kept * launch1.z;
    let i0 = kept;
    var i1 = segment;
    let head = bitcast<i32>(launch3.z);
    let length = bitcast<i32>(launch1.x);
    let part = bitcast<i32>(launch3.w) * 8;
    let idle0 = bitcast<f32>(launch7.z);
    var acc0_0 = idle0;
    var acc0_1 = idle0;
    var acc0_2 = idle0;
    var acc0_3 = idle0;
    var acc0_4 = idle0;
    var acc0_5 = idle0;
    var acc0_6 = idle0;
    var acc0_7 = idle0;
    var lost0_0 = idle0;
    var lost0_1 = idle0;
    var lost0_2 = idle0;
    var lost0_3 = idle0;
    var lost0_4 = idle0;
    var lost0_5 = idle0;
    var lost0_6 = idle0;
    var lost0_7 = idle0;
    for (var r = segment; r < launch2.x; r += launch1.z) {
      let e0 = bitcast<i32>(launch6.x) + bitcast<i32>(i0) * bitcast<i32>(launch6.y);
      let opens = bitcast<i32>(i1) * part;
      let ends = min(opens + part, length);
      let start = (opens + head) >> 3u;
      let stop = (ends + head + 7) >> 3u;
      let b0 = e0;
      let c0 = (b0 - (0) - head) >> 3u;
      let f0 = b0 >> 3u;
      let l0 = (b0 + length + -1) >> 3u;
      for (var turn = start; turn < stop; turn += 1) {
        let x = turn * 8 - head;
        let d0_0 = p0[clamp(c0 + turn + (0), f0, l0)];
        let r0_0 = u32(d0_0.x);
        let r0_1 = u32(d0_0.x >> 32u);
        let r0_2 = u32(d0_0.y);
        let r0_3 = u32(d0_0.y >> 32u);
        let r0_4 = u32(d0_0.z);
        let r0_5 = u32(d0_0.z >> 32u);
        let r0_6 = u32(d0_0.w);
        let r0_7 = u32(d0_0.w >> 32u);
        {
          let i1 = bitcast<u32>(x) + 0u;
          let v0 = bitcast<f32>(r0_0);
          let inside = x + 0 >= opens && x + 0 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_0;
          var lost0 = lost0_0;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_0 = acc0;
          lost0_0 = lost0;
        }
        {
          let i1 = bitcast<u32>(x) + 1u;
          let v0 = bitcast<f32>(r0_1);
          let inside = x + 1 >= opens && x + 1 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_1;
          var lost0 = lost0_1;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_1 = acc0;
          lost0_1 = lost0;
        }
        {
          let i1 = bitcast<u32>(x) + 2u;
          let v0 = bitcast<f32>(r0_2);
          let inside = x + 2 >= opens && x + 2 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_2;
          var lost0 = lost0_2;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_2 = acc0;
          lost0_2 = lost0;
        }
        {
          let i1 = bitcast<u32>(x) + 3u;
          let v0 = bitcast<f32>(r0_3);
          let inside = x + 3 >= opens && x + 3 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_3;
          var lost0 = lost0_3;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_3 = acc0;
          lost0_3 = lost0;
        }
        {
          let i1 = bitcast<u32>(x) + 4u;
          let v0 = bitcast<f32>(r0_4);
          let inside = x + 4 >= opens && x + 4 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_4;
          var lost0 = lost0_4;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_4 = acc0;
          lost0_4 = lost0;
        }
        {
          let i1 = bitcast<u32>(x) + 5u;
          let v0 = bitcast<f32>(r0_5);
          let inside = x + 5 >= opens && x + 5 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_5;
          var lost0 = lost0_5;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_5 = acc0;
          lost0_5 = lost0;
        }
        {
          let i1 = bitcast<u32>(x) + 6u;
          let v0 = bitcast<f32>(r0_6);
          let inside = x + 6 >= opens && x + 6 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_6;
          var lost0 = lost0_6;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_6 = acc0;
          lost0_6 = lost0;
        }
        {
          let i1 = bitcast<u32>(x) + 7u;
          let v0 = bitcast<f32>(r0_7);
          let inside = x + 7 >= opens && x + 7 < ends;
          let y0 = select(idle0, v0, inside);
          var acc0 = acc0_7;
          var lost0 = lost0_7;
          let sum0 = (acc0 + y0);
          let added0 = (sum0 - acc0);
          let kept0 = (sum0 - added0);
          let of_acc0 = (acc0 - kept0);
          let of_value0 = (y0 - added0);
          let both0 = (of_acc0 + of_value0);
          let all0 = (lost0 + both0);
          acc0 = sum0;
          lost0 = all0;
          acc0_7 = acc0;
          lost0_7 = lost0;
        }
      }
      i1 += launch4.w;
    }
    {
      var acc0 = acc0_0;
      var lost0 = lost0_0;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_0 = acc0;
      lost0_0 = lost0;
    }
    {
      var acc0 = acc0_1;
      var lost0 = lost0_1;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_1 = acc0;
      lost0_1 = lost0;
    }
    {
      var acc0 = acc0_2;
      var lost0 = lost0_2;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_2 = acc0;
      lost0_2 = lost0;
    }
    {
      var acc0 = acc0_3;
      var lost0 = lost0_3;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_3 = acc0;
      lost0_3 = lost0;
    }
    {
      var acc0 = acc0_4;
      var lost0 = lost0_4;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_4 = acc0;
      lost0_4 = lost0;
    }
    {
      var acc0 = acc0_5;
      var lost0 = lost0_5;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_5 = acc0;
      lost0_5 = lost0;
    }
    {
      var acc0 = acc0_6;
      var lost0 = lost0_6;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_6 = acc0;
      lost0_6 = lost0;
    }
    {
      var acc0 = acc0_7;
      var lost0 = lost0_7;
      acc0 = select((acc0 + lost0), acc0, nan32(lost0));
      acc0_7 = acc0;
      lost0_7 = lost0;
    }
    let o0_0 = select(acc0_0, acc0_4, (head & 4) != 0);
    let o0_1 = select(acc0_1, acc0_5, (head & 4) != 0);
    let o0_2 = select(acc0_2, acc0_6, (head & 4) != 0);
    let o0_3 = select(acc0_3, acc0_7, (head & 4) != 0);
    let o0_4 = select(acc0_4, acc0_0, (head & 4) != 0);
    let o0_5 = select(acc0_5, acc0_1, (head & 4) != 0);
    let o0_6 = select(acc0_6, acc0_2, (head & 4) != 0);
    let o0_7 = select(acc0_7, acc0_3, (head & 4) != 0);
    let t0_0 = select(o0_0, o0_2, (head & 2) != 0);
    let t0_1 = select(o0_1, o0_3, (head & 2) != 0);
    let t0_2 = select(o0_2, o0_4, (head & 2) != 0);
    let t0_3 = select(o0_3, o0_5, (head & 2) != 0);
    let t0_4 = select(o0_4, o0_6, (head & 2) != 0);
    let t0_5 = select(o0_5, o0_7, (head & 2) != 0);
    let t0_6 = select(o0_6, o0_0, (head & 2) != 0);
    let t0_7 = select(o0_7, o0_1, (head & 2) != 0);
    let h0_0 = select(t0_0, t0_1, (head & 1) != 0);
    let h0_1 = select(t0_1, t0_2, (head & 1) != 0);
    let h0_2 = select(t0_2, t0_3, (head & 1) != 0);
    let h0_3 = select(t0_3, t0_4, (head & 1) != 0);
    let h0_4 = select(t0_4, t0_5, (head & 1) != 0);
    let h0_5 = select(t0_5, t0_6, (head & 1) != 0);
    let h0_6 = select(t0_6, t0_7, (head & 1) != 0);
    let h0_7 = select(t0_7, t0_0, (head & 1) != 0);
    var acc0 = bitcast<f32>(launch7.z);
    var lost0 = bitcast<f32>(launch7.z);
    if (launch2.y != 0u) {
      let x0 = out0[item];
      let sum0 = (acc0 + x0);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (x0 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_0);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_0 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_1);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_1 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_2);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_2 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_3);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_3 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_4);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_4 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_5);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_5 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_6);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_6 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    {
      let sum0 = (acc0 + h0_7);
      let added0 = (sum0 - acc0);
      let kept0 = (sum0 - added0);
      let of_acc0 = (acc0 - kept0);
      let of_value0 = (h0_7 - added0);
      let both0 = (of_acc0 + of_value0);
      let all0 = (lost0 + both0);
      acc0 = sum0;
      lost0 = all0;
    }
    acc0 = select((acc0 + lost0), acc0, nan32(lost0));
    out0[item] = acc0;
  }
}
