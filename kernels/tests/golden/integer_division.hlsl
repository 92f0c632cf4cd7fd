cbuffer launch : register(b0) { uint4 launch[7]; }
ByteAddressBuffer p0_ : register(t1);
ByteAddressBuffer p1_ : register(t2);
RWByteAddressBuffer p2_ : register(u3);
RWByteAddressBuffer p3_ : register(u4);

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

uint at1_(uint e_1)
{
    uint _e8 = asuint(p1_.Load((e_1 & 3u)*4+(e_1 >> 2u)*16));
    return _e8;
}

void put2_(uint e_2, uint x)
{
    p2_.Store((e_2 & 3u)*4+(e_2 >> 2u)*16, asuint(x));
    return;
}

void put3_(uint e_3, uint x_1)
{
    p3_.Store((e_3 & 3u)*4+(e_3 >> 2u)*16, asuint(x_1));
    return;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

int naga_div(int lhs, int rhs) {
    return lhs / (((lhs == int(-2147483647 - 1) & rhs == -1) | (rhs == 0)) ? 1 : rhs);
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
    uint4 o2_0_ = (uint4)0;
    uint4 o3_0_ = (uint4)0;
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
    uint _e75 = pack_0_;
    uint _e85 = launch[6].y;
    int x_0_ = asint(asuint(asint(asuint(asint(_e75)) * asuint(int(4)))) - asuint(((asint(_e85) == int(1)) ? (row2_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e100 = launch[4].x;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e100))), int(0));
    uint _e108 = launch[5].y;
    int b0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e108)))));
    uint _e115 = launch[5].w;
    int b1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e115)))));
    uint _e122 = launch[6].y;
    int e2_0_ = asint(asuint(row2_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e122)))));
    uint _e129 = launch[6].w;
    int e3_0_ = asint(asuint(row3_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e129)))));
    uint _e144 = launch[5].y;
    if ((asint(_e144) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e167 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e167;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint4 _e181 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
            r0_0_1_ = _e181;
        }
    } else {
        uint _e190 = launch[5].y;
        const uint _e195 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e190)))))));
        uint _e204 = launch[5].y;
        const uint _e209 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e204)))))));
        uint _e218 = launch[5].y;
        const uint _e223 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e218)))))));
        uint _e232 = launch[5].y;
        const uint _e237 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e232)))))));
        r0_0_0_ = uint4(_e195, _e209, _e223, _e237);
    }
    uint _e242 = launch[5].w;
    if ((asint(_e242) == int(1))) {
        s1_0_ = (asuint(b1_0_) & 3u);
        int low1_ = (asint(asuint(b1_0_) + asuint(head_0_)) >> 2u);
        int high1_ = (asint(asuint(asint(asuint(b1_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e265 = asuint(p1_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(0))), low1_), high1_)*16));
        r1_0_0_ = _e265;
        if ((asint(asuint((b1_0_ >> 2u)) + asuint(int(1))) <= high1_)) {
            uint4 _e279 = asuint(p1_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(1))), low1_), high1_)*16));
            r1_0_1_ = _e279;
        }
    } else {
        uint _e288 = launch[5].w;
        const uint _e293 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e288)))))));
        uint _e302 = launch[5].w;
        const uint _e307 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e302)))))));
        uint _e316 = launch[5].w;
        const uint _e321 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e316)))))));
        uint _e330 = launch[5].w;
        const uint _e335 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e330)))))));
        r1_0_0_ = uint4(_e293, _e307, _e321, _e335);
    }
    {
        uint _e337 = s0_0_;
        if ((_e337 != 0u)) {
            uint4 _e340 = r0_0_0_;
            uint4 _e341 = r0_0_1_;
            uint _e342 = s0_0_;
            const uint4 _e343 = move32_(_e340, _e341, _e342);
            r0_0_0_ = _e343;
        }
        uint _e344 = s1_0_;
        if ((_e344 != 0u)) {
            uint4 _e347 = r1_0_0_;
            uint4 _e348 = r1_0_1_;
            uint _e349 = s1_0_;
            const uint4 _e350 = move32_(_e347, _e348, _e349);
            r1_0_0_ = _e350;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e451 = j;
                j = asint(asuint(_e451) + asuint(int(1)));
            }
            loop_init = false;
            int _e355 = j;
            if ((_e355 < int(4))) {
            } else {
                break;
            }
            {
                uint _e359 = r0_0_0_.x;
                int v0_ = asint(_e359);
                uint _e362 = r1_0_0_.x;
                int v1_ = asint(_e362);
                if (!((v1_ == int(0)))) {
                    if ((v1_ == int(-1))) {
                        local_2 = (v0_ == int(-2147483647 - 1));
                    } else {
                        local_2 = false;
                    }
                    bool _e377 = local_2;
                    local_1 = _e377;
                } else {
                    local_1 = true;
                }
                bool _e379 = local_1;
                int v2_ = ((v1_ == int(0)) ? int(0) : naga_div(v0_, (_e379 ? int(1) : v1_)));
                if (!((v1_ == int(0)))) {
                    if ((v1_ == int(-1))) {
                        local_4 = (v0_ == int(-2147483647 - 1));
                    } else {
                        local_4 = false;
                    }
                    bool _e399 = local_4;
                    local_3 = _e399;
                } else {
                    local_3 = true;
                }
                bool _e401 = local_3;
                if (!((v1_ == int(0)))) {
                    if ((v1_ == int(-1))) {
                        local_6 = (v0_ == int(-2147483647 - 1));
                    } else {
                        local_6 = false;
                    }
                    bool _e417 = local_6;
                    local_5 = _e417;
                } else {
                    local_5 = true;
                }
                bool _e419 = local_5;
                int v3_ = ((v1_ == int(0)) ? int(0) : asint(asuint(v0_) - asuint(asint(asuint(naga_div(v0_, (_e401 ? int(1) : v1_))) * asuint((_e419 ? int(1) : v1_))))));
                uint4 _e427 = o2_0_;
                const uint4 _e434 = move32_(_e427, uint4(asuint(v2_), 0u, 0u, 0u), 1u);
                o2_0_ = _e434;
                uint4 _e435 = o3_0_;
                const uint4 _e442 = move32_(_e435, uint4(asuint(v3_), 0u, 0u, 0u), 1u);
                o3_0_ = _e442;
                uint4 _e443 = r0_0_0_;
                uint4 _e444 = r0_0_1_;
                const uint4 _e446 = move32_(_e443, _e444, 1u);
                r0_0_0_ = _e446;
                uint4 _e447 = r1_0_0_;
                uint4 _e448 = r1_0_1_;
                const uint4 _e450 = move32_(_e447, _e448, 1u);
                r1_0_0_ = _e450;
            }
        }
        uint _e457 = launch[0].w;
        if ((item_0_ < _e457)) {
            if ((((head_0_ | tail_0_) | (e2_0_ & int(3))) == int(0))) {
                uint _e470 = launch[6].y;
                local_7 = (asint(_e470) == int(1));
            } else {
                local_7 = false;
            }
            bool _e475 = local_7;
            if (_e475) {
                uint4 _e482 = o2_0_;
                p2_.Store4(asint(asuint((e2_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e482));
            } else {
                if ((head_0_ <= int(0))) {
                    local_8 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_8 = false;
                }
                bool _e492 = local_8;
                if (_e492) {
                    uint _e497 = launch[6].y;
                    uint _e503 = o2_0_.x;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e497)))))), _e503);
                }
                if ((head_0_ <= int(1))) {
                    local_9 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_9 = false;
                }
                bool _e513 = local_9;
                if (_e513) {
                    uint _e518 = launch[6].y;
                    uint _e524 = o2_0_.y;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e518)))))), _e524);
                }
                if ((head_0_ <= int(2))) {
                    local_10 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_10 = false;
                }
                bool _e534 = local_10;
                if (_e534) {
                    uint _e539 = launch[6].y;
                    uint _e545 = o2_0_.z;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e539)))))), _e545);
                }
                if ((head_0_ <= int(3))) {
                    local_11 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_11 = false;
                }
                bool _e555 = local_11;
                if (_e555) {
                    uint _e560 = launch[6].y;
                    uint _e566 = o2_0_.w;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e560)))))), _e566);
                }
            }
            if ((((head_0_ | tail_0_) | (e3_0_ & int(3))) == int(0))) {
                uint _e578 = launch[6].w;
                local_12 = (asint(_e578) == int(1));
            } else {
                local_12 = false;
            }
            bool _e583 = local_12;
            if (_e583) {
                uint4 _e590 = o3_0_;
                p3_.Store4(asint(asuint((e3_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e590));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_13 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_13 = false;
                }
                bool _e600 = local_13;
                if (_e600) {
                    uint _e605 = launch[6].w;
                    uint _e611 = o3_0_.x;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e605)))))), _e611);
                }
                if ((head_0_ <= int(1))) {
                    local_14 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_14 = false;
                }
                bool _e621 = local_14;
                if (_e621) {
                    uint _e626 = launch[6].w;
                    uint _e632 = o3_0_.y;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e626)))))), _e632);
                }
                if ((head_0_ <= int(2))) {
                    local_15 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_15 = false;
                }
                bool _e642 = local_15;
                if (_e642) {
                    uint _e647 = launch[6].w;
                    uint _e653 = o3_0_.z;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e647)))))), _e653);
                }
                if ((head_0_ <= int(3))) {
                    local_16 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_16 = false;
                }
                bool _e663 = local_16;
                if (_e663) {
                    uint _e668 = launch[6].w;
                    uint _e674 = o3_0_.w;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e668)))))), _e674);
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
