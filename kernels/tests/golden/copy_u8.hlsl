struct Outer {
    uint i0_;
};

cbuffer launch : register(b0) { uint4 launch[8]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer p1_ : register(u2);

uint move8_(uint a, uint b, uint by)
{
    return ((a >> (8u * by)) | (b << (32u - (8u * by))));
}

uint at0_(uint e)
{
    uint _e5 = asuint(p0_.Load((e >> 2u)*4));
    return ((_e5 >> ((e & 3u) << 3u)) & 255u);
}

void put1_(uint e_1, uint x)
{
    uint _e10 = asuint(p1_.Load((e_1 >> 2u)*4));
    p1_.Store((e_1 >> 2u)*4, asuint(((_e10 & ~((255u << ((e_1 & 3u) << 3u)))) | (x << ((e_1 & 3u) << 3u)))));
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
    uint r0_0_0_ = (uint)0;
    uint r0_0_1_ = (uint)0;
    uint pack_1_ = (uint)0;
    Outer at_1_ = (Outer)0;
    uint s0_1_ = 0u;
    uint r0_1_0_ = (uint)0;
    uint r0_1_1_ = (uint)0;
    uint pack_2_ = (uint)0;
    Outer at_2_ = (Outer)0;
    uint s0_2_ = 0u;
    uint r0_2_0_ = (uint)0;
    uint r0_2_1_ = (uint)0;
    uint pack_3_ = (uint)0;
    Outer at_3_ = (Outer)0;
    uint s0_3_ = 0u;
    uint r0_3_0_ = (uint)0;
    uint r0_3_1_ = (uint)0;
    uint o1_0_ = (uint)0;
    int j = int(0);
    bool local_1 = (bool)0;
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;
    bool local_4 = (bool)0;
    bool local_5 = (bool)0;
    uint o1_0_1 = (uint)0;
    int j_1 = int(0);
    bool local_6 = (bool)0;
    bool local_7 = (bool)0;
    bool local_8 = (bool)0;
    bool local_9 = (bool)0;
    bool local_10 = (bool)0;
    uint o1_0_2 = (uint)0;
    int j_2 = int(0);
    bool local_11 = (bool)0;
    bool local_12 = (bool)0;
    bool local_13 = (bool)0;
    bool local_14 = (bool)0;
    bool local_15 = (bool)0;
    uint o1_0_3 = (uint)0;
    int j_3 = int(0);
    bool local_16 = (bool)0;
    bool local_17 = (bool)0;
    bool local_18 = (bool)0;
    bool local_19 = (bool)0;
    bool local_20 = (bool)0;

    uint _e6 = launch[0].y;
    uint _e11 = launch[0].z;
    uint number = (group.x + (_e6 * (group.y + (_e11 * group.z))));
    uint chunks = launch[1].x;
    first = ((number * 1024u) + local);
    if ((chunks != 0u)) {
        row = number;
        if ((chunks > 1u)) {
            row = naga_div(number, chunks);
        }
        uint _e32 = row;
        first = (((number - (_e32 * chunks)) * 1024u) + local);
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
        uint _e180 = asuint(p0_.Load(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*4));
        r0_0_0_ = _e180;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint _e194 = asuint(p0_.Load(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*4));
            r0_0_1_ = _e194;
        }
    } else {
        uint _e203 = launch[6].z;
        const uint _e208 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e203)))))));
        uint _e217 = launch[6].z;
        const uint _e222 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e217)))))));
        uint _e234 = launch[6].z;
        const uint _e239 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e234)))))));
        uint _e251 = launch[6].z;
        const uint _e256 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e251)))))));
        r0_0_0_ = (((_e208 | (_e222 << 8u)) | (_e239 << 16u)) | (_e256 << 24u));
    }
    uint _e260 = first;
    uint item_1_ = (_e260 + 256u);
    uint _e266 = launch[0].w;
    pack_1_ = min(item_1_, (_e266 - 1u));
    Outer _e271 = at;
    at_1_ = _e271;
    if ((chunks == 0u)) {
        uint _e275 = pack_1_;
        uint _e279 = launch[1].z;
        uint own_1 = naga_div(_e275, _e279);
        uint _e281 = pack_1_;
        uint _e285 = launch[1].z;
        pack_1_ = (_e281 - (own_1 * _e285));
        const Outer _e288 = outer(own_1);
        at_1_ = _e288;
    }
    uint _e292 = launch[6].x;
    uint _e295 = at_1_.i0_;
    uint _e300 = launch[6].y;
    int row0_1_ = asint(asuint(asint(_e292)) + asuint(asint(asuint(asint(_e295)) * asuint(asint(_e300)))));
    uint _e307 = launch[6].w;
    uint _e310 = at_1_.i0_;
    uint _e315 = launch[7].x;
    int row1_1_ = asint(asuint(asint(_e307)) + asuint(asint(asuint(asint(_e310)) * asuint(asint(_e315)))));
    uint _e319 = pack_1_;
    uint _e329 = launch[7].y;
    int x_1_ = asint(asuint(asint(asuint(asint(_e319)) * asuint(int(4)))) - asuint(((asint(_e329) == int(1)) ? (row1_1_ & int(3)) : int(0))));
    int head_1_ = max(asint(asuint(int(0)) - asuint(x_1_)), int(0));
    uint _e344 = launch[4].y;
    int tail_1_ = max(asint(asuint(asint(asuint(x_1_) + asuint(int(4)))) - asuint(asint(_e344))), int(0));
    uint _e352 = launch[6].z;
    int b0_1_ = asint(asuint(row0_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e352)))));
    uint _e359 = launch[7].y;
    int e1_1_ = asint(asuint(row1_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e359)))));
    uint _e370 = launch[6].z;
    if ((asint(_e370) == int(1))) {
        s0_1_ = (asuint(b0_1_) & 3u);
        int low0_1 = (asint(asuint(b0_1_) + asuint(head_1_)) >> 2u);
        int high0_1 = (asint(asuint(asint(asuint(b0_1_) + asuint(int(3)))) - asuint(tail_1_)) >> 2u);
        uint _e393 = asuint(p0_.Load(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(0))), low0_1), high0_1)*4));
        r0_1_0_ = _e393;
        if ((asint(asuint((b0_1_ >> 2u)) + asuint(int(1))) <= high0_1)) {
            uint _e407 = asuint(p0_.Load(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(1))), low0_1), high0_1)*4));
            r0_1_1_ = _e407;
        }
    } else {
        uint _e416 = launch[6].z;
        const uint _e421 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(0), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e416)))))));
        uint _e430 = launch[6].z;
        const uint _e435 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(1), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e430)))))));
        uint _e447 = launch[6].z;
        const uint _e452 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(2), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e447)))))));
        uint _e464 = launch[6].z;
        const uint _e469 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(3), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e464)))))));
        r0_1_0_ = (((_e421 | (_e435 << 8u)) | (_e452 << 16u)) | (_e469 << 24u));
    }
    uint _e473 = first;
    uint item_2_ = (_e473 + 512u);
    uint _e479 = launch[0].w;
    pack_2_ = min(item_2_, (_e479 - 1u));
    Outer _e484 = at;
    at_2_ = _e484;
    if ((chunks == 0u)) {
        uint _e488 = pack_2_;
        uint _e492 = launch[1].z;
        uint own_2 = naga_div(_e488, _e492);
        uint _e494 = pack_2_;
        uint _e498 = launch[1].z;
        pack_2_ = (_e494 - (own_2 * _e498));
        const Outer _e501 = outer(own_2);
        at_2_ = _e501;
    }
    uint _e505 = launch[6].x;
    uint _e508 = at_2_.i0_;
    uint _e513 = launch[6].y;
    int row0_2_ = asint(asuint(asint(_e505)) + asuint(asint(asuint(asint(_e508)) * asuint(asint(_e513)))));
    uint _e520 = launch[6].w;
    uint _e523 = at_2_.i0_;
    uint _e528 = launch[7].x;
    int row1_2_ = asint(asuint(asint(_e520)) + asuint(asint(asuint(asint(_e523)) * asuint(asint(_e528)))));
    uint _e532 = pack_2_;
    uint _e542 = launch[7].y;
    int x_2_ = asint(asuint(asint(asuint(asint(_e532)) * asuint(int(4)))) - asuint(((asint(_e542) == int(1)) ? (row1_2_ & int(3)) : int(0))));
    int head_2_ = max(asint(asuint(int(0)) - asuint(x_2_)), int(0));
    uint _e557 = launch[4].y;
    int tail_2_ = max(asint(asuint(asint(asuint(x_2_) + asuint(int(4)))) - asuint(asint(_e557))), int(0));
    uint _e565 = launch[6].z;
    int b0_2_ = asint(asuint(row0_2_) + asuint(asint(asuint(x_2_) * asuint(asint(_e565)))));
    uint _e572 = launch[7].y;
    int e1_2_ = asint(asuint(row1_2_) + asuint(asint(asuint(x_2_) * asuint(asint(_e572)))));
    uint _e583 = launch[6].z;
    if ((asint(_e583) == int(1))) {
        s0_2_ = (asuint(b0_2_) & 3u);
        int low0_2 = (asint(asuint(b0_2_) + asuint(head_2_)) >> 2u);
        int high0_2 = (asint(asuint(asint(asuint(b0_2_) + asuint(int(3)))) - asuint(tail_2_)) >> 2u);
        uint _e606 = asuint(p0_.Load(min(max(asint(asuint((b0_2_ >> 2u)) + asuint(int(0))), low0_2), high0_2)*4));
        r0_2_0_ = _e606;
        if ((asint(asuint((b0_2_ >> 2u)) + asuint(int(1))) <= high0_2)) {
            uint _e620 = asuint(p0_.Load(min(max(asint(asuint((b0_2_ >> 2u)) + asuint(int(1))), low0_2), high0_2)*4));
            r0_2_1_ = _e620;
        }
    } else {
        uint _e629 = launch[6].z;
        const uint _e634 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(0), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e629)))))));
        uint _e643 = launch[6].z;
        const uint _e648 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(1), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e643)))))));
        uint _e660 = launch[6].z;
        const uint _e665 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(2), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e660)))))));
        uint _e677 = launch[6].z;
        const uint _e682 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(3), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e677)))))));
        r0_2_0_ = (((_e634 | (_e648 << 8u)) | (_e665 << 16u)) | (_e682 << 24u));
    }
    uint _e686 = first;
    uint item_3_ = (_e686 + 768u);
    uint _e692 = launch[0].w;
    pack_3_ = min(item_3_, (_e692 - 1u));
    Outer _e697 = at;
    at_3_ = _e697;
    if ((chunks == 0u)) {
        uint _e701 = pack_3_;
        uint _e705 = launch[1].z;
        uint own_3 = naga_div(_e701, _e705);
        uint _e707 = pack_3_;
        uint _e711 = launch[1].z;
        pack_3_ = (_e707 - (own_3 * _e711));
        const Outer _e714 = outer(own_3);
        at_3_ = _e714;
    }
    uint _e718 = launch[6].x;
    uint _e721 = at_3_.i0_;
    uint _e726 = launch[6].y;
    int row0_3_ = asint(asuint(asint(_e718)) + asuint(asint(asuint(asint(_e721)) * asuint(asint(_e726)))));
    uint _e733 = launch[6].w;
    uint _e736 = at_3_.i0_;
    uint _e741 = launch[7].x;
    int row1_3_ = asint(asuint(asint(_e733)) + asuint(asint(asuint(asint(_e736)) * asuint(asint(_e741)))));
    uint _e745 = pack_3_;
    uint _e755 = launch[7].y;
    int x_3_ = asint(asuint(asint(asuint(asint(_e745)) * asuint(int(4)))) - asuint(((asint(_e755) == int(1)) ? (row1_3_ & int(3)) : int(0))));
    int head_3_ = max(asint(asuint(int(0)) - asuint(x_3_)), int(0));
    uint _e770 = launch[4].y;
    int tail_3_ = max(asint(asuint(asint(asuint(x_3_) + asuint(int(4)))) - asuint(asint(_e770))), int(0));
    uint _e778 = launch[6].z;
    int b0_3_ = asint(asuint(row0_3_) + asuint(asint(asuint(x_3_) * asuint(asint(_e778)))));
    uint _e785 = launch[7].y;
    int e1_3_ = asint(asuint(row1_3_) + asuint(asint(asuint(x_3_) * asuint(asint(_e785)))));
    uint _e796 = launch[6].z;
    if ((asint(_e796) == int(1))) {
        s0_3_ = (asuint(b0_3_) & 3u);
        int low0_3 = (asint(asuint(b0_3_) + asuint(head_3_)) >> 2u);
        int high0_3 = (asint(asuint(asint(asuint(b0_3_) + asuint(int(3)))) - asuint(tail_3_)) >> 2u);
        uint _e819 = asuint(p0_.Load(min(max(asint(asuint((b0_3_ >> 2u)) + asuint(int(0))), low0_3), high0_3)*4));
        r0_3_0_ = _e819;
        if ((asint(asuint((b0_3_ >> 2u)) + asuint(int(1))) <= high0_3)) {
            uint _e833 = asuint(p0_.Load(min(max(asint(asuint((b0_3_ >> 2u)) + asuint(int(1))), low0_3), high0_3)*4));
            r0_3_1_ = _e833;
        }
    } else {
        uint _e842 = launch[6].z;
        const uint _e847 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(0), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e842)))))));
        uint _e856 = launch[6].z;
        const uint _e861 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(1), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e856)))))));
        uint _e873 = launch[6].z;
        const uint _e878 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(2), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e873)))))));
        uint _e890 = launch[6].z;
        const uint _e895 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(3), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e890)))))));
        r0_3_0_ = (((_e847 | (_e861 << 8u)) | (_e878 << 16u)) | (_e895 << 24u));
    }
    {
        uint _e899 = s0_0_;
        if ((_e899 != 0u)) {
            uint _e902 = r0_0_0_;
            uint _e903 = r0_0_1_;
            uint _e904 = s0_0_;
            const uint _e905 = move8_(_e902, _e903, _e904);
            r0_0_0_ = _e905;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e927 = j;
                j = asint(asuint(_e927) + asuint(int(1)));
            }
            loop_init = false;
            int _e909 = j;
            if ((_e909 < int(4))) {
            } else {
                break;
            }
            {
                uint _e912 = r0_0_0_;
                uint v0_ = ((_e912 >> 0u) & 255u);
                uint _e917 = o1_0_;
                uint _e918 = r0_0_0_;
                const uint _e922 = move8_(_e917, (_e918 >> 0u), 1u);
                o1_0_ = _e922;
                uint _e923 = r0_0_0_;
                uint _e924 = r0_0_1_;
                const uint _e926 = move8_(_e923, _e924, 1u);
                r0_0_0_ = _e926;
            }
        }
        uint _e933 = launch[0].w;
        if ((item_0_ < _e933)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e946 = launch[7].y;
                local_1 = (asint(_e946) == int(1));
            } else {
                local_1 = false;
            }
            bool _e951 = local_1;
            if (_e951) {
                uint _e958 = o1_0_;
                p1_.Store(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*4, asuint(_e958));
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e968 = local_2;
                if (_e968) {
                    uint _e973 = launch[7].y;
                    uint _e978 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e973)))))), ((_e978 >> 0u) & 255u));
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e992 = local_3;
                if (_e992) {
                    uint _e997 = launch[7].y;
                    uint _e1002 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e997)))))), ((_e1002 >> 8u) & 255u));
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e1016 = local_4;
                if (_e1016) {
                    uint _e1021 = launch[7].y;
                    uint _e1026 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1021)))))), ((_e1026 >> 16u) & 255u));
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e1040 = local_5;
                if (_e1040) {
                    uint _e1045 = launch[7].y;
                    uint _e1050 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1045)))))), ((_e1050 >> 24u) & 255u));
                }
            }
        }
    }
    {
        uint _e1055 = s0_1_;
        if ((_e1055 != 0u)) {
            uint _e1058 = r0_1_0_;
            uint _e1059 = r0_1_1_;
            uint _e1060 = s0_1_;
            const uint _e1061 = move8_(_e1058, _e1059, _e1060);
            r0_1_0_ = _e1061;
        }
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                int _e1083 = j_1;
                j_1 = asint(asuint(_e1083) + asuint(int(1)));
            }
            loop_init_1 = false;
            int _e1065 = j_1;
            if ((_e1065 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1068 = r0_1_0_;
                uint v0_1 = ((_e1068 >> 0u) & 255u);
                uint _e1073 = o1_0_1;
                uint _e1074 = r0_1_0_;
                const uint _e1078 = move8_(_e1073, (_e1074 >> 0u), 1u);
                o1_0_1 = _e1078;
                uint _e1079 = r0_1_0_;
                uint _e1080 = r0_1_1_;
                const uint _e1082 = move8_(_e1079, _e1080, 1u);
                r0_1_0_ = _e1082;
            }
        }
        uint _e1089 = launch[0].w;
        if ((item_1_ < _e1089)) {
            if ((((head_1_ | tail_1_) | (e1_1_ & int(3))) == int(0))) {
                uint _e1102 = launch[7].y;
                local_6 = (asint(_e1102) == int(1));
            } else {
                local_6 = false;
            }
            bool _e1107 = local_6;
            if (_e1107) {
                uint _e1114 = o1_0_1;
                p1_.Store(asint(asuint((e1_1_ >> 2u)) + asuint(int(0)))*4, asuint(_e1114));
            } else {
                if ((head_1_ <= int(0))) {
                    local_7 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_7 = false;
                }
                bool _e1124 = local_7;
                if (_e1124) {
                    uint _e1129 = launch[7].y;
                    uint _e1134 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1129)))))), ((_e1134 >> 0u) & 255u));
                }
                if ((head_1_ <= int(1))) {
                    local_8 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_8 = false;
                }
                bool _e1148 = local_8;
                if (_e1148) {
                    uint _e1153 = launch[7].y;
                    uint _e1158 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1153)))))), ((_e1158 >> 8u) & 255u));
                }
                if ((head_1_ <= int(2))) {
                    local_9 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_9 = false;
                }
                bool _e1172 = local_9;
                if (_e1172) {
                    uint _e1177 = launch[7].y;
                    uint _e1182 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1177)))))), ((_e1182 >> 16u) & 255u));
                }
                if ((head_1_ <= int(3))) {
                    local_10 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_10 = false;
                }
                bool _e1196 = local_10;
                if (_e1196) {
                    uint _e1201 = launch[7].y;
                    uint _e1206 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1201)))))), ((_e1206 >> 24u) & 255u));
                }
            }
        }
    }
    {
        uint _e1211 = s0_2_;
        if ((_e1211 != 0u)) {
            uint _e1214 = r0_2_0_;
            uint _e1215 = r0_2_1_;
            uint _e1216 = s0_2_;
            const uint _e1217 = move8_(_e1214, _e1215, _e1216);
            r0_2_0_ = _e1217;
        }
        bool loop_init_2 = true;
        while(true) {
            if (!loop_init_2) {
                int _e1239 = j_2;
                j_2 = asint(asuint(_e1239) + asuint(int(1)));
            }
            loop_init_2 = false;
            int _e1221 = j_2;
            if ((_e1221 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1224 = r0_2_0_;
                uint v0_2 = ((_e1224 >> 0u) & 255u);
                uint _e1229 = o1_0_2;
                uint _e1230 = r0_2_0_;
                const uint _e1234 = move8_(_e1229, (_e1230 >> 0u), 1u);
                o1_0_2 = _e1234;
                uint _e1235 = r0_2_0_;
                uint _e1236 = r0_2_1_;
                const uint _e1238 = move8_(_e1235, _e1236, 1u);
                r0_2_0_ = _e1238;
            }
        }
        uint _e1245 = launch[0].w;
        if ((item_2_ < _e1245)) {
            if ((((head_2_ | tail_2_) | (e1_2_ & int(3))) == int(0))) {
                uint _e1258 = launch[7].y;
                local_11 = (asint(_e1258) == int(1));
            } else {
                local_11 = false;
            }
            bool _e1263 = local_11;
            if (_e1263) {
                uint _e1270 = o1_0_2;
                p1_.Store(asint(asuint((e1_2_ >> 2u)) + asuint(int(0)))*4, asuint(_e1270));
            } else {
                if ((head_2_ <= int(0))) {
                    local_12 = (int(0) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_12 = false;
                }
                bool _e1280 = local_12;
                if (_e1280) {
                    uint _e1285 = launch[7].y;
                    uint _e1290 = o1_0_2;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1285)))))), ((_e1290 >> 0u) & 255u));
                }
                if ((head_2_ <= int(1))) {
                    local_13 = (int(1) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_13 = false;
                }
                bool _e1304 = local_13;
                if (_e1304) {
                    uint _e1309 = launch[7].y;
                    uint _e1314 = o1_0_2;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1309)))))), ((_e1314 >> 8u) & 255u));
                }
                if ((head_2_ <= int(2))) {
                    local_14 = (int(2) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_14 = false;
                }
                bool _e1328 = local_14;
                if (_e1328) {
                    uint _e1333 = launch[7].y;
                    uint _e1338 = o1_0_2;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1333)))))), ((_e1338 >> 16u) & 255u));
                }
                if ((head_2_ <= int(3))) {
                    local_15 = (int(3) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_15 = false;
                }
                bool _e1352 = local_15;
                if (_e1352) {
                    uint _e1357 = launch[7].y;
                    uint _e1362 = o1_0_2;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1357)))))), ((_e1362 >> 24u) & 255u));
                }
            }
        }
    }
    {
        uint _e1367 = s0_3_;
        if ((_e1367 != 0u)) {
            uint _e1370 = r0_3_0_;
            uint _e1371 = r0_3_1_;
            uint _e1372 = s0_3_;
            const uint _e1373 = move8_(_e1370, _e1371, _e1372);
            r0_3_0_ = _e1373;
        }
        bool loop_init_3 = true;
        while(true) {
            if (!loop_init_3) {
                int _e1395 = j_3;
                j_3 = asint(asuint(_e1395) + asuint(int(1)));
            }
            loop_init_3 = false;
            int _e1377 = j_3;
            if ((_e1377 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1380 = r0_3_0_;
                uint v0_3 = ((_e1380 >> 0u) & 255u);
                uint _e1385 = o1_0_3;
                uint _e1386 = r0_3_0_;
                const uint _e1390 = move8_(_e1385, (_e1386 >> 0u), 1u);
                o1_0_3 = _e1390;
                uint _e1391 = r0_3_0_;
                uint _e1392 = r0_3_1_;
                const uint _e1394 = move8_(_e1391, _e1392, 1u);
                r0_3_0_ = _e1394;
            }
        }
        uint _e1401 = launch[0].w;
        if ((item_3_ < _e1401)) {
            if ((((head_3_ | tail_3_) | (e1_3_ & int(3))) == int(0))) {
                uint _e1414 = launch[7].y;
                local_16 = (asint(_e1414) == int(1));
            } else {
                local_16 = false;
            }
            bool _e1419 = local_16;
            if (_e1419) {
                uint _e1426 = o1_0_3;
                p1_.Store(asint(asuint((e1_3_ >> 2u)) + asuint(int(0)))*4, asuint(_e1426));
                return;
            } else {
                if ((head_3_ <= int(0))) {
                    local_17 = (int(0) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_17 = false;
                }
                bool _e1436 = local_17;
                if (_e1436) {
                    uint _e1441 = launch[7].y;
                    uint _e1446 = o1_0_3;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1441)))))), ((_e1446 >> 0u) & 255u));
                }
                if ((head_3_ <= int(1))) {
                    local_18 = (int(1) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_18 = false;
                }
                bool _e1460 = local_18;
                if (_e1460) {
                    uint _e1465 = launch[7].y;
                    uint _e1470 = o1_0_3;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1465)))))), ((_e1470 >> 8u) & 255u));
                }
                if ((head_3_ <= int(2))) {
                    local_19 = (int(2) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_19 = false;
                }
                bool _e1484 = local_19;
                if (_e1484) {
                    uint _e1489 = launch[7].y;
                    uint _e1494 = o1_0_3;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1489)))))), ((_e1494 >> 16u) & 255u));
                }
                if ((head_3_ <= int(3))) {
                    local_20 = (int(3) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_20 = false;
                }
                bool _e1508 = local_20;
                if (_e1508) {
                    uint _e1513 = launch[7].y;
                    uint _e1518 = o1_0_3;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1513)))))), ((_e1518 >> 24u) & 255u));
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
