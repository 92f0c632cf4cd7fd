struct Outer {
    uint i0_;
    uint i1_;
};

cbuffer launch : register(b0) { uint4 launch[12]; }
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

Outer outer(uint row_1)
{
    Outer at_1 = (Outer)0;
    uint rest = (uint)0;

    rest = row_1;
    at_1.i1_ = 0u;
    uint _e8 = launch[4].y;
    if ((_e8 > 1u)) {
        uint _e11 = rest;
        uint _e15 = launch[4].y;
        uint q = naga_div(_e11, _e15);
        uint _e18 = rest;
        uint _e22 = launch[4].y;
        at_1.i1_ = (_e18 - (q * _e22));
        rest = q;
    }
    uint _e26 = rest;
    at_1.i0_ = _e26;
    Outer _e27 = at_1;
    const Outer outer_1 = _e27;
    return outer_1;
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
    uint4 r0_0_2_ = (uint4)0;
    uint s1_0_ = 0u;
    uint4 r1_0_0_ = (uint4)0;
    uint4 r1_0_1_ = (uint4)0;
    uint s2_0_ = 0u;
    uint4 r2_0_0_ = (uint4)0;
    uint4 r2_0_1_ = (uint4)0;
    uint s3_0_ = 0u;
    uint4 r3_0_0_ = (uint4)0;
    uint4 r3_0_1_ = (uint4)0;
    uint s4_0_ = 0u;
    uint4 r4_0_0_ = (uint4)0;
    uint4 r4_0_1_ = (uint4)0;
    uint s5_0_ = 0u;
    uint4 r5_0_0_ = (uint4)0;
    uint4 r5_0_1_ = (uint4)0;
    uint s6_0_ = 0u;
    uint4 r6_0_0_ = (uint4)0;
    uint4 r6_0_1_ = (uint4)0;
    uint s7_0_ = 0u;
    uint4 r7_0_0_ = (uint4)0;
    uint4 r7_0_1_ = (uint4)0;
    uint s8_0_ = 0u;
    uint4 r8_0_0_ = (uint4)0;
    uint4 r8_0_1_ = (uint4)0;
    uint4 o1_0_ = (uint4)0;
    int j = int(0);
    bool local_1 = (bool)0;
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;
    bool local_4 = (bool)0;
    bool local_5 = (bool)0;

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
    uint _e79 = launch[7].x;
    uint _e82 = at_0_.i0_;
    uint _e87 = launch[7].y;
    uint _e92 = at_0_.i1_;
    uint _e97 = launch[7].z;
    int row0_0_ = asint(asuint(asint(asuint(asint(_e79)) + asuint(asint(asuint(asint(_e82)) * asuint(asint(_e87)))))) + asuint(asint(asuint(asint(_e92)) * asuint(asint(_e97)))));
    uint _e104 = launch[8].x;
    uint _e107 = at_0_.i0_;
    uint _e112 = launch[8].y;
    uint _e117 = at_0_.i1_;
    uint _e122 = launch[8].z;
    int row1_0_ = asint(asuint(asint(asuint(asint(_e104)) + asuint(asint(asuint(asint(_e107)) * asuint(asint(_e112)))))) + asuint(asint(asuint(asint(_e117)) * asuint(asint(_e122)))));
    uint _e126 = pack_0_;
    uint _e136 = launch[8].w;
    int x_0_ = asint(asuint(asint(asuint(asint(_e126)) * asuint(int(4)))) - asuint(((asint(_e136) == int(1)) ? (row1_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e151 = launch[4].z;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e151))), int(0));
    uint _e159 = launch[7].w;
    int e0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e159)))));
    uint _e166 = launch[8].w;
    int e1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e166)))));
    uint _e210 = launch[11].z;
    int b0_0_ = asint(asuint(e0_0_) + asuint(asint(_e210)));
    uint _e216 = launch[9].x;
    int b1_0_ = asint(asuint(e0_0_) + asuint(asint(_e216)));
    uint _e222 = launch[9].y;
    int b2_0_ = asint(asuint(e0_0_) + asuint(asint(_e222)));
    uint _e228 = launch[9].z;
    int b3_0_ = asint(asuint(e0_0_) + asuint(asint(_e228)));
    uint _e234 = launch[9].w;
    int b4_0_ = asint(asuint(e0_0_) + asuint(asint(_e234)));
    uint _e240 = launch[10].x;
    int b5_0_ = asint(asuint(e0_0_) + asuint(asint(_e240)));
    uint _e246 = launch[10].y;
    int b6_0_ = asint(asuint(e0_0_) + asuint(asint(_e246)));
    uint _e252 = launch[10].z;
    int b7_0_ = asint(asuint(e0_0_) + asuint(asint(_e252)));
    uint _e258 = launch[10].w;
    int b8_0_ = asint(asuint(e0_0_) + asuint(asint(_e258)));
    uint _e264 = launch[7].w;
    if ((asint(_e264) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(7)))) - asuint(tail_0_)) >> 2u);
        uint4 _e287 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e287;
        uint4 _e296 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
        r0_0_1_ = _e296;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(2))) <= high0_)) {
            uint4 _e310 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(2))), low0_), high0_)*16));
            r0_0_2_ = _e310;
        }
        s1_0_ = (asuint(b1_0_) & 3u);
        int low1_ = (asint(asuint(b1_0_) + asuint(head_0_)) >> 2u);
        int high1_ = (asint(asuint(asint(asuint(b1_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e330 = asuint(p0_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(0))), low1_), high1_)*16));
        r1_0_0_ = _e330;
        if ((asint(asuint((b1_0_ >> 2u)) + asuint(int(1))) <= high1_)) {
            uint4 _e344 = asuint(p0_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(1))), low1_), high1_)*16));
            r1_0_1_ = _e344;
        }
        s2_0_ = (asuint(b2_0_) & 3u);
        int low2_ = (asint(asuint(b2_0_) + asuint(head_0_)) >> 2u);
        int high2_ = (asint(asuint(asint(asuint(b2_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e364 = asuint(p0_.Load4(min(max(asint(asuint((b2_0_ >> 2u)) + asuint(int(0))), low2_), high2_)*16));
        r2_0_0_ = _e364;
        if ((asint(asuint((b2_0_ >> 2u)) + asuint(int(1))) <= high2_)) {
            uint4 _e378 = asuint(p0_.Load4(min(max(asint(asuint((b2_0_ >> 2u)) + asuint(int(1))), low2_), high2_)*16));
            r2_0_1_ = _e378;
        }
        s3_0_ = (asuint(b3_0_) & 3u);
        int low3_ = (asint(asuint(b3_0_) + asuint(head_0_)) >> 2u);
        int high3_ = (asint(asuint(asint(asuint(b3_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e398 = asuint(p0_.Load4(min(max(asint(asuint((b3_0_ >> 2u)) + asuint(int(0))), low3_), high3_)*16));
        r3_0_0_ = _e398;
        if ((asint(asuint((b3_0_ >> 2u)) + asuint(int(1))) <= high3_)) {
            uint4 _e412 = asuint(p0_.Load4(min(max(asint(asuint((b3_0_ >> 2u)) + asuint(int(1))), low3_), high3_)*16));
            r3_0_1_ = _e412;
        }
        s4_0_ = (asuint(b4_0_) & 3u);
        int low4_ = (asint(asuint(b4_0_) + asuint(head_0_)) >> 2u);
        int high4_ = (asint(asuint(asint(asuint(b4_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e432 = asuint(p0_.Load4(min(max(asint(asuint((b4_0_ >> 2u)) + asuint(int(0))), low4_), high4_)*16));
        r4_0_0_ = _e432;
        if ((asint(asuint((b4_0_ >> 2u)) + asuint(int(1))) <= high4_)) {
            uint4 _e446 = asuint(p0_.Load4(min(max(asint(asuint((b4_0_ >> 2u)) + asuint(int(1))), low4_), high4_)*16));
            r4_0_1_ = _e446;
        }
        s5_0_ = (asuint(b5_0_) & 3u);
        int low5_ = (asint(asuint(b5_0_) + asuint(head_0_)) >> 2u);
        int high5_ = (asint(asuint(asint(asuint(b5_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e466 = asuint(p0_.Load4(min(max(asint(asuint((b5_0_ >> 2u)) + asuint(int(0))), low5_), high5_)*16));
        r5_0_0_ = _e466;
        if ((asint(asuint((b5_0_ >> 2u)) + asuint(int(1))) <= high5_)) {
            uint4 _e480 = asuint(p0_.Load4(min(max(asint(asuint((b5_0_ >> 2u)) + asuint(int(1))), low5_), high5_)*16));
            r5_0_1_ = _e480;
        }
        s6_0_ = (asuint(b6_0_) & 3u);
        int low6_ = (asint(asuint(b6_0_) + asuint(head_0_)) >> 2u);
        int high6_ = (asint(asuint(asint(asuint(b6_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e500 = asuint(p0_.Load4(min(max(asint(asuint((b6_0_ >> 2u)) + asuint(int(0))), low6_), high6_)*16));
        r6_0_0_ = _e500;
        if ((asint(asuint((b6_0_ >> 2u)) + asuint(int(1))) <= high6_)) {
            uint4 _e514 = asuint(p0_.Load4(min(max(asint(asuint((b6_0_ >> 2u)) + asuint(int(1))), low6_), high6_)*16));
            r6_0_1_ = _e514;
        }
        s7_0_ = (asuint(b7_0_) & 3u);
        int low7_ = (asint(asuint(b7_0_) + asuint(head_0_)) >> 2u);
        int high7_ = (asint(asuint(asint(asuint(b7_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e534 = asuint(p0_.Load4(min(max(asint(asuint((b7_0_ >> 2u)) + asuint(int(0))), low7_), high7_)*16));
        r7_0_0_ = _e534;
        if ((asint(asuint((b7_0_ >> 2u)) + asuint(int(1))) <= high7_)) {
            uint4 _e548 = asuint(p0_.Load4(min(max(asint(asuint((b7_0_ >> 2u)) + asuint(int(1))), low7_), high7_)*16));
            r7_0_1_ = _e548;
        }
        s8_0_ = (asuint(b8_0_) & 3u);
        int low8_ = (asint(asuint(b8_0_) + asuint(head_0_)) >> 2u);
        int high8_ = (asint(asuint(asint(asuint(b8_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e568 = asuint(p0_.Load4(min(max(asint(asuint((b8_0_ >> 2u)) + asuint(int(0))), low8_), high8_)*16));
        r8_0_0_ = _e568;
        if ((asint(asuint((b8_0_ >> 2u)) + asuint(int(1))) <= high8_)) {
            uint4 _e582 = asuint(p0_.Load4(min(max(asint(asuint((b8_0_ >> 2u)) + asuint(int(1))), low8_), high8_)*16));
            r8_0_1_ = _e582;
        }
    } else {
        uint _e591 = launch[7].w;
        const uint _e596 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e591)))))));
        uint _e605 = launch[7].w;
        const uint _e610 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e605)))))));
        uint _e619 = launch[7].w;
        const uint _e624 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e619)))))));
        uint _e633 = launch[7].w;
        const uint _e638 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e633)))))));
        r0_0_0_ = uint4(_e596, _e610, _e624, _e638);
        uint _e648 = launch[7].w;
        const uint _e653 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e648)))))));
        uint _e662 = launch[7].w;
        const uint _e667 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e662)))))));
        uint _e676 = launch[7].w;
        const uint _e681 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(6), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e676)))))));
        uint _e690 = launch[7].w;
        const uint _e695 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(7), head_0_), asint(asuint(int(7)) - asuint(tail_0_)))) * asuint(asint(_e690)))))));
        r0_0_1_ = uint4(_e653, _e667, _e681, _e695);
        uint _e705 = launch[7].w;
        const uint _e710 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e705)))))));
        uint _e719 = launch[7].w;
        const uint _e724 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e719)))))));
        uint _e733 = launch[7].w;
        const uint _e738 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e733)))))));
        uint _e747 = launch[7].w;
        const uint _e752 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e747)))))));
        r1_0_0_ = uint4(_e710, _e724, _e738, _e752);
        uint _e762 = launch[7].w;
        const uint _e767 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e762)))))));
        uint _e776 = launch[7].w;
        const uint _e781 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e776)))))));
        uint _e790 = launch[7].w;
        const uint _e795 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e790)))))));
        uint _e804 = launch[7].w;
        const uint _e809 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e804)))))));
        r2_0_0_ = uint4(_e767, _e781, _e795, _e809);
        uint _e819 = launch[7].w;
        const uint _e824 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e819)))))));
        uint _e833 = launch[7].w;
        const uint _e838 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e833)))))));
        uint _e847 = launch[7].w;
        const uint _e852 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e847)))))));
        uint _e861 = launch[7].w;
        const uint _e866 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e861)))))));
        r3_0_0_ = uint4(_e824, _e838, _e852, _e866);
        uint _e876 = launch[7].w;
        const uint _e881 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e876)))))));
        uint _e890 = launch[7].w;
        const uint _e895 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e890)))))));
        uint _e904 = launch[7].w;
        const uint _e909 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e904)))))));
        uint _e918 = launch[7].w;
        const uint _e923 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e918)))))));
        r4_0_0_ = uint4(_e881, _e895, _e909, _e923);
        uint _e933 = launch[7].w;
        const uint _e938 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e933)))))));
        uint _e947 = launch[7].w;
        const uint _e952 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e947)))))));
        uint _e961 = launch[7].w;
        const uint _e966 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e961)))))));
        uint _e975 = launch[7].w;
        const uint _e980 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e975)))))));
        r5_0_0_ = uint4(_e938, _e952, _e966, _e980);
        uint _e990 = launch[7].w;
        const uint _e995 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e990)))))));
        uint _e1004 = launch[7].w;
        const uint _e1009 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1004)))))));
        uint _e1018 = launch[7].w;
        const uint _e1023 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1018)))))));
        uint _e1032 = launch[7].w;
        const uint _e1037 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1032)))))));
        r6_0_0_ = uint4(_e995, _e1009, _e1023, _e1037);
        uint _e1047 = launch[7].w;
        const uint _e1052 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1047)))))));
        uint _e1061 = launch[7].w;
        const uint _e1066 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1061)))))));
        uint _e1075 = launch[7].w;
        const uint _e1080 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1075)))))));
        uint _e1089 = launch[7].w;
        const uint _e1094 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1089)))))));
        r7_0_0_ = uint4(_e1052, _e1066, _e1080, _e1094);
        uint _e1104 = launch[7].w;
        const uint _e1109 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1104)))))));
        uint _e1118 = launch[7].w;
        const uint _e1123 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1118)))))));
        uint _e1132 = launch[7].w;
        const uint _e1137 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1132)))))));
        uint _e1146 = launch[7].w;
        const uint _e1151 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e1146)))))));
        r8_0_0_ = uint4(_e1109, _e1123, _e1137, _e1151);
    }
    {
        uint _e1153 = s0_0_;
        if ((_e1153 != 0u)) {
            uint4 _e1156 = r0_0_0_;
            uint4 _e1157 = r0_0_1_;
            uint _e1158 = s0_0_;
            const uint4 _e1159 = move32_(_e1156, _e1157, _e1158);
            r0_0_0_ = _e1159;
            uint4 _e1160 = r0_0_1_;
            uint4 _e1161 = r0_0_2_;
            uint _e1162 = s0_0_;
            const uint4 _e1163 = move32_(_e1160, _e1161, _e1162);
            r0_0_1_ = _e1163;
        }
        uint _e1164 = s1_0_;
        if ((_e1164 != 0u)) {
            uint4 _e1167 = r1_0_0_;
            uint4 _e1168 = r1_0_1_;
            uint _e1169 = s1_0_;
            const uint4 _e1170 = move32_(_e1167, _e1168, _e1169);
            r1_0_0_ = _e1170;
        }
        uint _e1171 = s2_0_;
        if ((_e1171 != 0u)) {
            uint4 _e1174 = r2_0_0_;
            uint4 _e1175 = r2_0_1_;
            uint _e1176 = s2_0_;
            const uint4 _e1177 = move32_(_e1174, _e1175, _e1176);
            r2_0_0_ = _e1177;
        }
        uint _e1178 = s3_0_;
        if ((_e1178 != 0u)) {
            uint4 _e1181 = r3_0_0_;
            uint4 _e1182 = r3_0_1_;
            uint _e1183 = s3_0_;
            const uint4 _e1184 = move32_(_e1181, _e1182, _e1183);
            r3_0_0_ = _e1184;
        }
        uint _e1185 = s4_0_;
        if ((_e1185 != 0u)) {
            uint4 _e1188 = r4_0_0_;
            uint4 _e1189 = r4_0_1_;
            uint _e1190 = s4_0_;
            const uint4 _e1191 = move32_(_e1188, _e1189, _e1190);
            r4_0_0_ = _e1191;
        }
        uint _e1192 = s5_0_;
        if ((_e1192 != 0u)) {
            uint4 _e1195 = r5_0_0_;
            uint4 _e1196 = r5_0_1_;
            uint _e1197 = s5_0_;
            const uint4 _e1198 = move32_(_e1195, _e1196, _e1197);
            r5_0_0_ = _e1198;
        }
        uint _e1199 = s6_0_;
        if ((_e1199 != 0u)) {
            uint4 _e1202 = r6_0_0_;
            uint4 _e1203 = r6_0_1_;
            uint _e1204 = s6_0_;
            const uint4 _e1205 = move32_(_e1202, _e1203, _e1204);
            r6_0_0_ = _e1205;
        }
        uint _e1206 = s7_0_;
        if ((_e1206 != 0u)) {
            uint4 _e1209 = r7_0_0_;
            uint4 _e1210 = r7_0_1_;
            uint _e1211 = s7_0_;
            const uint4 _e1212 = move32_(_e1209, _e1210, _e1211);
            r7_0_0_ = _e1212;
        }
        uint _e1213 = s8_0_;
        if ((_e1213 != 0u)) {
            uint4 _e1216 = r8_0_0_;
            uint4 _e1217 = r8_0_1_;
            uint _e1218 = s8_0_;
            const uint4 _e1219 = move32_(_e1216, _e1217, _e1218);
            r8_0_0_ = _e1219;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e1383 = j;
                j = asint(asuint(_e1383) + asuint(int(1)));
            }
            loop_init = false;
            int _e1223 = j;
            if ((_e1223 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1227 = r0_0_0_.z;
                float v0_ = asfloat(_e1227);
                uint _e1230 = r1_0_0_.x;
                float v1_ = asfloat(_e1230);
                const float _e1233 = operand32_(2.0);
                const float _e1235 = hide32_((v1_ * _e1233));
                uint _e1237 = r2_0_0_.x;
                float v4_ = asfloat(_e1237);
                const float _e1240 = operand32_(3.0);
                const float _e1242 = hide32_((v4_ * _e1240));
                uint _e1244 = r3_0_0_.x;
                float v7_ = asfloat(_e1244);
                const float _e1247 = operand32_(4.0);
                const float _e1249 = hide32_((v7_ * _e1247));
                uint _e1251 = r4_0_0_.x;
                float v10_ = asfloat(_e1251);
                const float _e1254 = operand32_(5.0);
                const float _e1256 = hide32_((v10_ * _e1254));
                uint _e1258 = r5_0_0_.x;
                float v13_ = asfloat(_e1258);
                uint _e1261 = r6_0_0_.x;
                float v14_ = asfloat(_e1261);
                const float _e1263 = operand32_(2.0);
                const float _e1265 = hide32_((v14_ * _e1263));
                uint _e1267 = r7_0_0_.x;
                float v16_ = asfloat(_e1267);
                const float _e1269 = operand32_(3.0);
                const float _e1271 = hide32_((v16_ * _e1269));
                uint _e1273 = r8_0_0_.x;
                float v18_ = asfloat(_e1273);
                const float _e1275 = operand32_(4.0);
                const float _e1277 = hide32_((v18_ * _e1275));
                uint _e1279 = r0_0_0_.y;
                float v20_ = asfloat(_e1279);
                const float _e1281 = operand32_(5.0);
                const float _e1283 = hide32_((v20_ * _e1281));
                uint _e1285 = r0_0_0_.w;
                float v22_ = asfloat(_e1285);
                uint _e1288 = r0_0_0_.x;
                float v23_ = asfloat(_e1288);
                const float _e1290 = operand32_(2.0);
                const float _e1292 = hide32_((v23_ * _e1290));
                uint _e1294 = r0_0_1_.x;
                float v25_ = asfloat(_e1294);
                const float _e1296 = operand32_(3.0);
                const float _e1298 = hide32_((v25_ * _e1296));
                const float _e1299 = operand32_(_e1235);
                const float _e1301 = hide32_((v0_ + _e1299));
                const float _e1302 = operand32_(_e1242);
                const float _e1304 = hide32_((_e1301 + _e1302));
                const float _e1305 = operand32_(_e1249);
                const float _e1307 = hide32_((_e1304 + _e1305));
                const float _e1308 = operand32_(_e1256);
                const float _e1310 = hide32_((_e1307 + _e1308));
                const float _e1311 = operand32_(v13_);
                const float _e1313 = hide32_((_e1310 + _e1311));
                const float _e1314 = operand32_(_e1265);
                const float _e1316 = hide32_((_e1313 + _e1314));
                const float _e1317 = operand32_(_e1271);
                const float _e1319 = hide32_((_e1316 + _e1317));
                const float _e1320 = operand32_(_e1277);
                const float _e1322 = hide32_((_e1319 + _e1320));
                const float _e1323 = operand32_(_e1283);
                const float _e1325 = hide32_((_e1322 + _e1323));
                const float _e1326 = operand32_(v22_);
                const float _e1328 = hide32_((_e1325 + _e1326));
                const float _e1329 = operand32_(_e1292);
                const float _e1331 = hide32_((_e1328 + _e1329));
                const float _e1332 = operand32_(_e1298);
                const float _e1334 = hide32_((_e1331 + _e1332));
                uint4 _e1335 = o1_0_;
                const uint4 _e1342 = move32_(_e1335, uint4(asuint(_e1334), 0u, 0u, 0u), 1u);
                o1_0_ = _e1342;
                uint4 _e1343 = r0_0_0_;
                uint4 _e1344 = r0_0_1_;
                const uint4 _e1346 = move32_(_e1343, _e1344, 1u);
                r0_0_0_ = _e1346;
                uint4 _e1347 = r0_0_1_;
                uint4 _e1348 = r0_0_2_;
                const uint4 _e1350 = move32_(_e1347, _e1348, 1u);
                r0_0_1_ = _e1350;
                uint4 _e1351 = r1_0_0_;
                uint4 _e1352 = r1_0_1_;
                const uint4 _e1354 = move32_(_e1351, _e1352, 1u);
                r1_0_0_ = _e1354;
                uint4 _e1355 = r2_0_0_;
                uint4 _e1356 = r2_0_1_;
                const uint4 _e1358 = move32_(_e1355, _e1356, 1u);
                r2_0_0_ = _e1358;
                uint4 _e1359 = r3_0_0_;
                uint4 _e1360 = r3_0_1_;
                const uint4 _e1362 = move32_(_e1359, _e1360, 1u);
                r3_0_0_ = _e1362;
                uint4 _e1363 = r4_0_0_;
                uint4 _e1364 = r4_0_1_;
                const uint4 _e1366 = move32_(_e1363, _e1364, 1u);
                r4_0_0_ = _e1366;
                uint4 _e1367 = r5_0_0_;
                uint4 _e1368 = r5_0_1_;
                const uint4 _e1370 = move32_(_e1367, _e1368, 1u);
                r5_0_0_ = _e1370;
                uint4 _e1371 = r6_0_0_;
                uint4 _e1372 = r6_0_1_;
                const uint4 _e1374 = move32_(_e1371, _e1372, 1u);
                r6_0_0_ = _e1374;
                uint4 _e1375 = r7_0_0_;
                uint4 _e1376 = r7_0_1_;
                const uint4 _e1378 = move32_(_e1375, _e1376, 1u);
                r7_0_0_ = _e1378;
                uint4 _e1379 = r8_0_0_;
                uint4 _e1380 = r8_0_1_;
                const uint4 _e1382 = move32_(_e1379, _e1380, 1u);
                r8_0_0_ = _e1382;
            }
        }
        uint _e1389 = launch[0].w;
        if ((item_0_ < _e1389)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e1402 = launch[8].w;
                local_1 = (asint(_e1402) == int(1));
            } else {
                local_1 = false;
            }
            bool _e1407 = local_1;
            if (_e1407) {
                uint4 _e1414 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e1414));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e1424 = local_2;
                if (_e1424) {
                    uint _e1429 = launch[8].w;
                    uint _e1435 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1429)))))), _e1435);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e1445 = local_3;
                if (_e1445) {
                    uint _e1450 = launch[8].w;
                    uint _e1456 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1450)))))), _e1456);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e1466 = local_4;
                if (_e1466) {
                    uint _e1471 = launch[8].w;
                    uint _e1477 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1471)))))), _e1477);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e1487 = local_5;
                if (_e1487) {
                    uint _e1492 = launch[8].w;
                    uint _e1498 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1492)))))), _e1498);
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
