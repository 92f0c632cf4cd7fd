struct Outer {
    uint i0_;
};

cbuffer launch : register(b0) { uint4 launch[8]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer p1_ : register(u2);

uint2 move16_(uint2 a, uint2 b, uint by)
{
    uint2 lows = ((by >= 2u) ? uint2(a.y, b.x) : a);
    uint2 highs = ((by >= 2u) ? b : uint2(a.y, b.x));
    return (((by & 1u) != 0u) ? ((lows >> (16u).xx) | (highs << (16u).xx)) : lows);
}

float from_f16_(uint half_)
{
    uint sign_ = ((half_ & 32768u) << 16u);
    uint a_1 = (half_ & 32767u);
    uint lead = ((31u - firstbithigh(max(a_1, 1u))) - 21u);
    uint tiny = ((a_1 != 0u) ? (((113u - lead) << 23u) | (((a_1 << lead) & 1023u) << 13u)) : 0u);
    uint normal = ((a_1 << 13u) + ((a_1 >= 31744u) ? 1879048192u : 939524096u));
    return asfloat((sign_ | ((a_1 < 1024u) ? tiny : normal)));
}

uint at0_(uint e)
{
    uint _e10 = asuint(p0_.Load(((e >> 1u) & 1u)*4+(e >> 2u)*8));
    return ((_e10 >> ((e & 1u) << 4u)) & 65535u);
}

void put1_(uint e_1, uint x)
{
    uint _e20 = asuint(p1_.Load(((e_1 >> 1u) & 1u)*4+(e_1 >> 2u)*8));
    p1_.Store(((e_1 >> 1u) & 1u)*4+(e_1 >> 2u)*8, asuint(((_e20 & ~((65535u << ((e_1 & 1u) << 4u)))) | (x << ((e_1 & 1u) << 4u)))));
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
    uint2 r0_0_0_ = (uint2)0;
    uint2 r0_0_1_ = (uint2)0;
    uint pack_1_ = (uint)0;
    Outer at_1_ = (Outer)0;
    uint s0_1_ = 0u;
    uint2 r0_1_0_ = (uint2)0;
    uint2 r0_1_1_ = (uint2)0;
    uint pack_2_ = (uint)0;
    Outer at_2_ = (Outer)0;
    uint s0_2_ = 0u;
    uint2 r0_2_0_ = (uint2)0;
    uint2 r0_2_1_ = (uint2)0;
    uint pack_3_ = (uint)0;
    Outer at_3_ = (Outer)0;
    uint s0_3_ = 0u;
    uint2 r0_3_0_ = (uint2)0;
    uint2 r0_3_1_ = (uint2)0;
    uint2 o1_0_ = (uint2)0;
    int j = int(0);
    bool local_1 = (bool)0;
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;
    bool local_4 = (bool)0;
    bool local_5 = (bool)0;
    uint2 o1_0_1 = (uint2)0;
    int j_1 = int(0);
    bool local_6 = (bool)0;
    bool local_7 = (bool)0;
    bool local_8 = (bool)0;
    bool local_9 = (bool)0;
    bool local_10 = (bool)0;
    uint2 o1_0_2 = (uint2)0;
    int j_2 = int(0);
    bool local_11 = (bool)0;
    bool local_12 = (bool)0;
    bool local_13 = (bool)0;
    bool local_14 = (bool)0;
    bool local_15 = (bool)0;
    uint2 o1_0_3 = (uint2)0;
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
        uint2 _e180 = asuint(p0_.Load2(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*8));
        r0_0_0_ = _e180;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint2 _e194 = asuint(p0_.Load2(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*8));
            r0_0_1_ = _e194;
        }
    } else {
        uint _e203 = launch[6].z;
        const uint _e208 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e203)))))));
        uint _e217 = launch[6].z;
        const uint _e222 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e217)))))));
        uint _e234 = launch[6].z;
        const uint _e239 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e234)))))));
        uint _e248 = launch[6].z;
        const uint _e253 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e248)))))));
        r0_0_0_ = uint2((_e208 | (_e222 << 16u)), (_e239 | (_e253 << 16u)));
    }
    uint _e258 = first;
    uint item_1_ = (_e258 + 256u);
    uint _e264 = launch[0].w;
    pack_1_ = min(item_1_, (_e264 - 1u));
    Outer _e269 = at;
    at_1_ = _e269;
    if ((chunks == 0u)) {
        uint _e273 = pack_1_;
        uint _e277 = launch[1].z;
        uint own_1 = naga_div(_e273, _e277);
        uint _e279 = pack_1_;
        uint _e283 = launch[1].z;
        pack_1_ = (_e279 - (own_1 * _e283));
        const Outer _e286 = outer(own_1);
        at_1_ = _e286;
    }
    uint _e290 = launch[6].x;
    uint _e293 = at_1_.i0_;
    uint _e298 = launch[6].y;
    int row0_1_ = asint(asuint(asint(_e290)) + asuint(asint(asuint(asint(_e293)) * asuint(asint(_e298)))));
    uint _e305 = launch[6].w;
    uint _e308 = at_1_.i0_;
    uint _e313 = launch[7].x;
    int row1_1_ = asint(asuint(asint(_e305)) + asuint(asint(asuint(asint(_e308)) * asuint(asint(_e313)))));
    uint _e317 = pack_1_;
    uint _e327 = launch[7].y;
    int x_1_ = asint(asuint(asint(asuint(asint(_e317)) * asuint(int(4)))) - asuint(((asint(_e327) == int(1)) ? (row1_1_ & int(3)) : int(0))));
    int head_1_ = max(asint(asuint(int(0)) - asuint(x_1_)), int(0));
    uint _e342 = launch[4].y;
    int tail_1_ = max(asint(asuint(asint(asuint(x_1_) + asuint(int(4)))) - asuint(asint(_e342))), int(0));
    uint _e350 = launch[6].z;
    int b0_1_ = asint(asuint(row0_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e350)))));
    uint _e357 = launch[7].y;
    int e1_1_ = asint(asuint(row1_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e357)))));
    uint _e368 = launch[6].z;
    if ((asint(_e368) == int(1))) {
        s0_1_ = (asuint(b0_1_) & 3u);
        int low0_1 = (asint(asuint(b0_1_) + asuint(head_1_)) >> 2u);
        int high0_1 = (asint(asuint(asint(asuint(b0_1_) + asuint(int(3)))) - asuint(tail_1_)) >> 2u);
        uint2 _e391 = asuint(p0_.Load2(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(0))), low0_1), high0_1)*8));
        r0_1_0_ = _e391;
        if ((asint(asuint((b0_1_ >> 2u)) + asuint(int(1))) <= high0_1)) {
            uint2 _e405 = asuint(p0_.Load2(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(1))), low0_1), high0_1)*8));
            r0_1_1_ = _e405;
        }
    } else {
        uint _e414 = launch[6].z;
        const uint _e419 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(0), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e414)))))));
        uint _e428 = launch[6].z;
        const uint _e433 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(1), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e428)))))));
        uint _e445 = launch[6].z;
        const uint _e450 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(2), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e445)))))));
        uint _e459 = launch[6].z;
        const uint _e464 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(3), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e459)))))));
        r0_1_0_ = uint2((_e419 | (_e433 << 16u)), (_e450 | (_e464 << 16u)));
    }
    uint _e469 = first;
    uint item_2_ = (_e469 + 512u);
    uint _e475 = launch[0].w;
    pack_2_ = min(item_2_, (_e475 - 1u));
    Outer _e480 = at;
    at_2_ = _e480;
    if ((chunks == 0u)) {
        uint _e484 = pack_2_;
        uint _e488 = launch[1].z;
        uint own_2 = naga_div(_e484, _e488);
        uint _e490 = pack_2_;
        uint _e494 = launch[1].z;
        pack_2_ = (_e490 - (own_2 * _e494));
        const Outer _e497 = outer(own_2);
        at_2_ = _e497;
    }
    uint _e501 = launch[6].x;
    uint _e504 = at_2_.i0_;
    uint _e509 = launch[6].y;
    int row0_2_ = asint(asuint(asint(_e501)) + asuint(asint(asuint(asint(_e504)) * asuint(asint(_e509)))));
    uint _e516 = launch[6].w;
    uint _e519 = at_2_.i0_;
    uint _e524 = launch[7].x;
    int row1_2_ = asint(asuint(asint(_e516)) + asuint(asint(asuint(asint(_e519)) * asuint(asint(_e524)))));
    uint _e528 = pack_2_;
    uint _e538 = launch[7].y;
    int x_2_ = asint(asuint(asint(asuint(asint(_e528)) * asuint(int(4)))) - asuint(((asint(_e538) == int(1)) ? (row1_2_ & int(3)) : int(0))));
    int head_2_ = max(asint(asuint(int(0)) - asuint(x_2_)), int(0));
    uint _e553 = launch[4].y;
    int tail_2_ = max(asint(asuint(asint(asuint(x_2_) + asuint(int(4)))) - asuint(asint(_e553))), int(0));
    uint _e561 = launch[6].z;
    int b0_2_ = asint(asuint(row0_2_) + asuint(asint(asuint(x_2_) * asuint(asint(_e561)))));
    uint _e568 = launch[7].y;
    int e1_2_ = asint(asuint(row1_2_) + asuint(asint(asuint(x_2_) * asuint(asint(_e568)))));
    uint _e579 = launch[6].z;
    if ((asint(_e579) == int(1))) {
        s0_2_ = (asuint(b0_2_) & 3u);
        int low0_2 = (asint(asuint(b0_2_) + asuint(head_2_)) >> 2u);
        int high0_2 = (asint(asuint(asint(asuint(b0_2_) + asuint(int(3)))) - asuint(tail_2_)) >> 2u);
        uint2 _e602 = asuint(p0_.Load2(min(max(asint(asuint((b0_2_ >> 2u)) + asuint(int(0))), low0_2), high0_2)*8));
        r0_2_0_ = _e602;
        if ((asint(asuint((b0_2_ >> 2u)) + asuint(int(1))) <= high0_2)) {
            uint2 _e616 = asuint(p0_.Load2(min(max(asint(asuint((b0_2_ >> 2u)) + asuint(int(1))), low0_2), high0_2)*8));
            r0_2_1_ = _e616;
        }
    } else {
        uint _e625 = launch[6].z;
        const uint _e630 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(0), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e625)))))));
        uint _e639 = launch[6].z;
        const uint _e644 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(1), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e639)))))));
        uint _e656 = launch[6].z;
        const uint _e661 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(2), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e656)))))));
        uint _e670 = launch[6].z;
        const uint _e675 = at0_(asuint(asint(asuint(b0_2_) + asuint(asint(asuint(min(max(int(3), head_2_), asint(asuint(int(3)) - asuint(tail_2_)))) * asuint(asint(_e670)))))));
        r0_2_0_ = uint2((_e630 | (_e644 << 16u)), (_e661 | (_e675 << 16u)));
    }
    uint _e680 = first;
    uint item_3_ = (_e680 + 768u);
    uint _e686 = launch[0].w;
    pack_3_ = min(item_3_, (_e686 - 1u));
    Outer _e691 = at;
    at_3_ = _e691;
    if ((chunks == 0u)) {
        uint _e695 = pack_3_;
        uint _e699 = launch[1].z;
        uint own_3 = naga_div(_e695, _e699);
        uint _e701 = pack_3_;
        uint _e705 = launch[1].z;
        pack_3_ = (_e701 - (own_3 * _e705));
        const Outer _e708 = outer(own_3);
        at_3_ = _e708;
    }
    uint _e712 = launch[6].x;
    uint _e715 = at_3_.i0_;
    uint _e720 = launch[6].y;
    int row0_3_ = asint(asuint(asint(_e712)) + asuint(asint(asuint(asint(_e715)) * asuint(asint(_e720)))));
    uint _e727 = launch[6].w;
    uint _e730 = at_3_.i0_;
    uint _e735 = launch[7].x;
    int row1_3_ = asint(asuint(asint(_e727)) + asuint(asint(asuint(asint(_e730)) * asuint(asint(_e735)))));
    uint _e739 = pack_3_;
    uint _e749 = launch[7].y;
    int x_3_ = asint(asuint(asint(asuint(asint(_e739)) * asuint(int(4)))) - asuint(((asint(_e749) == int(1)) ? (row1_3_ & int(3)) : int(0))));
    int head_3_ = max(asint(asuint(int(0)) - asuint(x_3_)), int(0));
    uint _e764 = launch[4].y;
    int tail_3_ = max(asint(asuint(asint(asuint(x_3_) + asuint(int(4)))) - asuint(asint(_e764))), int(0));
    uint _e772 = launch[6].z;
    int b0_3_ = asint(asuint(row0_3_) + asuint(asint(asuint(x_3_) * asuint(asint(_e772)))));
    uint _e779 = launch[7].y;
    int e1_3_ = asint(asuint(row1_3_) + asuint(asint(asuint(x_3_) * asuint(asint(_e779)))));
    uint _e790 = launch[6].z;
    if ((asint(_e790) == int(1))) {
        s0_3_ = (asuint(b0_3_) & 3u);
        int low0_3 = (asint(asuint(b0_3_) + asuint(head_3_)) >> 2u);
        int high0_3 = (asint(asuint(asint(asuint(b0_3_) + asuint(int(3)))) - asuint(tail_3_)) >> 2u);
        uint2 _e813 = asuint(p0_.Load2(min(max(asint(asuint((b0_3_ >> 2u)) + asuint(int(0))), low0_3), high0_3)*8));
        r0_3_0_ = _e813;
        if ((asint(asuint((b0_3_ >> 2u)) + asuint(int(1))) <= high0_3)) {
            uint2 _e827 = asuint(p0_.Load2(min(max(asint(asuint((b0_3_ >> 2u)) + asuint(int(1))), low0_3), high0_3)*8));
            r0_3_1_ = _e827;
        }
    } else {
        uint _e836 = launch[6].z;
        const uint _e841 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(0), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e836)))))));
        uint _e850 = launch[6].z;
        const uint _e855 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(1), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e850)))))));
        uint _e867 = launch[6].z;
        const uint _e872 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(2), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e867)))))));
        uint _e881 = launch[6].z;
        const uint _e886 = at0_(asuint(asint(asuint(b0_3_) + asuint(asint(asuint(min(max(int(3), head_3_), asint(asuint(int(3)) - asuint(tail_3_)))) * asuint(asint(_e881)))))));
        r0_3_0_ = uint2((_e841 | (_e855 << 16u)), (_e872 | (_e886 << 16u)));
    }
    {
        uint _e891 = s0_0_;
        if ((_e891 != 0u)) {
            uint2 _e894 = r0_0_0_;
            uint2 _e895 = r0_0_1_;
            uint _e896 = s0_0_;
            const uint2 _e897 = move16_(_e894, _e895, _e896);
            r0_0_0_ = _e897;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e924 = j;
                j = asint(asuint(_e924) + asuint(int(1)));
            }
            loop_init = false;
            int _e901 = j;
            if ((_e901 < int(4))) {
            } else {
                break;
            }
            {
                uint _e905 = r0_0_0_.x;
                const float _e910 = from_f16_(((_e905 >> 0u) & 65535u));
                uint2 _e911 = o1_0_;
                uint _e913 = r0_0_0_.x;
                const uint2 _e919 = move16_(_e911, uint2((_e913 >> 0u), 0u), 1u);
                o1_0_ = _e919;
                uint2 _e920 = r0_0_0_;
                uint2 _e921 = r0_0_1_;
                const uint2 _e923 = move16_(_e920, _e921, 1u);
                r0_0_0_ = _e923;
            }
        }
        uint _e930 = launch[0].w;
        if ((item_0_ < _e930)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e943 = launch[7].y;
                local_1 = (asint(_e943) == int(1));
            } else {
                local_1 = false;
            }
            bool _e948 = local_1;
            if (_e948) {
                uint2 _e955 = o1_0_;
                p1_.Store2(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*8, asuint(_e955));
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e965 = local_2;
                if (_e965) {
                    uint _e970 = launch[7].y;
                    uint _e976 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e970)))))), ((_e976 >> 0u) & 65535u));
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e990 = local_3;
                if (_e990) {
                    uint _e995 = launch[7].y;
                    uint _e1001 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e995)))))), ((_e1001 >> 16u) & 65535u));
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e1015 = local_4;
                if (_e1015) {
                    uint _e1020 = launch[7].y;
                    uint _e1026 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1020)))))), ((_e1026 >> 0u) & 65535u));
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e1040 = local_5;
                if (_e1040) {
                    uint _e1045 = launch[7].y;
                    uint _e1051 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1045)))))), ((_e1051 >> 16u) & 65535u));
                }
            }
        }
    }
    {
        uint _e1056 = s0_1_;
        if ((_e1056 != 0u)) {
            uint2 _e1059 = r0_1_0_;
            uint2 _e1060 = r0_1_1_;
            uint _e1061 = s0_1_;
            const uint2 _e1062 = move16_(_e1059, _e1060, _e1061);
            r0_1_0_ = _e1062;
        }
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                int _e1089 = j_1;
                j_1 = asint(asuint(_e1089) + asuint(int(1)));
            }
            loop_init_1 = false;
            int _e1066 = j_1;
            if ((_e1066 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1070 = r0_1_0_.x;
                const float _e1075 = from_f16_(((_e1070 >> 0u) & 65535u));
                uint2 _e1076 = o1_0_1;
                uint _e1078 = r0_1_0_.x;
                const uint2 _e1084 = move16_(_e1076, uint2((_e1078 >> 0u), 0u), 1u);
                o1_0_1 = _e1084;
                uint2 _e1085 = r0_1_0_;
                uint2 _e1086 = r0_1_1_;
                const uint2 _e1088 = move16_(_e1085, _e1086, 1u);
                r0_1_0_ = _e1088;
            }
        }
        uint _e1095 = launch[0].w;
        if ((item_1_ < _e1095)) {
            if ((((head_1_ | tail_1_) | (e1_1_ & int(3))) == int(0))) {
                uint _e1108 = launch[7].y;
                local_6 = (asint(_e1108) == int(1));
            } else {
                local_6 = false;
            }
            bool _e1113 = local_6;
            if (_e1113) {
                uint2 _e1120 = o1_0_1;
                p1_.Store2(asint(asuint((e1_1_ >> 2u)) + asuint(int(0)))*8, asuint(_e1120));
            } else {
                if ((head_1_ <= int(0))) {
                    local_7 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_7 = false;
                }
                bool _e1130 = local_7;
                if (_e1130) {
                    uint _e1135 = launch[7].y;
                    uint _e1141 = o1_0_1.x;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1135)))))), ((_e1141 >> 0u) & 65535u));
                }
                if ((head_1_ <= int(1))) {
                    local_8 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_8 = false;
                }
                bool _e1155 = local_8;
                if (_e1155) {
                    uint _e1160 = launch[7].y;
                    uint _e1166 = o1_0_1.x;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1160)))))), ((_e1166 >> 16u) & 65535u));
                }
                if ((head_1_ <= int(2))) {
                    local_9 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_9 = false;
                }
                bool _e1180 = local_9;
                if (_e1180) {
                    uint _e1185 = launch[7].y;
                    uint _e1191 = o1_0_1.y;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1185)))))), ((_e1191 >> 0u) & 65535u));
                }
                if ((head_1_ <= int(3))) {
                    local_10 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_10 = false;
                }
                bool _e1205 = local_10;
                if (_e1205) {
                    uint _e1210 = launch[7].y;
                    uint _e1216 = o1_0_1.y;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1210)))))), ((_e1216 >> 16u) & 65535u));
                }
            }
        }
    }
    {
        uint _e1221 = s0_2_;
        if ((_e1221 != 0u)) {
            uint2 _e1224 = r0_2_0_;
            uint2 _e1225 = r0_2_1_;
            uint _e1226 = s0_2_;
            const uint2 _e1227 = move16_(_e1224, _e1225, _e1226);
            r0_2_0_ = _e1227;
        }
        bool loop_init_2 = true;
        while(true) {
            if (!loop_init_2) {
                int _e1254 = j_2;
                j_2 = asint(asuint(_e1254) + asuint(int(1)));
            }
            loop_init_2 = false;
            int _e1231 = j_2;
            if ((_e1231 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1235 = r0_2_0_.x;
                const float _e1240 = from_f16_(((_e1235 >> 0u) & 65535u));
                uint2 _e1241 = o1_0_2;
                uint _e1243 = r0_2_0_.x;
                const uint2 _e1249 = move16_(_e1241, uint2((_e1243 >> 0u), 0u), 1u);
                o1_0_2 = _e1249;
                uint2 _e1250 = r0_2_0_;
                uint2 _e1251 = r0_2_1_;
                const uint2 _e1253 = move16_(_e1250, _e1251, 1u);
                r0_2_0_ = _e1253;
            }
        }
        uint _e1260 = launch[0].w;
        if ((item_2_ < _e1260)) {
            if ((((head_2_ | tail_2_) | (e1_2_ & int(3))) == int(0))) {
                uint _e1273 = launch[7].y;
                local_11 = (asint(_e1273) == int(1));
            } else {
                local_11 = false;
            }
            bool _e1278 = local_11;
            if (_e1278) {
                uint2 _e1285 = o1_0_2;
                p1_.Store2(asint(asuint((e1_2_ >> 2u)) + asuint(int(0)))*8, asuint(_e1285));
            } else {
                if ((head_2_ <= int(0))) {
                    local_12 = (int(0) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_12 = false;
                }
                bool _e1295 = local_12;
                if (_e1295) {
                    uint _e1300 = launch[7].y;
                    uint _e1306 = o1_0_2.x;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1300)))))), ((_e1306 >> 0u) & 65535u));
                }
                if ((head_2_ <= int(1))) {
                    local_13 = (int(1) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_13 = false;
                }
                bool _e1320 = local_13;
                if (_e1320) {
                    uint _e1325 = launch[7].y;
                    uint _e1331 = o1_0_2.x;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1325)))))), ((_e1331 >> 16u) & 65535u));
                }
                if ((head_2_ <= int(2))) {
                    local_14 = (int(2) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_14 = false;
                }
                bool _e1345 = local_14;
                if (_e1345) {
                    uint _e1350 = launch[7].y;
                    uint _e1356 = o1_0_2.y;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1350)))))), ((_e1356 >> 0u) & 65535u));
                }
                if ((head_2_ <= int(3))) {
                    local_15 = (int(3) < asint(asuint(int(4)) - asuint(tail_2_)));
                } else {
                    local_15 = false;
                }
                bool _e1370 = local_15;
                if (_e1370) {
                    uint _e1375 = launch[7].y;
                    uint _e1381 = o1_0_2.y;
                    put1_(asuint(asint(asuint(e1_2_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1375)))))), ((_e1381 >> 16u) & 65535u));
                }
            }
        }
    }
    {
        uint _e1386 = s0_3_;
        if ((_e1386 != 0u)) {
            uint2 _e1389 = r0_3_0_;
            uint2 _e1390 = r0_3_1_;
            uint _e1391 = s0_3_;
            const uint2 _e1392 = move16_(_e1389, _e1390, _e1391);
            r0_3_0_ = _e1392;
        }
        bool loop_init_3 = true;
        while(true) {
            if (!loop_init_3) {
                int _e1419 = j_3;
                j_3 = asint(asuint(_e1419) + asuint(int(1)));
            }
            loop_init_3 = false;
            int _e1396 = j_3;
            if ((_e1396 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1400 = r0_3_0_.x;
                const float _e1405 = from_f16_(((_e1400 >> 0u) & 65535u));
                uint2 _e1406 = o1_0_3;
                uint _e1408 = r0_3_0_.x;
                const uint2 _e1414 = move16_(_e1406, uint2((_e1408 >> 0u), 0u), 1u);
                o1_0_3 = _e1414;
                uint2 _e1415 = r0_3_0_;
                uint2 _e1416 = r0_3_1_;
                const uint2 _e1418 = move16_(_e1415, _e1416, 1u);
                r0_3_0_ = _e1418;
            }
        }
        uint _e1425 = launch[0].w;
        if ((item_3_ < _e1425)) {
            if ((((head_3_ | tail_3_) | (e1_3_ & int(3))) == int(0))) {
                uint _e1438 = launch[7].y;
                local_16 = (asint(_e1438) == int(1));
            } else {
                local_16 = false;
            }
            bool _e1443 = local_16;
            if (_e1443) {
                uint2 _e1450 = o1_0_3;
                p1_.Store2(asint(asuint((e1_3_ >> 2u)) + asuint(int(0)))*8, asuint(_e1450));
                return;
            } else {
                if ((head_3_ <= int(0))) {
                    local_17 = (int(0) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_17 = false;
                }
                bool _e1460 = local_17;
                if (_e1460) {
                    uint _e1465 = launch[7].y;
                    uint _e1471 = o1_0_3.x;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1465)))))), ((_e1471 >> 0u) & 65535u));
                }
                if ((head_3_ <= int(1))) {
                    local_18 = (int(1) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_18 = false;
                }
                bool _e1485 = local_18;
                if (_e1485) {
                    uint _e1490 = launch[7].y;
                    uint _e1496 = o1_0_3.x;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1490)))))), ((_e1496 >> 16u) & 65535u));
                }
                if ((head_3_ <= int(2))) {
                    local_19 = (int(2) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_19 = false;
                }
                bool _e1510 = local_19;
                if (_e1510) {
                    uint _e1515 = launch[7].y;
                    uint _e1521 = o1_0_3.y;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1515)))))), ((_e1521 >> 0u) & 65535u));
                }
                if ((head_3_ <= int(3))) {
                    local_20 = (int(3) < asint(asuint(int(4)) - asuint(tail_3_)));
                } else {
                    local_20 = false;
                }
                bool _e1535 = local_20;
                if (_e1535) {
                    uint _e1540 = launch[7].y;
                    uint _e1546 = o1_0_3.y;
                    put1_(asuint(asint(asuint(e1_3_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1540)))))), ((_e1546 >> 16u) & 65535u));
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
