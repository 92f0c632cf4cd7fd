struct Outer {
    uint i0_;
};

cbuffer launch : register(b0) { uint4 launch[8]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer p1_ : register(u2);

uint4 move32_(uint4 a, uint4 b, uint by)
{
    uint4 first_1 = ((by >= 2u) ? uint4(a.zw, b.xy) : a);
    uint next = ((by >= 2u) ? b.z : b.x);
    return (((by & 1u) != 0u) ? uint4(first_1.yzw, next) : first_1);
}

uint at0_(uint e)
{
    uint _e8 = asuint(p0_.Load((e & 3u)*4+(e >> 2u)*16));
    return _e8;
}

void put1_(uint e_1, uint x)
{
    p1_.Store((e_1 & 3u)*4+(e_1 >> 2u)*16, asuint(x));
    return;
}

Outer outer(uint row_1)
{
    Outer at_1 = (Outer)0;
    uint rest = (uint)0;

    rest = row_1;
    uint _e4 = rest;
    at_1.i0_ = _e4;
    Outer _e5 = at_1;
    const Outer outer_1 = _e5;
    return outer_1;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(256, 1, 1)]
void elementwise(uint3 group : SV_GroupID, uint local : SV_GroupIndex)
{
    uint first = (uint)0;
    uint row = 0u;
    Outer at = (Outer)0;
    uint pack_0_ = (uint)0;
    Outer at_0_ = (Outer)0;
    uint s0_0_ = 0u;
    uint4 r0_0_0_ = (uint4)0;
    uint4 r0_0_1_ = (uint4)0;
    uint pack_1_ = (uint)0;
    Outer at_1_ = (Outer)0;
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
    uint _e44 = row;
    const Outer _e45 = outer(_e44);
    at = _e45;
    uint _e47 = first;
    uint item_0_ = (_e47 + 0u);
    uint _e53 = launch[0].w;
    pack_0_ = min(item_0_, (_e53 - 1u));
    Outer _e58 = at;
    at_0_ = _e58;
    if ((chunks == 0u)) {
        uint _e62 = pack_0_;
        uint _e66 = launch[1].z;
        uint own = naga_div(_e62, _e66);
        uint _e68 = pack_0_;
        uint _e72 = launch[1].z;
        pack_0_ = (_e68 - (own * _e72));
        const Outer _e75 = outer(own);
        at_0_ = _e75;
    }
    uint _e79 = launch[6].x;
    uint _e82 = at_0_.i0_;
    uint _e87 = launch[6].y;
    int row0_0_ = asint(asuint(asint(_e79)) + asuint(asint(asuint(asint(_e82)) * asuint(asint(_e87)))));
    uint _e94 = launch[6].w;
    uint _e97 = at_0_.i0_;
    uint _e102 = launch[7].x;
    int row1_0_ = asint(asuint(asint(_e94)) + asuint(asint(asuint(asint(_e97)) * asuint(asint(_e102)))));
    uint _e106 = pack_0_;
    uint _e116 = launch[7].y;
    int x_0_ = asint(asuint(asint(asuint(asint(_e106)) * asuint(int(4)))) - asuint(((asint(_e116) == int(1)) ? (row1_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e131 = launch[4].y;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e131))), int(0));
    uint _e139 = launch[6].z;
    int b0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e139)))));
    uint _e146 = launch[7].y;
    int e1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e146)))));
    uint _e157 = launch[6].z;
    if ((asint(_e157) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e180 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e180;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint4 _e194 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
            r0_0_1_ = _e194;
        }
    } else {
        uint _e203 = launch[6].z;
        const uint _e208 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e203)))))));
        uint _e217 = launch[6].z;
        const uint _e222 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e217)))))));
        uint _e231 = launch[6].z;
        const uint _e236 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e231)))))));
        uint _e245 = launch[6].z;
        const uint _e250 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e245)))))));
        r0_0_0_ = uint4(_e208, _e222, _e236, _e250);
    }
    uint _e252 = first;
    uint item_1_ = (_e252 + 256u);
    uint _e258 = launch[0].w;
    pack_1_ = min(item_1_, (_e258 - 1u));
    Outer _e263 = at;
    at_1_ = _e263;
    if ((chunks == 0u)) {
        uint _e267 = pack_1_;
        uint _e271 = launch[1].z;
        uint own_1 = naga_div(_e267, _e271);
        uint _e273 = pack_1_;
        uint _e277 = launch[1].z;
        pack_1_ = (_e273 - (own_1 * _e277));
        const Outer _e280 = outer(own_1);
        at_1_ = _e280;
    }
    uint _e284 = launch[6].x;
    uint _e287 = at_1_.i0_;
    uint _e292 = launch[6].y;
    int row0_1_ = asint(asuint(asint(_e284)) + asuint(asint(asuint(asint(_e287)) * asuint(asint(_e292)))));
    uint _e299 = launch[6].w;
    uint _e302 = at_1_.i0_;
    uint _e307 = launch[7].x;
    int row1_1_ = asint(asuint(asint(_e299)) + asuint(asint(asuint(asint(_e302)) * asuint(asint(_e307)))));
    uint _e311 = pack_1_;
    uint _e321 = launch[7].y;
    int x_1_ = asint(asuint(asint(asuint(asint(_e311)) * asuint(int(4)))) - asuint(((asint(_e321) == int(1)) ? (row1_1_ & int(3)) : int(0))));
    int head_1_ = max(asint(asuint(int(0)) - asuint(x_1_)), int(0));
    uint _e336 = launch[4].y;
    int tail_1_ = max(asint(asuint(asint(asuint(x_1_) + asuint(int(4)))) - asuint(asint(_e336))), int(0));
    uint _e344 = launch[6].z;
    int b0_1_ = asint(asuint(row0_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e344)))));
    uint _e351 = launch[7].y;
    int e1_1_ = asint(asuint(row1_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e351)))));
    uint _e362 = launch[6].z;
    if ((asint(_e362) == int(1))) {
        s0_1_ = (asuint(b0_1_) & 3u);
        int low0_1 = (asint(asuint(b0_1_) + asuint(head_1_)) >> 2u);
        int high0_1 = (asint(asuint(asint(asuint(b0_1_) + asuint(int(3)))) - asuint(tail_1_)) >> 2u);
        uint4 _e385 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(0))), low0_1), high0_1)*16));
        r0_1_0_ = _e385;
        if ((asint(asuint((b0_1_ >> 2u)) + asuint(int(1))) <= high0_1)) {
            uint4 _e399 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(1))), low0_1), high0_1)*16));
            r0_1_1_ = _e399;
        }
    } else {
        uint _e408 = launch[6].z;
        const uint _e413 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(0), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e408)))))));
        uint _e422 = launch[6].z;
        const uint _e427 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(1), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e422)))))));
        uint _e436 = launch[6].z;
        const uint _e441 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(2), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e436)))))));
        uint _e450 = launch[6].z;
        const uint _e455 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(3), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e450)))))));
        r0_1_0_ = uint4(_e413, _e427, _e441, _e455);
    }
    {
        uint _e457 = s0_0_;
        if ((_e457 != 0u)) {
            uint4 _e460 = r0_0_0_;
            uint4 _e461 = r0_0_1_;
            uint _e462 = s0_0_;
            const uint4 _e463 = move32_(_e460, _e461, _e462);
            r0_0_0_ = _e463;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e486 = j;
                j = asint(asuint(_e486) + asuint(int(1)));
            }
            loop_init = false;
            int _e467 = j;
            if ((_e467 < int(4))) {
            } else {
                break;
            }
            {
                uint _e471 = r0_0_0_.x;
                float v0_ = asfloat(_e471);
                uint4 _e473 = o1_0_;
                uint _e475 = r0_0_0_.x;
                const uint4 _e481 = move32_(_e473, uint4(_e475, 0u, 0u, 0u), 1u);
                o1_0_ = _e481;
                uint4 _e482 = r0_0_0_;
                uint4 _e483 = r0_0_1_;
                const uint4 _e485 = move32_(_e482, _e483, 1u);
                r0_0_0_ = _e485;
            }
        }
        uint _e492 = launch[0].w;
        if ((item_0_ < _e492)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e505 = launch[7].y;
                local_1 = (asint(_e505) == int(1));
            } else {
                local_1 = false;
            }
            bool _e510 = local_1;
            if (_e510) {
                uint4 _e517 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e517));
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e527 = local_2;
                if (_e527) {
                    uint _e532 = launch[7].y;
                    uint _e538 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e532)))))), _e538);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e548 = local_3;
                if (_e548) {
                    uint _e553 = launch[7].y;
                    uint _e559 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e553)))))), _e559);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e569 = local_4;
                if (_e569) {
                    uint _e574 = launch[7].y;
                    uint _e580 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e574)))))), _e580);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e590 = local_5;
                if (_e590) {
                    uint _e595 = launch[7].y;
                    uint _e601 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e595)))))), _e601);
                }
            }
        }
    }
    {
        uint _e602 = s0_1_;
        if ((_e602 != 0u)) {
            uint4 _e605 = r0_1_0_;
            uint4 _e606 = r0_1_1_;
            uint _e607 = s0_1_;
            const uint4 _e608 = move32_(_e605, _e606, _e607);
            r0_1_0_ = _e608;
        }
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                int _e631 = j_1;
                j_1 = asint(asuint(_e631) + asuint(int(1)));
            }
            loop_init_1 = false;
            int _e612 = j_1;
            if ((_e612 < int(4))) {
            } else {
                break;
            }
            {
                uint _e616 = r0_1_0_.x;
                float v0_1 = asfloat(_e616);
                uint4 _e618 = o1_0_1;
                uint _e620 = r0_1_0_.x;
                const uint4 _e626 = move32_(_e618, uint4(_e620, 0u, 0u, 0u), 1u);
                o1_0_1 = _e626;
                uint4 _e627 = r0_1_0_;
                uint4 _e628 = r0_1_1_;
                const uint4 _e630 = move32_(_e627, _e628, 1u);
                r0_1_0_ = _e630;
            }
        }
        uint _e637 = launch[0].w;
        if ((item_1_ < _e637)) {
            if ((((head_1_ | tail_1_) | (e1_1_ & int(3))) == int(0))) {
                uint _e650 = launch[7].y;
                local_6 = (asint(_e650) == int(1));
            } else {
                local_6 = false;
            }
            bool _e655 = local_6;
            if (_e655) {
                uint4 _e662 = o1_0_1;
                p1_.Store4(asint(asuint((e1_1_ >> 2u)) + asuint(int(0)))*16, asuint(_e662));
                return;
            } else {
                if ((head_1_ <= int(0))) {
                    local_7 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_7 = false;
                }
                bool _e672 = local_7;
                if (_e672) {
                    uint _e677 = launch[7].y;
                    uint _e683 = o1_0_1.x;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e677)))))), _e683);
                }
                if ((head_1_ <= int(1))) {
                    local_8 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_8 = false;
                }
                bool _e693 = local_8;
                if (_e693) {
                    uint _e698 = launch[7].y;
                    uint _e704 = o1_0_1.y;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e698)))))), _e704);
                }
                if ((head_1_ <= int(2))) {
                    local_9 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_9 = false;
                }
                bool _e714 = local_9;
                if (_e714) {
                    uint _e719 = launch[7].y;
                    uint _e725 = o1_0_1.z;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e719)))))), _e725);
                }
                if ((head_1_ <= int(3))) {
                    local_10 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_10 = false;
                }
                bool _e735 = local_10;
                if (_e735) {
                    uint _e740 = launch[7].y;
                    uint _e746 = o1_0_1.w;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e740)))))), _e746);
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
