cbuffer launch : register(b0) { uint4 launch[9]; }
ByteAddressBuffer p0_ : register(t1);
ByteAddressBuffer p1_ : register(t2);
RWByteAddressBuffer p2_ : register(u3);
RWByteAddressBuffer p3_ : register(u4);
RWByteAddressBuffer p4_ : register(u5);
RWByteAddressBuffer p5_ : register(u6);
RWByteAddressBuffer p6_ : register(u7);

uint move8_(uint a, uint b, uint by)
{
    return ((a >> (8u * by)) | (b << (32u - (8u * by))));
}

uint4 move32_(uint4 a_1, uint4 b_1, uint by_1)
{
    uint4 first_1 = ((by_1 >= 2u) ? uint4(a_1.zw, b_1.xy) : a_1);
    uint next = ((by_1 >= 2u) ? b_1.z : b_1.x);
    return (((by_1 & 1u) != 0u) ? uint4(first_1.yzw, next) : first_1);
}

bool nan32_(float x)
{
    return ((asuint(x) & 2147483647u) > 2139095040u);
}

int order32_(float x_1)
{
    uint bits = asuint(x_1);
    return asint(((bits >= 2147483648u) ? (2147483648u - bits) : bits));
}

bool less32_(float x_2, float y)
{
    bool local_28 = (bool)0;
    bool local_29 = (bool)0;

    const int _e2 = order32_(x_2);
    const int _e3 = order32_(y);
    if ((_e2 < _e3)) {
        const bool _e7 = nan32_(x_2);
        local_28 = !(_e7);
    } else {
        local_28 = false;
    }
    bool _e10 = local_28;
    if (_e10) {
        const bool _e13 = nan32_(y);
        local_29 = !(_e13);
    } else {
        local_29 = false;
    }
    bool _e16 = local_29;
    return _e16;
}

bool at_most32_(float x_3, float y_1)
{
    bool local_30 = (bool)0;
    bool local_31 = (bool)0;

    const int _e2 = order32_(x_3);
    const int _e3 = order32_(y_1);
    if ((_e2 <= _e3)) {
        const bool _e7 = nan32_(x_3);
        local_30 = !(_e7);
    } else {
        local_30 = false;
    }
    bool _e10 = local_30;
    if (_e10) {
        const bool _e13 = nan32_(y_1);
        local_31 = !(_e13);
    } else {
        local_31 = false;
    }
    bool _e16 = local_31;
    return _e16;
}

bool equal32_(float x_4, float y_2)
{
    bool local_32 = (bool)0;

    const int _e2 = order32_(x_4);
    const int _e3 = order32_(y_2);
    if ((_e2 == _e3)) {
        const bool _e7 = nan32_(x_4);
        local_32 = !(_e7);
    } else {
        local_32 = false;
    }
    bool _e10 = local_32;
    return _e10;
}

uint at0_(uint e)
{
    uint _e8 = asuint(p0_.Load((e & 3u)*4+(e >> 2u)*16));
    return _e8;
}

uint at1_(uint e_1)
{
    uint _e8 = asuint(p1_.Load((e_1 & 3u)*4+(e_1 >> 2u)*16));
    return _e8;
}

void put2_(uint e_2, uint x_5)
{
    uint _e10 = asuint(p2_.Load((e_2 >> 2u)*4));
    p2_.Store((e_2 >> 2u)*4, asuint(((_e10 & ~((255u << ((e_2 & 3u) << 3u)))) | (x_5 << ((e_2 & 3u) << 3u)))));
    return;
}

void put3_(uint e_3, uint x_6)
{
    uint _e10 = asuint(p3_.Load((e_3 >> 2u)*4));
    p3_.Store((e_3 >> 2u)*4, asuint(((_e10 & ~((255u << ((e_3 & 3u) << 3u)))) | (x_6 << ((e_3 & 3u) << 3u)))));
    return;
}

void put4_(uint e_4, uint x_7)
{
    uint _e10 = asuint(p4_.Load((e_4 >> 2u)*4));
    p4_.Store((e_4 >> 2u)*4, asuint(((_e10 & ~((255u << ((e_4 & 3u) << 3u)))) | (x_7 << ((e_4 & 3u) << 3u)))));
    return;
}

