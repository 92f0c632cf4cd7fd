cbuffer launch : register(b0) { uint4 launch[7]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer p1_ : register(u2);

float hide32_(float x)
{
    uint _e5 = launch[0].x;
    return asfloat((asuint(x) ^ _e5));
}

float operand32_(float x_1)
{
    uint _e5 = launch[0].x;
    return asfloat((asuint(x_1) + _e5));
}

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

void put1_(uint e_1, uint x_2)
{
    p1_.Store((e_1 & 3u)*4+(e_1 >> 2u)*16, asuint(x_2));
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
    uint4 r0_0_2_ = (uint4)0;
    uint pack_1_ = (uint)0;
    uint s0_1_ = 0u;
    uint4 r0_1_0_ = (uint4)0;
    uint4 r0_1_1_ = (uint4)0;
    uint4 r0_1_2_ = (uint4)0;
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
    int e0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e98)))));
    uint _e105 = launch[5].w;
    int e1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e105)))));
    uint _e117 = launch[6].x;
    int b0_0_ = asint(asuint(e0_0_) + asuint(asint(_e117)));
    uint _e123 = launch[5].y;
    if ((asint(_e123) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e146 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e146;
        uint4 _e155 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
        r0_0_1_ = _e155;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(2))) <= high0_)) {
            uint4 _e169 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(2))), low0_), high0_)*16));
            r0_0_2_ = _e169;
        }
    } else {
        uint _e178 = launch[5].y;
        const uint _e183 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e178)))))));
        uint _e192 = launch[5].y;
        const uint _e197 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e192)))))));
        uint _e206 = launch[5].y;
        const uint _e211 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e206)))))));
        uint _e220 = launch[5].y;
        const uint _e225 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e220)))))));
        r0_0_0_ = uint4(_e183, _e197, _e211, _e225);
        uint _e235 = launch[5].y;
        const uint _e240 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e235)))))));
        uint _e249 = launch[5].y;
        const uint _e254 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e249)))))));
        uint _e263 = launch[5].y;
        const uint _e268 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e263)))))));
        uint _e277 = launch[5].y;
        const uint _e282 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e277)))))));
        r0_0_1_ = uint4(_e240, _e254, _e268, _e282);
    }
    uint _e284 = first;
    uint item_1_ = (_e284 + 256u);
    uint _e290 = launch[0].w;
    pack_1_ = min(item_1_, (_e290 - 1u));
    uint _e298 = launch[5].x;
    int row0_1_ = asint(_e298);
    uint _e303 = launch[5].z;
    int row1_1_ = asint(_e303);
    uint _e305 = pack_1_;
    uint _e315 = launch[5].w;
    int x_1_ = asint(asuint(asint(asuint(asint(_e305)) * asuint(int(4)))) - asuint(((asint(_e315) == int(1)) ? (row1_1_ & int(3)) : int(0))));
    int head_1_ = max(asint(asuint(int(0)) - asuint(x_1_)), int(0));
    uint _e330 = launch[4].x;
    int tail_1_ = max(asint(asuint(asint(asuint(x_1_) + asuint(int(4)))) - asuint(asint(_e330))), int(0));
    uint _e338 = launch[5].y;
    int e0_1_ = asint(asuint(row0_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e338)))));
    uint _e345 = launch[5].w;
    int e1_1_ = asint(asuint(row1_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e345)))));
    uint _e357 = launch[6].x;
    int b0_1_ = asint(asuint(e0_1_) + asuint(asint(_e357)));
    uint _e363 = launch[5].y;
    if ((asint(_e363) == int(1))) {
        s0_1_ = (asuint(b0_1_) & 3u);
        int low0_1 = (asint(asuint(b0_1_) + asuint(head_1_)) >> 2u);
        int high0_1 = (asint(asuint(asint(asuint(b0_1_) + asuint(int(5)))) - asuint(tail_1_)) >> 2u);
        uint4 _e386 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(0))), low0_1), high0_1)*16));
        r0_1_0_ = _e386;
        uint4 _e395 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(1))), low0_1), high0_1)*16));
        r0_1_1_ = _e395;
        if ((asint(asuint((b0_1_ >> 2u)) + asuint(int(2))) <= high0_1)) {
            uint4 _e409 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(2))), low0_1), high0_1)*16));
            r0_1_2_ = _e409;
        }
    } else {
        uint _e418 = launch[5].y;
        const uint _e423 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(0), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e418)))))));
        uint _e432 = launch[5].y;
        const uint _e437 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(1), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e432)))))));
        uint _e446 = launch[5].y;
        const uint _e451 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(2), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e446)))))));
        uint _e460 = launch[5].y;
        const uint _e465 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(3), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e460)))))));
        r0_1_0_ = uint4(_e423, _e437, _e451, _e465);
        uint _e475 = launch[5].y;
        const uint _e480 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(4), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e475)))))));
        uint _e489 = launch[5].y;
        const uint _e494 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(5), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e489)))))));
        uint _e503 = launch[5].y;
        const uint _e508 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(5), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e503)))))));
        uint _e517 = launch[5].y;
        const uint _e522 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(5), head_1_), asint(asuint(int(5)) - asuint(tail_1_)))) * asuint(asint(_e517)))))));
        r0_1_1_ = uint4(_e480, _e494, _e508, _e522);
    }
    {
        uint _e524 = s0_0_;
        if ((_e524 != 0u)) {
            uint4 _e527 = r0_0_0_;
            uint4 _e528 = r0_0_1_;
            uint _e529 = s0_0_;
            const uint4 _e530 = move32_(_e527, _e528, _e529);
            r0_0_0_ = _e530;
            uint4 _e531 = r0_0_1_;
            uint4 _e532 = r0_0_2_;
            uint _e533 = s0_0_;
            const uint4 _e534 = move32_(_e531, _e532, _e533);
            r0_0_1_ = _e534;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e570 = j;
                j = asint(asuint(_e570) + asuint(int(1)));
            }
            loop_init = false;
            int _e538 = j;
            if ((_e538 < int(4))) {
            } else {
                break;
            }
            {
                uint _e542 = r0_0_0_.x;
                float v0_ = asfloat(_e542);
                uint _e545 = r0_0_0_.z;
                float v1_ = asfloat(_e545);
                const float _e547 = operand32_(v1_);
                const float _e549 = hide32_((v0_ + _e547));
                const float _e551 = operand32_(0.5);
                const float _e553 = hide32_((_e549 * _e551));
                uint4 _e554 = o1_0_;
                const uint4 _e561 = move32_(_e554, uint4(asuint(_e553), 0u, 0u, 0u), 1u);
                o1_0_ = _e561;
                uint4 _e562 = r0_0_0_;
                uint4 _e563 = r0_0_1_;
                const uint4 _e565 = move32_(_e562, _e563, 1u);
                r0_0_0_ = _e565;
                uint4 _e566 = r0_0_1_;
                uint4 _e567 = r0_0_2_;
                const uint4 _e569 = move32_(_e566, _e567, 1u);
                r0_0_1_ = _e569;
            }
        }
        uint _e576 = launch[0].w;
        if ((item_0_ < _e576)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e589 = launch[5].w;
                local_1 = (asint(_e589) == int(1));
            } else {
                local_1 = false;
            }
            bool _e594 = local_1;
            if (_e594) {
                uint4 _e601 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e601));
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e611 = local_2;
                if (_e611) {
                    uint _e616 = launch[5].w;
                    uint _e622 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e616)))))), _e622);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e632 = local_3;
                if (_e632) {
                    uint _e637 = launch[5].w;
                    uint _e643 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e637)))))), _e643);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e653 = local_4;
                if (_e653) {
                    uint _e658 = launch[5].w;
                    uint _e664 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e658)))))), _e664);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e674 = local_5;
                if (_e674) {
                    uint _e679 = launch[5].w;
                    uint _e685 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e679)))))), _e685);
                }
            }
        }
    }
    {
        uint _e686 = s0_1_;
        if ((_e686 != 0u)) {
            uint4 _e689 = r0_1_0_;
            uint4 _e690 = r0_1_1_;
            uint _e691 = s0_1_;
            const uint4 _e692 = move32_(_e689, _e690, _e691);
            r0_1_0_ = _e692;
            uint4 _e693 = r0_1_1_;
            uint4 _e694 = r0_1_2_;
            uint _e695 = s0_1_;
            const uint4 _e696 = move32_(_e693, _e694, _e695);
            r0_1_1_ = _e696;
        }
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                int _e732 = j_1;
                j_1 = asint(asuint(_e732) + asuint(int(1)));
            }
            loop_init_1 = false;
            int _e700 = j_1;
            if ((_e700 < int(4))) {
            } else {
                break;
            }
            {
                uint _e704 = r0_1_0_.x;
                float v0_1 = asfloat(_e704);
                uint _e707 = r0_1_0_.z;
                float v1_1 = asfloat(_e707);
                const float _e709 = operand32_(v1_1);
                const float _e711 = hide32_((v0_1 + _e709));
                const float _e713 = operand32_(0.5);
                const float _e715 = hide32_((_e711 * _e713));
                uint4 _e716 = o1_0_1;
                const uint4 _e723 = move32_(_e716, uint4(asuint(_e715), 0u, 0u, 0u), 1u);
                o1_0_1 = _e723;
                uint4 _e724 = r0_1_0_;
                uint4 _e725 = r0_1_1_;
                const uint4 _e727 = move32_(_e724, _e725, 1u);
                r0_1_0_ = _e727;
                uint4 _e728 = r0_1_1_;
                uint4 _e729 = r0_1_2_;
                const uint4 _e731 = move32_(_e728, _e729, 1u);
                r0_1_1_ = _e731;
            }
        }
        uint _e738 = launch[0].w;
        if ((item_1_ < _e738)) {
            if ((((head_1_ | tail_1_) | (e1_1_ & int(3))) == int(0))) {
                uint _e751 = launch[5].w;
                local_6 = (asint(_e751) == int(1));
            } else {
                local_6 = false;
            }
            bool _e756 = local_6;
            if (_e756) {
                uint4 _e763 = o1_0_1;
                p1_.Store4(asint(asuint((e1_1_ >> 2u)) + asuint(int(0)))*16, asuint(_e763));
                return;
            } else {
                if ((head_1_ <= int(0))) {
                    local_7 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_7 = false;
                }
                bool _e773 = local_7;
                if (_e773) {
                    uint _e778 = launch[5].w;
                    uint _e784 = o1_0_1.x;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e778)))))), _e784);
                }
                if ((head_1_ <= int(1))) {
                    local_8 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_8 = false;
                }
                bool _e794 = local_8;
                if (_e794) {
                    uint _e799 = launch[5].w;
                    uint _e805 = o1_0_1.y;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e799)))))), _e805);
                }
                if ((head_1_ <= int(2))) {
                    local_9 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_9 = false;
                }
                bool _e815 = local_9;
                if (_e815) {
                    uint _e820 = launch[5].w;
                    uint _e826 = o1_0_1.z;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e820)))))), _e826);
                }
                if ((head_1_ <= int(3))) {
                    local_10 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_10 = false;
                }
                bool _e836 = local_10;
                if (_e836) {
                    uint _e841 = launch[5].w;
                    uint _e847 = o1_0_1.w;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e841)))))), _e847);
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
