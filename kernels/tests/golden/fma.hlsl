cbuffer launch : register(b0) { uint4 launch[6]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer p1_ : register(u2);

uint4 move32_(uint4 a, uint4 b, uint by)
{
    uint4 first_1 = ((by >= 2u) ? uint4(a.zw, b.xy) : a);
    uint next = ((by >= 2u) ? b.z : b.x);
    return (((by & 1u) != 0u) ? uint4(first_1.yzw, next) : first_1);
}

int2 unpack32_(uint a_1)
{
    uint lead = ((31u - firstbithigh(max(a_1, 1u))) - 8u);
    int2 tiny = int2(asint((a_1 << lead)), asint(asuint(int(1)) - asuint(asint(lead))));
    int2 normal = int2(asint(((a_1 & 8388607u) | 8388608u)), asint((a_1 >> 23u)));
    return ((a_1 < 8388608u) ? tiny : normal);
}

float pack32_(uint sign_, int exponent, uint m)
{
    bool local_11 = (bool)0;
    bool local_12 = (bool)0;

    if ((exponent >= int(255))) {
        return asfloat((sign_ | 2139095040u));
    }
    if ((exponent < int(-23))) {
        return asfloat(sign_);
    }
    uint drop = (8u + uint(max(asint(asuint(int(1)) - asuint(exponent)), int(0))));
    uint kept = ((drop == 32u) ? 0u : (m >> (drop & 31u)));
    uint rest = (m << (32u - drop));
    if (!((rest > 2147483648u))) {
        if ((rest == 2147483648u)) {
            local_12 = ((kept & 1u) == 1u);
        } else {
            local_12 = false;
        }
        bool _e44 = local_12;
        local_11 = _e44;
    } else {
        local_11 = true;
    }
    bool _e46 = local_11;
    uint up = (_e46 ? 1u : 0u);
    return asfloat((sign_ | (((uint(max(asint(asuint(exponent) - asuint(int(1))), int(0))) << 23u) + kept) + up)));
}

uint2 shift_jam(uint2 x, uint by_1)
{
    if ((by_1 == 0u)) {
        return x;
    }
    if ((by_1 >= 64u)) {
        return uint2(0u, (((x.x | x.y) != 0u) ? 1u : 0u));
    }
    if ((by_1 >= 32u)) {
        uint lost = (x.y | ((by_1 > 32u) ? (x.x << (64u - by_1)) : 0u));
        return uint2(0u, ((x.x >> (by_1 - 32u)) | ((lost != 0u) ? 1u : 0u)));
    }
    uint lost_1 = (x.y << (32u - by_1));
    return uint2((x.x >> by_1), (((x.y >> by_1) | (x.x << (32u - by_1))) | ((lost_1 != 0u) ? 1u : 0u)));
}

uint2 shift_left(uint2 x_1, uint by_2)
{
    if ((by_2 == 0u)) {
        return x_1;
    }
    if ((by_2 >= 32u)) {
        return uint2((x_1.y << (by_2 - 32u)), 0u);
    }
    return uint2(((x_1.x << by_2) | (x_1.y >> (32u - by_2))), (x_1.y << by_2));
}

uint2 product48_(uint x_2, uint y)
{
    uint middle = (((x_2 >> 12u) * (y & 4095u)) + ((x_2 & 4095u) * (y >> 12u)));
    uint top = ((x_2 >> 12u) * (y >> 12u));
    uint part = (((x_2 & 4095u) * (y & 4095u)) + ((middle & 1048575u) << 12u));
    uint carry = ((part < ((middle & 1048575u) << 12u)) ? 1u : 0u);
    uint low = (part + (top << 24u));
    return uint2(((((middle >> 20u) + (top >> 8u)) + carry) + ((low < part) ? 1u : 0u)), low);
}

float fma32_(float x_3, float y_1, float z)
{
    bool local_13 = (bool)0;
    bool local_14 = (bool)0;
    bool local_15 = (bool)0;
    bool local_16 = (bool)0;
    bool nan = (bool)0;
    bool local_17 = (bool)0;
    bool local_18 = (bool)0;
    bool local_19 = (bool)0;
    bool local_20 = (bool)0;
    uint2 big = (uint2)0;
    int big_exponent = (int)0;
    uint big_sign = (uint)0;
    uint2 small = (uint2)0;
    int small_exponent = (int)0;
    bool local_21 = (bool)0;
    bool local_22 = (bool)0;
    bool local_23 = (bool)0;
    bool local_24 = (bool)0;
    bool local_25 = (bool)0;
    bool local_26 = (bool)0;
    bool local_27 = (bool)0;

    uint ax = (asuint(x_3) & 2147483647u);
    uint ay = (asuint(y_1) & 2147483647u);
    uint az = (asuint(z) & 2147483647u);
    uint sign_1 = ((asuint(x_3) ^ asuint(y_1)) & 2147483648u);
    uint sign_z = (asuint(z) & 2147483648u);
    if (!((ax == 2139095040u))) {
        local_13 = (ay == 2139095040u);
    } else {
        local_13 = true;
    }
    bool infinite = local_13;
    if (!((max(ax, max(ay, az)) > 2139095040u))) {
        if (infinite) {
            if (!((ax == 0u))) {
                local_16 = (ay == 0u);
            } else {
                local_16 = true;
            }
            bool _e46 = local_16;
            local_15 = _e46;
        } else {
            local_15 = false;
        }
        bool _e48 = local_15;
        local_14 = _e48;
    } else {
        local_14 = true;
    }
    bool _e50 = local_14;
    nan = _e50;
    bool _e52 = nan;
    if (!(_e52)) {
        if (infinite) {
            local_18 = (az == 2139095040u);
        } else {
            local_18 = false;
        }
        bool _e61 = local_18;
        if (_e61) {
            local_19 = (sign_1 != sign_z);
        } else {
            local_19 = false;
        }
        bool _e66 = local_19;
        local_17 = _e66;
    } else {
        local_17 = true;
    }
    bool _e68 = local_17;
    nan = _e68;
    bool _e69 = nan;
    if (_e69) {
        return asfloat((sign_1 | 2143289344u));
    }
    if (infinite) {
        return asfloat((sign_1 | 2139095040u));
    }
    if ((az == 2139095040u)) {
        return z;
    }
    if (!((ax == 0u))) {
        local_20 = (ay == 0u);
    } else {
        local_20 = true;
    }
    bool _e86 = local_20;
    if (_e86) {
        return asfloat(((az == 0u) ? (sign_1 & sign_z) : asuint(z)));
    }
    const int2 _e93 = unpack32_(ax);
    const int2 _e94 = unpack32_(ay);
    const uint2 _e99 = product48_(asuint(_e93.x), asuint(_e94.x));
    uint lead_1 = (((_e99.x & 32768u) == 0u) ? 1u : 0u);
    const uint2 _e110 = shift_left(_e99, (16u + lead_1));
    big = _e110;
    big_exponent = asint(asuint(asint(asuint(asint(asuint(_e93.y) + asuint(_e94.y))) - asuint(int(126)))) - asuint(asint(lead_1)));
    big_sign = sign_1;
    if ((az == 0u)) {
        int _e123 = big_exponent;
        uint _e125 = big.x;
        uint _e129 = big.y;
        const float _e134 = pack32_(sign_1, _e123, (_e125 | ((_e129 != 0u) ? 1u : 0u)));
        return _e134;
    }
    const int2 _e135 = unpack32_(az);
    small = uint2((asuint(_e135.x) << 8u), 0u);
    small_exponent = _e135.y;
    int _e145 = small_exponent;
    int _e146 = big_exponent;
    bool tied = (_e145 == _e146);
    uint _e149 = small.x;
    uint _e151 = big.x;
    if (!((_e149 > _e151))) {
        uint _e157 = small.x;
        uint _e159 = big.x;
        if ((_e157 == _e159)) {
            uint _e164 = small.y;
            uint _e166 = big.y;
            local_22 = (_e164 > _e166);
        } else {
            local_22 = false;
        }
        bool _e169 = local_22;
        local_21 = _e169;
    } else {
        local_21 = true;
    }
    bool above = local_21;
    int _e172 = small_exponent;
    int _e173 = big_exponent;
    if (!((_e172 > _e173))) {
        if (tied) {
            local_24 = above;
        } else {
            local_24 = false;
        }
        bool _e181 = local_24;
        local_23 = _e181;
    } else {
        local_23 = true;
    }
    bool _e183 = local_23;
    if (_e183) {
        uint2 old = big;
        uint2 _e185 = small;
        big = _e185;
        small = old;
        int old_exponent = big_exponent;
        int _e187 = small_exponent;
        big_exponent = _e187;
        small_exponent = old_exponent;
        big_sign = sign_z;
    }
    uint2 _e188 = small;
    int _e189 = big_exponent;
    int _e190 = small_exponent;
    const uint2 _e193 = shift_jam(_e188, uint(asint(asuint(_e189) - asuint(_e190))));
    small = _e193;
    if ((sign_1 == sign_z)) {
        uint _e196 = big.y;
        uint _e198 = small.y;
        uint low_1 = (_e196 + _e198);
        uint _e203 = big.y;
        uint carry_1 = ((low_1 < _e203) ? 1u : 0u);
        uint _e207 = big.x;
        uint _e209 = small.x;
        uint high = ((_e207 + _e209) + carry_1);
        uint _e213 = big.x;
        if (!((high < _e213))) {
            uint _e219 = big.x;
            if ((high == _e219)) {
                local_26 = (carry_1 == 1u);
            } else {
                local_26 = false;
            }
            bool _e226 = local_26;
            if (_e226) {
                uint _e230 = small.x;
                local_27 = (_e230 == 4294967295u);
            } else {
                local_27 = false;
            }
            bool _e234 = local_27;
            local_25 = _e234;
        } else {
            local_25 = true;
        }
        bool over = local_25;
        uint sticky = ((low_1 != 0u) ? 1u : 0u);
        if (over) {
            int _e242 = big_exponent;
            const float _e253 = pack32_(sign_1, asint(asuint(_e242) + asuint(int(1))), (((2147483648u | (high >> 1u)) | (high & 1u)) | sticky));
            return _e253;
        }
        int _e254 = big_exponent;
        const float _e256 = pack32_(sign_1, _e254, (high | sticky));
        return _e256;
    }
    uint _e258 = big.y;
    uint _e260 = small.y;
    uint low_2 = (_e258 - _e260);
    uint _e263 = big.x;
    uint _e265 = small.x;
    uint _e270 = big.y;
    uint _e272 = small.y;
    uint high_1 = ((_e263 - _e265) - ((_e270 < _e272) ? 1u : 0u));
    if (((high_1 | low_2) == 0u)) {
        return 0.0;
    }
    uint gap = ((high_1 == 0u) ? (32u + (31u - firstbithigh(low_2))) : (31u - firstbithigh(high_1)));
    const uint2 _e288 = shift_left(uint2(high_1, low_2), gap);
    uint _e289 = big_sign;
    int _e290 = big_exponent;
    const float _e301 = pack32_(_e289, asint(asuint(_e290) - asuint(asint(gap))), (_e288.x | ((_e288.y != 0u) ? 1u : 0u)));
    return _e301;
}

uint at0_(uint e)
{
    uint _e8 = asuint(p0_.Load((e & 3u)*4+(e >> 2u)*16));
    return _e8;
}

void put1_(uint e_1, uint x_4)
{
    p1_.Store((e_1 & 3u)*4+(e_1 >> 2u)*16, asuint(x_4));
    return;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(256, 1, 1)]
void elementwise(uint3 group : SV_GroupID, uint local : SV_GroupIndex)
{
    uint first = (uint)0;
    uint row = 0u;
    uint pack_0_ = (uint)0;
    uint s0_0_ = 0u;
    uint4 r0_0_0_ = (uint4)0;
    uint4 r0_0_1_ = (uint4)0;
    uint pack_1_ = (uint)0;
    uint s0_1_ = 0u;
    uint4 r0_1_0_ = (uint4)0;
    uint4 r0_1_1_ = (uint4)0;
    uint4 o1_0_ = (uint4)0;
    int j = int(0);
    bool local_1 = (bool)0;
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;
    bool local_4 = (bool)0;
    bool local_5 = (bool)0;
    uint4 o1_0_1 = (uint4)0;
    int j_1 = int(0);
    bool local_6 = (bool)0;
    bool local_7 = (bool)0;
    bool local_8 = (bool)0;
    bool local_9 = (bool)0;
    bool local_10 = (bool)0;

    uint _e6 = launch[0].y;
    uint _e11 = launch[0].z;
    uint number = (group.x + (_e6 * (group.y + (_e11 * group.z))));
    uint chunks = launch[1].x;
    first = ((number * 512u) + local);
    if ((chunks != 0u)) {
        row = number;
        if ((chunks > 1u)) {
            row = naga_div(number, chunks);
        }
        uint _e32 = row;
        first = (((number - (_e32 * chunks)) * 512u) + local);
        uint _e38 = row;
        uint _e42 = launch[1].y;
        if ((_e38 >= _e42)) {
            return;
        }
    }
    uint _e44 = first;
    uint item_0_ = (_e44 + 0u);
    uint _e50 = launch[0].w;
    pack_0_ = min(item_0_, (_e50 - 1u));
    uint _e58 = launch[5].x;
    int row0_0_ = asint(_e58);
    uint _e63 = launch[5].z;
    int row1_0_ = asint(_e63);
    uint _e65 = pack_0_;
    uint _e75 = launch[5].w;
    int x_0_ = asint(asuint(asint(asuint(asint(_e65)) * asuint(int(4)))) - asuint(((asint(_e75) == int(1)) ? (row1_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e90 = launch[4].x;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e90))), int(0));
    uint _e98 = launch[5].y;
    int b0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e98)))));
    uint _e105 = launch[5].w;
    int e1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e105)))));
    uint _e116 = launch[5].y;
    if ((asint(_e116) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e139 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e139;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint4 _e153 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
            r0_0_1_ = _e153;
        }
    } else {
        uint _e162 = launch[5].y;
        const uint _e167 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e162)))))));
        uint _e176 = launch[5].y;
        const uint _e181 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e176)))))));
        uint _e190 = launch[5].y;
        const uint _e195 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e190)))))));
        uint _e204 = launch[5].y;
        const uint _e209 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e204)))))));
        r0_0_0_ = uint4(_e167, _e181, _e195, _e209);
    }
    uint _e211 = first;
    uint item_1_ = (_e211 + 256u);
    uint _e217 = launch[0].w;
    pack_1_ = min(item_1_, (_e217 - 1u));
    uint _e225 = launch[5].x;
    int row0_1_ = asint(_e225);
    uint _e230 = launch[5].z;
    int row1_1_ = asint(_e230);
    uint _e232 = pack_1_;
    uint _e242 = launch[5].w;
    int x_1_ = asint(asuint(asint(asuint(asint(_e232)) * asuint(int(4)))) - asuint(((asint(_e242) == int(1)) ? (row1_1_ & int(3)) : int(0))));
    int head_1_ = max(asint(asuint(int(0)) - asuint(x_1_)), int(0));
    uint _e257 = launch[4].x;
    int tail_1_ = max(asint(asuint(asint(asuint(x_1_) + asuint(int(4)))) - asuint(asint(_e257))), int(0));
    uint _e265 = launch[5].y;
    int b0_1_ = asint(asuint(row0_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e265)))));
    uint _e272 = launch[5].w;
    int e1_1_ = asint(asuint(row1_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e272)))));
    uint _e283 = launch[5].y;
    if ((asint(_e283) == int(1))) {
        s0_1_ = (asuint(b0_1_) & 3u);
        int low0_1 = (asint(asuint(b0_1_) + asuint(head_1_)) >> 2u);
        int high0_1 = (asint(asuint(asint(asuint(b0_1_) + asuint(int(3)))) - asuint(tail_1_)) >> 2u);
        uint4 _e306 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(0))), low0_1), high0_1)*16));
        r0_1_0_ = _e306;
        if ((asint(asuint((b0_1_ >> 2u)) + asuint(int(1))) <= high0_1)) {
            uint4 _e320 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(1))), low0_1), high0_1)*16));
            r0_1_1_ = _e320;
        }
    } else {
        uint _e329 = launch[5].y;
        const uint _e334 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(0), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e329)))))));
        uint _e343 = launch[5].y;
        const uint _e348 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(1), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e343)))))));
        uint _e357 = launch[5].y;
        const uint _e362 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(2), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e357)))))));
        uint _e371 = launch[5].y;
        const uint _e376 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(3), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e371)))))));
        r0_1_0_ = uint4(_e334, _e348, _e362, _e376);
    }
    {
        uint _e378 = s0_0_;
        if ((_e378 != 0u)) {
            uint4 _e381 = r0_0_0_;
            uint4 _e382 = r0_0_1_;
            uint _e383 = s0_0_;
            const uint4 _e384 = move32_(_e381, _e382, _e383);
            r0_0_0_ = _e384;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e408 = j;
                j = asint(asuint(_e408) + asuint(int(1)));
            }
            loop_init = false;
            int _e388 = j;
            if ((_e388 < int(4))) {
            } else {
                break;
            }
            {
                uint _e392 = r0_0_0_.x;
                float v0_ = asfloat(_e392);
                const float _e395 = fma32_(v0_, 0.33333334, v0_);
                uint4 _e396 = o1_0_;
                const uint4 _e403 = move32_(_e396, uint4(asuint(_e395), 0u, 0u, 0u), 1u);
                o1_0_ = _e403;
                uint4 _e404 = r0_0_0_;
                uint4 _e405 = r0_0_1_;
                const uint4 _e407 = move32_(_e404, _e405, 1u);
                r0_0_0_ = _e407;
            }
        }
        uint _e414 = launch[0].w;
        if ((item_0_ < _e414)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e427 = launch[5].w;
                local_1 = (asint(_e427) == int(1));
            } else {
                local_1 = false;
            }
            bool _e432 = local_1;
            if (_e432) {
                uint4 _e439 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e439));
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e449 = local_2;
                if (_e449) {
                    uint _e454 = launch[5].w;
                    uint _e460 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e454)))))), _e460);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e470 = local_3;
                if (_e470) {
                    uint _e475 = launch[5].w;
                    uint _e481 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e475)))))), _e481);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e491 = local_4;
                if (_e491) {
                    uint _e496 = launch[5].w;
                    uint _e502 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e496)))))), _e502);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e512 = local_5;
                if (_e512) {
                    uint _e517 = launch[5].w;
                    uint _e523 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e517)))))), _e523);
                }
            }
        }
    }
    {
        uint _e524 = s0_1_;
        if ((_e524 != 0u)) {
            uint4 _e527 = r0_1_0_;
            uint4 _e528 = r0_1_1_;
            uint _e529 = s0_1_;
            const uint4 _e530 = move32_(_e527, _e528, _e529);
            r0_1_0_ = _e530;
        }
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                int _e554 = j_1;
                j_1 = asint(asuint(_e554) + asuint(int(1)));
            }
            loop_init_1 = false;
            int _e534 = j_1;
            if ((_e534 < int(4))) {
            } else {
                break;
            }
            {
                uint _e538 = r0_1_0_.x;
                float v0_1 = asfloat(_e538);
                const float _e541 = fma32_(v0_1, 0.33333334, v0_1);
                uint4 _e542 = o1_0_1;
                const uint4 _e549 = move32_(_e542, uint4(asuint(_e541), 0u, 0u, 0u), 1u);
                o1_0_1 = _e549;
                uint4 _e550 = r0_1_0_;
                uint4 _e551 = r0_1_1_;
                const uint4 _e553 = move32_(_e550, _e551, 1u);
                r0_1_0_ = _e553;
            }
        }
        uint _e560 = launch[0].w;
        if ((item_1_ < _e560)) {
            if ((((head_1_ | tail_1_) | (e1_1_ & int(3))) == int(0))) {
                uint _e573 = launch[5].w;
                local_6 = (asint(_e573) == int(1));
            } else {
                local_6 = false;
            }
            bool _e578 = local_6;
            if (_e578) {
                uint4 _e585 = o1_0_1;
                p1_.Store4(asint(asuint((e1_1_ >> 2u)) + asuint(int(0)))*16, asuint(_e585));
                return;
            } else {
                if ((head_1_ <= int(0))) {
                    local_7 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_7 = false;
                }
                bool _e595 = local_7;
                if (_e595) {
                    uint _e600 = launch[5].w;
                    uint _e606 = o1_0_1.x;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e600)))))), _e606);
                }
                if ((head_1_ <= int(1))) {
                    local_8 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_8 = false;
                }
                bool _e616 = local_8;
                if (_e616) {
                    uint _e621 = launch[5].w;
                    uint _e627 = o1_0_1.y;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e621)))))), _e627);
                }
                if ((head_1_ <= int(2))) {
                    local_9 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_9 = false;
                }
                bool _e637 = local_9;
                if (_e637) {
                    uint _e642 = launch[5].w;
                    uint _e648 = o1_0_1.z;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e642)))))), _e648);
                }
                if ((head_1_ <= int(3))) {
                    local_10 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_10 = false;
                }
                bool _e658 = local_10;
                if (_e658) {
                    uint _e663 = launch[5].w;
                    uint _e669 = o1_0_1.w;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e663)))))), _e669);
                    return;
                } else {
                    return;
                }
            }
        } else {
            return;
        }
    }
}