void put5_(uint e_5, uint x_8)
{
    p5_.Store((e_5 & 3u)*4+(e_5 >> 2u)*16, asuint(x_8));
    return;
}

void put6_(uint e_6, uint x_9)
{
    p6_.Store((e_6 & 3u)*4+(e_6 >> 2u)*16, asuint(x_9));
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
    uint s1_0_ = 0u;
    uint4 r1_0_0_ = (uint4)0;
    uint4 r1_0_1_ = (uint4)0;
    uint o2_0_ = (uint)0;
    uint o3_0_ = (uint)0;
    uint o4_0_ = (uint)0;
    uint4 o5_0_ = (uint4)0;
    uint4 o6_0_ = (uint4)0;
    int j = int(0);
    bool local_1 = (bool)0;
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;
    bool local_4 = (bool)0;
    bool local_5 = (bool)0;
    bool local_6 = (bool)0;
    bool local_7 = (bool)0;
    bool local_8 = (bool)0;
    bool local_9 = (bool)0;
    bool local_10 = (bool)0;
    bool local_11 = (bool)0;
    bool local_12 = (bool)0;
    bool local_13 = (bool)0;
    bool local_14 = (bool)0;
    bool local_15 = (bool)0;
    bool local_16 = (bool)0;
    bool local_17 = (bool)0;
    bool local_18 = (bool)0;
    bool local_19 = (bool)0;
    bool local_20 = (bool)0;
    bool local_21 = (bool)0;
    bool local_22 = (bool)0;
    bool local_23 = (bool)0;
    bool local_24 = (bool)0;
    bool local_25 = (bool)0;
    bool local_26 = (bool)0;
    bool local_27 = (bool)0;

    uint _e6 = launch[0].y;
    uint _e11 = launch[0].z;
    uint number = (group.x + (_e6 * (group.y + (_e11 * group.z))));
    uint chunks = launch[1].x;
    first = ((number * 256u) + local);
    if ((chunks != 0u)) {
        row = number;
        if ((chunks > 1u)) {
            row = naga_div(number, chunks);
        }
        uint _e32 = row;
        first = (((number - (_e32 * chunks)) * 256u) + local);
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
    uint _e68 = launch[6].x;
    int row2_0_ = asint(_e68);
    uint _e73 = launch[6].z;
    int row3_0_ = asint(_e73);
    uint _e78 = launch[7].x;
    int row4_0_ = asint(_e78);
    uint _e83 = launch[7].z;
    int row5_0_ = asint(_e83);
    uint _e88 = launch[8].x;
    int row6_0_ = asint(_e88);
    uint _e90 = pack_0_;
    uint _e100 = launch[6].y;
    int x_0_ = asint(asuint(asint(asuint(asint(_e90)) * asuint(int(4)))) - asuint(((asint(_e100) == int(1)) ? (row2_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e115 = launch[4].x;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e115))), int(0));
    uint _e123 = launch[5].y;
    int b0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e123)))));
    uint _e130 = launch[5].w;
    int b1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e130)))));
    uint _e137 = launch[6].y;
    int e2_0_ = asint(asuint(row2_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e137)))));
    uint _e144 = launch[6].w;
    int e3_0_ = asint(asuint(row3_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e144)))));
    uint _e151 = launch[7].y;
    int e4_0_ = asint(asuint(row4_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e151)))));
    uint _e158 = launch[7].w;
    int e5_0_ = asint(asuint(row5_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e158)))));
    uint _e165 = launch[8].y;
    int e6_0_ = asint(asuint(row6_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e165)))));
    uint _e180 = launch[5].y;
    if ((asint(_e180) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e203 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e203;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint4 _e217 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
            r0_0_1_ = _e217;
        }
    } else {
        uint _e226 = launch[5].y;
        const uint _e231 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e226)))))));
        uint _e240 = launch[5].y;
        const uint _e245 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e240)))))));
        uint _e254 = launch[5].y;
        const uint _e259 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e254)))))));
        uint _e268 = launch[5].y;
        const uint _e273 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e268)))))));
        r0_0_0_ = uint4(_e231, _e245, _e259, _e273);
    }
    uint _e278 = launch[5].w;
    if ((asint(_e278) == int(1))) {
        s1_0_ = (asuint(b1_0_) & 3u);
        int low1_ = (asint(asuint(b1_0_) + asuint(head_0_)) >> 2u);
        int high1_ = (asint(asuint(asint(asuint(b1_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e301 = asuint(p1_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(0))), low1_), high1_)*16));
        r1_0_0_ = _e301;
        if ((asint(asuint((b1_0_ >> 2u)) + asuint(int(1))) <= high1_)) {
            uint4 _e315 = asuint(p1_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(1))), low1_), high1_)*16));
            r1_0_1_ = _e315;
        }
    } else {
        uint _e324 = launch[5].w;
        const uint _e329 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e324)))))));
        uint _e338 = launch[5].w;
        const uint _e343 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e338)))))));
        uint _e352 = launch[5].w;
        const uint _e357 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e352)))))));
        uint _e366 = launch[5].w;
        const uint _e371 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e366)))))));
        r1_0_0_ = uint4(_e329, _e343, _e357, _e371);
    }
    {
        uint _e373 = s0_0_;
        if ((_e373 != 0u)) {
            uint4 _e376 = r0_0_0_;
            uint4 _e377 = r0_0_1_;
            uint _e378 = s0_0_;
            const uint4 _e379 = move32_(_e376, _e377, _e378);
            r0_0_0_ = _e379;
        }
        uint _e380 = s1_0_;
        if ((_e380 != 0u)) {
            uint4 _e383 = r1_0_0_;
            uint4 _e384 = r1_0_1_;
            uint _e385 = s1_0_;
            const uint4 _e386 = move32_(_e383, _e384, _e385);
            r1_0_0_ = _e386;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e465 = j;
                j = asint(asuint(_e465) + asuint(int(1)));
            }
            loop_init = false;
            int _e394 = j;
            if ((_e394 < int(4))) {
            } else {
                break;
            }
            {
                uint _e398 = r0_0_0_.x;
                float v0_ = asfloat(_e398);
                uint _e401 = r1_0_0_.x;
                float v1_ = asfloat(_e401);
                const bool _e403 = nan32_(v0_);
                const bool _e404 = equal32_(v0_, v0_);
                bool v3_ = !(_e404);
                const bool _e406 = at_most32_(v0_, v1_);
                const bool _e407 = less32_(v0_, v1_);
                if (!(_e407)) {
                    const bool _e411 = nan32_(v0_);
                    local_1 = _e411;
                } else {
                    local_1 = true;
                }
                bool _e413 = local_1;
                float v5_ = (_e413 ? v0_ : v1_);
                const bool _e415 = less32_(v1_, v0_);
                if (!(_e415)) {
                    const bool _e419 = nan32_(v0_);
                    local_2 = _e419;
                } else {
                    local_2 = true;
                }
                bool _e421 = local_2;
                float v6_ = (_e421 ? v0_ : v1_);
                uint _e423 = o2_0_;
                const uint _e428 = move8_(_e423, (_e403 ? 1u : 0u), 1u);
                o2_0_ = _e428;
                uint _e429 = o3_0_;
                const uint _e434 = move8_(_e429, (v3_ ? 1u : 0u), 1u);
                o3_0_ = _e434;
                uint _e435 = o4_0_;
                const uint _e440 = move8_(_e435, (_e406 ? 1u : 0u), 1u);
                o4_0_ = _e440;
                uint4 _e441 = o5_0_;
                const uint4 _e448 = move32_(_e441, uint4(asuint(v5_), 0u, 0u, 0u), 1u);
                o5_0_ = _e448;
                uint4 _e449 = o6_0_;
                const uint4 _e456 = move32_(_e449, uint4(asuint(v6_), 0u, 0u, 0u), 1u);
                o6_0_ = _e456;
                uint4 _e457 = r0_0_0_;
                uint4 _e458 = r0_0_1_;
                const uint4 _e460 = move32_(_e457, _e458, 1u);
                r0_0_0_ = _e460;
                uint4 _e461 = r1_0_0_;
                uint4 _e462 = r1_0_1_;
                const uint4 _e464 = move32_(_e461, _e462, 1u);
                r1_0_0_ = _e464;
            }
        }
        uint _e471 = launch[0].w;
        if ((item_0_ < _e471)) {
            if ((((head_0_ | tail_0_) | (e2_0_ & int(3))) == int(0))) {
                uint _e484 = launch[6].y;
                local_3 = (asint(_e484) == int(1));
            } else {
                local_3 = false;
            }
            bool _e489 = local_3;
            if (_e489) {
                uint _e496 = o2_0_;
                p2_.Store(asint(asuint((e2_0_ >> 2u)) + asuint(int(0)))*4, asuint(_e496));
            } else {
                if ((head_0_ <= int(0))) {
                    local_4 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e506 = local_4;
                if (_e506) {
                    uint _e511 = launch[6].y;
                    uint _e516 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e511)))))), ((_e516 >> 0u) & 255u));
                }
                if ((head_0_ <= int(1))) {
                    local_5 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e530 = local_5;
                if (_e530) {
                    uint _e535 = launch[6].y;
                    uint _e540 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e535)))))), ((_e540 >> 8u) & 255u));
                }
                if ((head_0_ <= int(2))) {
                    local_6 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_6 = false;
                }
                bool _e554 = local_6;
                if (_e554) {
                    uint _e559 = launch[6].y;
                    uint _e564 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e559)))))), ((_e564 >> 16u) & 255u));
                }
                if ((head_0_ <= int(3))) {
                    local_7 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_7 = false;
                }
                bool _e578 = local_7;
                if (_e578) {
                    uint _e583 = launch[6].y;
                    uint _e588 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e583)))))), ((_e588 >> 24u) & 255u));
                }
            }
            if ((((head_0_ | tail_0_) | (e3_0_ & int(3))) == int(0))) {
                uint _e604 = launch[6].w;
                local_8 = (asint(_e604) == int(1));
            } else {
                local_8 = false;
            }
            bool _e609 = local_8;
            if (_e609) {
                uint _e616 = o3_0_;
                p3_.Store(asint(asuint((e3_0_ >> 2u)) + asuint(int(0)))*4, asuint(_e616));
            } else {
                if ((head_0_ <= int(0))) {
                    local_9 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_9 = false;
                }
                bool _e626 = local_9;
                if (_e626) {
                    uint _e631 = launch[6].w;
                    uint _e636 = o3_0_;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e631)))))), ((_e636 >> 0u) & 255u));
                }
                if ((head_0_ <= int(1))) {
                    local_10 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_10 = false;
                }
                bool _e650 = local_10;
                if (_e650) {
                    uint _e655 = launch[6].w;
                    uint _e660 = o3_0_;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e655)))))), ((_e660 >> 8u) & 255u));
                }
                if ((head_0_ <= int(2))) {
                    local_11 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_11 = false;
                }
                bool _e674 = local_11;
                if (_e674) {
                    uint _e679 = launch[6].w;
                    uint _e684 = o3_0_;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e679)))))), ((_e684 >> 16u) & 255u));
                }
                if ((head_0_ <= int(3))) {
                    local_12 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_12 = false;
                }
                bool _e698 = local_12;
                if (_e698) {
                    uint _e703 = launch[6].w;
                    uint _e708 = o3_0_;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e703)))))), ((_e708 >> 24u) & 255u));
                }
            }
            if ((((head_0_ | tail_0_) | (e4_0_ & int(3))) == int(0))) {
                uint _e724 = launch[7].y;
                local_13 = (asint(_e724) == int(1));
            } else {
                local_13 = false;
            }
            bool _e729 = local_13;
            if (_e729) {
                uint _e736 = o4_0_;
                p4_.Store(asint(asuint((e4_0_ >> 2u)) + asuint(int(0)))*4, asuint(_e736));
            } else {
                if ((head_0_ <= int(0))) {
                    local_14 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_14 = false;
                }
                bool _e746 = local_14;
                if (_e746) {
                    uint _e751 = launch[7].y;
                    uint _e756 = o4_0_;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e751)))))), ((_e756 >> 0u) & 255u));
                }
                if ((head_0_ <= int(1))) {
                    local_15 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_15 = false;
                }
                bool _e770 = local_15;
                if (_e770) {
                    uint _e775 = launch[7].y;
                    uint _e780 = o4_0_;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e775)))))), ((_e780 >> 8u) & 255u));
                }
                if ((head_0_ <= int(2))) {
                    local_16 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_16 = false;
                }
                bool _e794 = local_16;
                if (_e794) {
                    uint _e799 = launch[7].y;
                    uint _e804 = o4_0_;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e799)))))), ((_e804 >> 16u) & 255u));
                }
                if ((head_0_ <= int(3))) {
                    local_17 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_17 = false;
                }
                bool _e818 = local_17;
                if (_e818) {
                    uint _e823 = launch[7].y;
                    uint _e828 = o4_0_;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e823)))))), ((_e828 >> 24u) & 255u));
                }
            }
            if ((((head_0_ | tail_0_) | (e5_0_ & int(3))) == int(0))) {
                uint _e844 = launch[7].w;
                local_18 = (asint(_e844) == int(1));
            } else {
                local_18 = false;
            }
            bool _e849 = local_18;
            if (_e849) {
                uint4 _e856 = o5_0_;
                p5_.Store4(asint(asuint((e5_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e856));
            } else {
                if ((head_0_ <= int(0))) {
                    local_19 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_19 = false;
                }
                bool _e866 = local_19;
                if (_e866) {
                    uint _e871 = launch[7].w;
                    uint _e877 = o5_0_.x;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e871)))))), _e877);
                }
                if ((head_0_ <= int(1))) {
                    local_20 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_20 = false;
                }
                bool _e887 = local_20;
                if (_e887) {
                    uint _e892 = launch[7].w;
                    uint _e898 = o5_0_.y;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e892)))))), _e898);
                }
                if ((head_0_ <= int(2))) {
                    local_21 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_21 = false;
                }
                bool _e908 = local_21;
                if (_e908) {
                    uint _e913 = launch[7].w;
                    uint _e919 = o5_0_.z;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e913)))))), _e919);
                }
                if ((head_0_ <= int(3))) {
                    local_22 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_22 = false;
                }
                bool _e929 = local_22;
                if (_e929) {
                    uint _e934 = launch[7].w;
                    uint _e940 = o5_0_.w;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e934)))))), _e940);
                }
            }
            if ((((head_0_ | tail_0_) | (e6_0_ & int(3))) == int(0))) {
                uint _e952 = launch[8].y;
                local_23 = (asint(_e952) == int(1));
            } else {
                local_23 = false;
            }
            bool _e957 = local_23;
            if (_e957) {
                uint4 _e964 = o6_0_;
                p6_.Store4(asint(asuint((e6_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e964));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_24 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_24 = false;
                }
                bool _e974 = local_24;
                if (_e974) {
                    uint _e979 = launch[8].y;
                    uint _e985 = o6_0_.x;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e979)))))), _e985);
                }
                if ((head_0_ <= int(1))) {
                    local_25 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_25 = false;
                }
                bool _e995 = local_25;
                if (_e995) {
                    uint _e1000 = launch[8].y;
                    uint _e1006 = o6_0_.y;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1000)))))), _e1006);
                }
                if ((head_0_ <= int(2))) {
                    local_26 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_26 = false;
                }
                bool _e1016 = local_26;
                if (_e1016) {
                    uint _e1021 = launch[8].y;
                    uint _e1027 = o6_0_.z;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1021)))))), _e1027);
                }
                if ((head_0_ <= int(3))) {
                    local_27 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_27 = false;
                }
                bool _e1037 = local_27;
                if (_e1037) {
                    uint _e1042 = launch[8].y;
                    uint _e1048 = o6_0_.w;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1042)))))), _e1048);
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
