struct Outer {
    uint i0_;
    uint i1_;
};

cbuffer launch : register(b0) { uint4 launch[16]; }
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
    uint4 r1_0_2_ = (uint4)0;
    uint s2_0_ = 0u;
    uint4 r2_0_0_ = (uint4)0;
    uint4 r2_0_1_ = (uint4)0;
    uint4 r2_0_2_ = (uint4)0;
    uint s3_0_ = 0u;
    uint4 r3_0_0_ = (uint4)0;
    uint4 r3_0_1_ = (uint4)0;
    uint4 r3_0_2_ = (uint4)0;
    uint s4_0_ = 0u;
    uint4 r4_0_0_ = (uint4)0;
    uint4 r4_0_1_ = (uint4)0;
    uint4 r4_0_2_ = (uint4)0;
    uint s5_0_ = 0u;
    uint4 r5_0_0_ = (uint4)0;
    uint4 r5_0_1_ = (uint4)0;
    uint4 r5_0_2_ = (uint4)0;
    uint s6_0_ = 0u;
    uint4 r6_0_0_ = (uint4)0;
    uint4 r6_0_1_ = (uint4)0;
    uint4 r6_0_2_ = (uint4)0;
    uint s7_0_ = 0u;
    uint4 r7_0_0_ = (uint4)0;
    uint4 r7_0_1_ = (uint4)0;
    uint4 r7_0_2_ = (uint4)0;
    uint s8_0_ = 0u;
    uint4 r8_0_0_ = (uint4)0;
    uint4 r8_0_1_ = (uint4)0;
    uint4 r8_0_2_ = (uint4)0;
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
    uint _e218 = launch[9].x;
    int b0_0_ = asint(asuint(e0_0_) + asuint(asint(_e218)));
    uint _e224 = launch[9].w;
    int b1_0_ = asint(asuint(e0_0_) + asuint(asint(_e224)));
    uint _e230 = launch[10].z;
    int b2_0_ = asint(asuint(e0_0_) + asuint(asint(_e230)));
    uint _e236 = launch[11].y;
    int b3_0_ = asint(asuint(e0_0_) + asuint(asint(_e236)));
    uint _e242 = launch[12].x;
    int b4_0_ = asint(asuint(e0_0_) + asuint(asint(_e242)));
    uint _e248 = launch[12].z;
    int b5_0_ = asint(asuint(e0_0_) + asuint(asint(_e248)));
    uint _e254 = launch[13].y;
    int b6_0_ = asint(asuint(e0_0_) + asuint(asint(_e254)));
    uint _e260 = launch[14].x;
    int b7_0_ = asint(asuint(e0_0_) + asuint(asint(_e260)));
    uint _e266 = launch[14].w;
    int b8_0_ = asint(asuint(e0_0_) + asuint(asint(_e266)));
    uint _e272 = launch[7].w;
    if ((asint(_e272) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e295 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e295;
        uint4 _e304 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
        r0_0_1_ = _e304;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(2))) <= high0_)) {
            uint4 _e318 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(2))), low0_), high0_)*16));
            r0_0_2_ = _e318;
        }
        s1_0_ = (asuint(b1_0_) & 3u);
        int low1_ = (asint(asuint(b1_0_) + asuint(head_0_)) >> 2u);
        int high1_ = (asint(asuint(asint(asuint(b1_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e338 = asuint(p0_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(0))), low1_), high1_)*16));
        r1_0_0_ = _e338;
        uint4 _e347 = asuint(p0_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(1))), low1_), high1_)*16));
        r1_0_1_ = _e347;
        if ((asint(asuint((b1_0_ >> 2u)) + asuint(int(2))) <= high1_)) {
            uint4 _e361 = asuint(p0_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(2))), low1_), high1_)*16));
            r1_0_2_ = _e361;
        }
        s2_0_ = (asuint(b2_0_) & 3u);
        int low2_ = (asint(asuint(b2_0_) + asuint(head_0_)) >> 2u);
        int high2_ = (asint(asuint(asint(asuint(b2_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e381 = asuint(p0_.Load4(min(max(asint(asuint((b2_0_ >> 2u)) + asuint(int(0))), low2_), high2_)*16));
        r2_0_0_ = _e381;
        uint4 _e390 = asuint(p0_.Load4(min(max(asint(asuint((b2_0_ >> 2u)) + asuint(int(1))), low2_), high2_)*16));
        r2_0_1_ = _e390;
        if ((asint(asuint((b2_0_ >> 2u)) + asuint(int(2))) <= high2_)) {
            uint4 _e404 = asuint(p0_.Load4(min(max(asint(asuint((b2_0_ >> 2u)) + asuint(int(2))), low2_), high2_)*16));
            r2_0_2_ = _e404;
        }
        s3_0_ = (asuint(b3_0_) & 3u);
        int low3_ = (asint(asuint(b3_0_) + asuint(head_0_)) >> 2u);
        int high3_ = (asint(asuint(asint(asuint(b3_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e424 = asuint(p0_.Load4(min(max(asint(asuint((b3_0_ >> 2u)) + asuint(int(0))), low3_), high3_)*16));
        r3_0_0_ = _e424;
        uint4 _e433 = asuint(p0_.Load4(min(max(asint(asuint((b3_0_ >> 2u)) + asuint(int(1))), low3_), high3_)*16));
        r3_0_1_ = _e433;
        if ((asint(asuint((b3_0_ >> 2u)) + asuint(int(2))) <= high3_)) {
            uint4 _e447 = asuint(p0_.Load4(min(max(asint(asuint((b3_0_ >> 2u)) + asuint(int(2))), low3_), high3_)*16));
            r3_0_2_ = _e447;
        }
        s4_0_ = (asuint(b4_0_) & 3u);
        int low4_ = (asint(asuint(b4_0_) + asuint(head_0_)) >> 2u);
        int high4_ = (asint(asuint(asint(asuint(b4_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e467 = asuint(p0_.Load4(min(max(asint(asuint((b4_0_ >> 2u)) + asuint(int(0))), low4_), high4_)*16));
        r4_0_0_ = _e467;
        uint4 _e476 = asuint(p0_.Load4(min(max(asint(asuint((b4_0_ >> 2u)) + asuint(int(1))), low4_), high4_)*16));
        r4_0_1_ = _e476;
        if ((asint(asuint((b4_0_ >> 2u)) + asuint(int(2))) <= high4_)) {
            uint4 _e490 = asuint(p0_.Load4(min(max(asint(asuint((b4_0_ >> 2u)) + asuint(int(2))), low4_), high4_)*16));
            r4_0_2_ = _e490;
        }
        s5_0_ = (asuint(b5_0_) & 3u);
        int low5_ = (asint(asuint(b5_0_) + asuint(head_0_)) >> 2u);
        int high5_ = (asint(asuint(asint(asuint(b5_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e510 = asuint(p0_.Load4(min(max(asint(asuint((b5_0_ >> 2u)) + asuint(int(0))), low5_), high5_)*16));
        r5_0_0_ = _e510;
        uint4 _e519 = asuint(p0_.Load4(min(max(asint(asuint((b5_0_ >> 2u)) + asuint(int(1))), low5_), high5_)*16));
        r5_0_1_ = _e519;
        if ((asint(asuint((b5_0_ >> 2u)) + asuint(int(2))) <= high5_)) {
            uint4 _e533 = asuint(p0_.Load4(min(max(asint(asuint((b5_0_ >> 2u)) + asuint(int(2))), low5_), high5_)*16));
            r5_0_2_ = _e533;
        }
        s6_0_ = (asuint(b6_0_) & 3u);
        int low6_ = (asint(asuint(b6_0_) + asuint(head_0_)) >> 2u);
        int high6_ = (asint(asuint(asint(asuint(b6_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e553 = asuint(p0_.Load4(min(max(asint(asuint((b6_0_ >> 2u)) + asuint(int(0))), low6_), high6_)*16));
        r6_0_0_ = _e553;
        uint4 _e562 = asuint(p0_.Load4(min(max(asint(asuint((b6_0_ >> 2u)) + asuint(int(1))), low6_), high6_)*16));
        r6_0_1_ = _e562;
        if ((asint(asuint((b6_0_ >> 2u)) + asuint(int(2))) <= high6_)) {
            uint4 _e576 = asuint(p0_.Load4(min(max(asint(asuint((b6_0_ >> 2u)) + asuint(int(2))), low6_), high6_)*16));
            r6_0_2_ = _e576;
        }
        s7_0_ = (asuint(b7_0_) & 3u);
        int low7_ = (asint(asuint(b7_0_) + asuint(head_0_)) >> 2u);
        int high7_ = (asint(asuint(asint(asuint(b7_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e596 = asuint(p0_.Load4(min(max(asint(asuint((b7_0_ >> 2u)) + asuint(int(0))), low7_), high7_)*16));
        r7_0_0_ = _e596;
        uint4 _e605 = asuint(p0_.Load4(min(max(asint(asuint((b7_0_ >> 2u)) + asuint(int(1))), low7_), high7_)*16));
        r7_0_1_ = _e605;
        if ((asint(asuint((b7_0_ >> 2u)) + asuint(int(2))) <= high7_)) {
            uint4 _e619 = asuint(p0_.Load4(min(max(asint(asuint((b7_0_ >> 2u)) + asuint(int(2))), low7_), high7_)*16));
            r7_0_2_ = _e619;
        }
        s8_0_ = (asuint(b8_0_) & 3u);
        int low8_ = (asint(asuint(b8_0_) + asuint(head_0_)) >> 2u);
        int high8_ = (asint(asuint(asint(asuint(b8_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e639 = asuint(p0_.Load4(min(max(asint(asuint((b8_0_ >> 2u)) + asuint(int(0))), low8_), high8_)*16));
        r8_0_0_ = _e639;
        uint4 _e648 = asuint(p0_.Load4(min(max(asint(asuint((b8_0_ >> 2u)) + asuint(int(1))), low8_), high8_)*16));
        r8_0_1_ = _e648;
        if ((asint(asuint((b8_0_ >> 2u)) + asuint(int(2))) <= high8_)) {
            uint4 _e662 = asuint(p0_.Load4(min(max(asint(asuint((b8_0_ >> 2u)) + asuint(int(2))), low8_), high8_)*16));
            r8_0_2_ = _e662;
        }
    } else {
        uint _e671 = launch[7].w;
        const uint _e676 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e671)))))));
        uint _e685 = launch[7].w;
        const uint _e690 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e685)))))));
        uint _e699 = launch[7].w;
        const uint _e704 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e699)))))));
        uint _e713 = launch[7].w;
        const uint _e718 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e713)))))));
        r0_0_0_ = uint4(_e676, _e690, _e704, _e718);
        uint _e728 = launch[7].w;
        const uint _e733 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e728)))))));
        uint _e742 = launch[7].w;
        const uint _e747 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e742)))))));
        uint _e756 = launch[7].w;
        const uint _e761 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e756)))))));
        uint _e770 = launch[7].w;
        const uint _e775 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e770)))))));
        r0_0_1_ = uint4(_e733, _e747, _e761, _e775);
        uint _e785 = launch[7].w;
        const uint _e790 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e785)))))));
        uint _e799 = launch[7].w;
        const uint _e804 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e799)))))));
        uint _e813 = launch[7].w;
        const uint _e818 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e813)))))));
        uint _e827 = launch[7].w;
        const uint _e832 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e827)))))));
        r1_0_0_ = uint4(_e790, _e804, _e818, _e832);
        uint _e842 = launch[7].w;
        const uint _e847 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e842)))))));
        uint _e856 = launch[7].w;
        const uint _e861 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e856)))))));
        uint _e870 = launch[7].w;
        const uint _e875 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e870)))))));
        uint _e884 = launch[7].w;
        const uint _e889 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e884)))))));
        r1_0_1_ = uint4(_e847, _e861, _e875, _e889);
        uint _e899 = launch[7].w;
        const uint _e904 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e899)))))));
        uint _e913 = launch[7].w;
        const uint _e918 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e913)))))));
        uint _e927 = launch[7].w;
        const uint _e932 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e927)))))));
        uint _e941 = launch[7].w;
        const uint _e946 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e941)))))));
        r2_0_0_ = uint4(_e904, _e918, _e932, _e946);
        uint _e956 = launch[7].w;
        const uint _e961 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e956)))))));
        uint _e970 = launch[7].w;
        const uint _e975 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e970)))))));
        uint _e984 = launch[7].w;
        const uint _e989 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e984)))))));
        uint _e998 = launch[7].w;
        const uint _e1003 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e998)))))));
        r2_0_1_ = uint4(_e961, _e975, _e989, _e1003);
        uint _e1013 = launch[7].w;
        const uint _e1018 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1013)))))));
        uint _e1027 = launch[7].w;
        const uint _e1032 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1027)))))));
        uint _e1041 = launch[7].w;
        const uint _e1046 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1041)))))));
        uint _e1055 = launch[7].w;
        const uint _e1060 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1055)))))));
        r3_0_0_ = uint4(_e1018, _e1032, _e1046, _e1060);
        uint _e1070 = launch[7].w;
        const uint _e1075 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1070)))))));
        uint _e1084 = launch[7].w;
        const uint _e1089 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1084)))))));
        uint _e1098 = launch[7].w;
        const uint _e1103 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1098)))))));
        uint _e1112 = launch[7].w;
        const uint _e1117 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1112)))))));
        r3_0_1_ = uint4(_e1075, _e1089, _e1103, _e1117);
        uint _e1127 = launch[7].w;
        const uint _e1132 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1127)))))));
        uint _e1141 = launch[7].w;
        const uint _e1146 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1141)))))));
        uint _e1155 = launch[7].w;
        const uint _e1160 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1155)))))));
        uint _e1169 = launch[7].w;
        const uint _e1174 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1169)))))));
        r4_0_0_ = uint4(_e1132, _e1146, _e1160, _e1174);
        uint _e1184 = launch[7].w;
        const uint _e1189 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1184)))))));
        uint _e1198 = launch[7].w;
        const uint _e1203 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1198)))))));
        uint _e1212 = launch[7].w;
        const uint _e1217 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1212)))))));
        uint _e1226 = launch[7].w;
        const uint _e1231 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1226)))))));
        r4_0_1_ = uint4(_e1189, _e1203, _e1217, _e1231);
        uint _e1241 = launch[7].w;
        const uint _e1246 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1241)))))));
        uint _e1255 = launch[7].w;
        const uint _e1260 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1255)))))));
        uint _e1269 = launch[7].w;
        const uint _e1274 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1269)))))));
        uint _e1283 = launch[7].w;
        const uint _e1288 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1283)))))));
        r5_0_0_ = uint4(_e1246, _e1260, _e1274, _e1288);
        uint _e1298 = launch[7].w;
        const uint _e1303 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1298)))))));
        uint _e1312 = launch[7].w;
        const uint _e1317 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1312)))))));
        uint _e1326 = launch[7].w;
        const uint _e1331 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1326)))))));
        uint _e1340 = launch[7].w;
        const uint _e1345 = at0_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1340)))))));
        r5_0_1_ = uint4(_e1303, _e1317, _e1331, _e1345);
        uint _e1355 = launch[7].w;
        const uint _e1360 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1355)))))));
        uint _e1369 = launch[7].w;
        const uint _e1374 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1369)))))));
        uint _e1383 = launch[7].w;
        const uint _e1388 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1383)))))));
        uint _e1397 = launch[7].w;
        const uint _e1402 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1397)))))));
        r6_0_0_ = uint4(_e1360, _e1374, _e1388, _e1402);
        uint _e1412 = launch[7].w;
        const uint _e1417 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1412)))))));
        uint _e1426 = launch[7].w;
        const uint _e1431 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1426)))))));
        uint _e1440 = launch[7].w;
        const uint _e1445 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1440)))))));
        uint _e1454 = launch[7].w;
        const uint _e1459 = at0_(asuint(asint(asuint(b6_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1454)))))));
        r6_0_1_ = uint4(_e1417, _e1431, _e1445, _e1459);
        uint _e1469 = launch[7].w;
        const uint _e1474 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1469)))))));
        uint _e1483 = launch[7].w;
        const uint _e1488 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1483)))))));
        uint _e1497 = launch[7].w;
        const uint _e1502 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1497)))))));
        uint _e1511 = launch[7].w;
        const uint _e1516 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1511)))))));
        r7_0_0_ = uint4(_e1474, _e1488, _e1502, _e1516);
        uint _e1526 = launch[7].w;
        const uint _e1531 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1526)))))));
        uint _e1540 = launch[7].w;
        const uint _e1545 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1540)))))));
        uint _e1554 = launch[7].w;
        const uint _e1559 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1554)))))));
        uint _e1568 = launch[7].w;
        const uint _e1573 = at0_(asuint(asint(asuint(b7_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1568)))))));
        r7_0_1_ = uint4(_e1531, _e1545, _e1559, _e1573);
        uint _e1583 = launch[7].w;
        const uint _e1588 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1583)))))));
        uint _e1597 = launch[7].w;
        const uint _e1602 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1597)))))));
        uint _e1611 = launch[7].w;
        const uint _e1616 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1611)))))));
        uint _e1625 = launch[7].w;
        const uint _e1630 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1625)))))));
        r8_0_0_ = uint4(_e1588, _e1602, _e1616, _e1630);
        uint _e1640 = launch[7].w;
        const uint _e1645 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1640)))))));
        uint _e1654 = launch[7].w;
        const uint _e1659 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1654)))))));
        uint _e1668 = launch[7].w;
        const uint _e1673 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1668)))))));
        uint _e1682 = launch[7].w;
        const uint _e1687 = at0_(asuint(asint(asuint(b8_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e1682)))))));
        r8_0_1_ = uint4(_e1645, _e1659, _e1673, _e1687);
    }
    {
        uint _e1689 = s0_0_;
        if ((_e1689 != 0u)) {
            uint4 _e1692 = r0_0_0_;
            uint4 _e1693 = r0_0_1_;
            uint _e1694 = s0_0_;
            const uint4 _e1695 = move32_(_e1692, _e1693, _e1694);
            r0_0_0_ = _e1695;
            uint4 _e1696 = r0_0_1_;
            uint4 _e1697 = r0_0_2_;
            uint _e1698 = s0_0_;
            const uint4 _e1699 = move32_(_e1696, _e1697, _e1698);
            r0_0_1_ = _e1699;
        }
        uint _e1700 = s1_0_;
        if ((_e1700 != 0u)) {
            uint4 _e1703 = r1_0_0_;
            uint4 _e1704 = r1_0_1_;
            uint _e1705 = s1_0_;
            const uint4 _e1706 = move32_(_e1703, _e1704, _e1705);
            r1_0_0_ = _e1706;
            uint4 _e1707 = r1_0_1_;
            uint4 _e1708 = r1_0_2_;
            uint _e1709 = s1_0_;
            const uint4 _e1710 = move32_(_e1707, _e1708, _e1709);
            r1_0_1_ = _e1710;
        }
        uint _e1711 = s2_0_;
        if ((_e1711 != 0u)) {
            uint4 _e1714 = r2_0_0_;
            uint4 _e1715 = r2_0_1_;
            uint _e1716 = s2_0_;
            const uint4 _e1717 = move32_(_e1714, _e1715, _e1716);
            r2_0_0_ = _e1717;
            uint4 _e1718 = r2_0_1_;
            uint4 _e1719 = r2_0_2_;
            uint _e1720 = s2_0_;
            const uint4 _e1721 = move32_(_e1718, _e1719, _e1720);
            r2_0_1_ = _e1721;
        }
        uint _e1722 = s3_0_;
        if ((_e1722 != 0u)) {
            uint4 _e1725 = r3_0_0_;
            uint4 _e1726 = r3_0_1_;
            uint _e1727 = s3_0_;
            const uint4 _e1728 = move32_(_e1725, _e1726, _e1727);
            r3_0_0_ = _e1728;
            uint4 _e1729 = r3_0_1_;
            uint4 _e1730 = r3_0_2_;
            uint _e1731 = s3_0_;
            const uint4 _e1732 = move32_(_e1729, _e1730, _e1731);
            r3_0_1_ = _e1732;
        }
        uint _e1733 = s4_0_;
        if ((_e1733 != 0u)) {
            uint4 _e1736 = r4_0_0_;
            uint4 _e1737 = r4_0_1_;
            uint _e1738 = s4_0_;
            const uint4 _e1739 = move32_(_e1736, _e1737, _e1738);
            r4_0_0_ = _e1739;
            uint4 _e1740 = r4_0_1_;
            uint4 _e1741 = r4_0_2_;
            uint _e1742 = s4_0_;
            const uint4 _e1743 = move32_(_e1740, _e1741, _e1742);
            r4_0_1_ = _e1743;
        }
        uint _e1744 = s5_0_;
        if ((_e1744 != 0u)) {
            uint4 _e1747 = r5_0_0_;
            uint4 _e1748 = r5_0_1_;
            uint _e1749 = s5_0_;
            const uint4 _e1750 = move32_(_e1747, _e1748, _e1749);
            r5_0_0_ = _e1750;
            uint4 _e1751 = r5_0_1_;
            uint4 _e1752 = r5_0_2_;
            uint _e1753 = s5_0_;
            const uint4 _e1754 = move32_(_e1751, _e1752, _e1753);
            r5_0_1_ = _e1754;
        }
        uint _e1755 = s6_0_;
        if ((_e1755 != 0u)) {
            uint4 _e1758 = r6_0_0_;
            uint4 _e1759 = r6_0_1_;
            uint _e1760 = s6_0_;
            const uint4 _e1761 = move32_(_e1758, _e1759, _e1760);
            r6_0_0_ = _e1761;
            uint4 _e1762 = r6_0_1_;
            uint4 _e1763 = r6_0_2_;
            uint _e1764 = s6_0_;
            const uint4 _e1765 = move32_(_e1762, _e1763, _e1764);
            r6_0_1_ = _e1765;
        }
        uint _e1766 = s7_0_;
        if ((_e1766 != 0u)) {
            uint4 _e1769 = r7_0_0_;
            uint4 _e1770 = r7_0_1_;
            uint _e1771 = s7_0_;
            const uint4 _e1772 = move32_(_e1769, _e1770, _e1771);
            r7_0_0_ = _e1772;
            uint4 _e1773 = r7_0_1_;
            uint4 _e1774 = r7_0_2_;
            uint _e1775 = s7_0_;
            const uint4 _e1776 = move32_(_e1773, _e1774, _e1775);
            r7_0_1_ = _e1776;
        }
        uint _e1777 = s8_0_;
        if ((_e1777 != 0u)) {
            uint4 _e1780 = r8_0_0_;
            uint4 _e1781 = r8_0_1_;
            uint _e1782 = s8_0_;
            const uint4 _e1783 = move32_(_e1780, _e1781, _e1782);
            r8_0_0_ = _e1783;
            uint4 _e1784 = r8_0_1_;
            uint4 _e1785 = r8_0_2_;
            uint _e1786 = s8_0_;
            const uint4 _e1787 = move32_(_e1784, _e1785, _e1786);
            r8_0_1_ = _e1787;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e2100 = j;
                j = asint(asuint(_e2100) + asuint(int(1)));
            }
            loop_init = false;
            int _e1791 = j;
            if ((_e1791 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1795 = r0_0_0_.x;
                float v0_ = asfloat(_e1795);
                uint _e1798 = r0_0_0_.y;
                float v1_ = asfloat(_e1798);
                const float _e1801 = operand32_(2.0);
                const float _e1803 = hide32_((v1_ * _e1801));
                uint _e1805 = r0_0_0_.z;
                float v4_ = asfloat(_e1805);
                const float _e1808 = operand32_(3.0);
                const float _e1810 = hide32_((v4_ * _e1808));
                uint _e1812 = r1_0_0_.x;
                float v7_ = asfloat(_e1812);
                const float _e1815 = operand32_(4.0);
                const float _e1817 = hide32_((v7_ * _e1815));
                uint _e1819 = r1_0_0_.y;
                float v10_ = asfloat(_e1819);
                const float _e1822 = operand32_(5.0);
                const float _e1824 = hide32_((v10_ * _e1822));
                uint _e1826 = r1_0_0_.z;
                float v13_ = asfloat(_e1826);
                uint _e1829 = r2_0_0_.x;
                float v14_ = asfloat(_e1829);
                const float _e1831 = operand32_(2.0);
                const float _e1833 = hide32_((v14_ * _e1831));
                uint _e1835 = r2_0_0_.y;
                float v16_ = asfloat(_e1835);
                const float _e1837 = operand32_(3.0);
                const float _e1839 = hide32_((v16_ * _e1837));
                uint _e1841 = r2_0_0_.z;
                float v18_ = asfloat(_e1841);
                const float _e1843 = operand32_(4.0);
                const float _e1845 = hide32_((v18_ * _e1843));
                uint _e1847 = r3_0_0_.x;
                float v20_ = asfloat(_e1847);
                const float _e1849 = operand32_(5.0);
                const float _e1851 = hide32_((v20_ * _e1849));
                uint _e1853 = r3_0_0_.y;
                float v22_ = asfloat(_e1853);
                uint _e1856 = r3_0_0_.z;
                float v23_ = asfloat(_e1856);
                const float _e1858 = operand32_(2.0);
                const float _e1860 = hide32_((v23_ * _e1858));
                uint _e1862 = r4_0_0_.x;
                float v25_ = asfloat(_e1862);
                const float _e1864 = operand32_(3.0);
                const float _e1866 = hide32_((v25_ * _e1864));
                uint _e1868 = r4_0_0_.y;
                float v27_ = asfloat(_e1868);
                const float _e1870 = operand32_(4.0);
                const float _e1872 = hide32_((v27_ * _e1870));
                uint _e1874 = r4_0_0_.z;
                float v29_ = asfloat(_e1874);
                const float _e1876 = operand32_(5.0);
                const float _e1878 = hide32_((v29_ * _e1876));
                uint _e1880 = r5_0_0_.x;
                float v31_ = asfloat(_e1880);
                uint _e1883 = r5_0_0_.y;
                float v32_ = asfloat(_e1883);
                const float _e1885 = operand32_(2.0);
                const float _e1887 = hide32_((v32_ * _e1885));
                uint _e1889 = r5_0_0_.z;
                float v34_ = asfloat(_e1889);
                const float _e1891 = operand32_(3.0);
                const float _e1893 = hide32_((v34_ * _e1891));
                uint _e1895 = r6_0_0_.x;
                float v36_ = asfloat(_e1895);
                const float _e1897 = operand32_(4.0);
                const float _e1899 = hide32_((v36_ * _e1897));
                uint _e1901 = r6_0_0_.y;
                float v38_ = asfloat(_e1901);
                const float _e1903 = operand32_(5.0);
                const float _e1905 = hide32_((v38_ * _e1903));
                uint _e1907 = r6_0_0_.z;
                float v40_ = asfloat(_e1907);
                uint _e1910 = r7_0_0_.x;
                float v41_ = asfloat(_e1910);
                const float _e1912 = operand32_(2.0);
                const float _e1914 = hide32_((v41_ * _e1912));
                uint _e1916 = r7_0_0_.y;
                float v43_ = asfloat(_e1916);
                const float _e1918 = operand32_(3.0);
                const float _e1920 = hide32_((v43_ * _e1918));
                uint _e1922 = r7_0_0_.z;
                float v45_ = asfloat(_e1922);
                const float _e1924 = operand32_(4.0);
                const float _e1926 = hide32_((v45_ * _e1924));
                uint _e1928 = r8_0_0_.x;
                float v47_ = asfloat(_e1928);
                const float _e1930 = operand32_(5.0);
                const float _e1932 = hide32_((v47_ * _e1930));
                uint _e1934 = r8_0_0_.y;
                float v49_ = asfloat(_e1934);
                uint _e1937 = r8_0_0_.z;
                float v50_ = asfloat(_e1937);
                const float _e1939 = operand32_(2.0);
                const float _e1941 = hide32_((v50_ * _e1939));
                const float _e1942 = operand32_(_e1803);
                const float _e1944 = hide32_((v0_ + _e1942));
                const float _e1945 = operand32_(_e1810);
                const float _e1947 = hide32_((_e1944 + _e1945));
                const float _e1948 = operand32_(_e1817);
                const float _e1950 = hide32_((_e1947 + _e1948));
                const float _e1951 = operand32_(_e1824);
                const float _e1953 = hide32_((_e1950 + _e1951));
                const float _e1954 = operand32_(v13_);
                const float _e1956 = hide32_((_e1953 + _e1954));
                const float _e1957 = operand32_(_e1833);
                const float _e1959 = hide32_((_e1956 + _e1957));
                const float _e1960 = operand32_(_e1839);
                const float _e1962 = hide32_((_e1959 + _e1960));
                const float _e1963 = operand32_(_e1845);
                const float _e1965 = hide32_((_e1962 + _e1963));
                const float _e1966 = operand32_(_e1851);
                const float _e1968 = hide32_((_e1965 + _e1966));
                const float _e1969 = operand32_(v22_);
                const float _e1971 = hide32_((_e1968 + _e1969));
                const float _e1972 = operand32_(_e1860);
                const float _e1974 = hide32_((_e1971 + _e1972));
                const float _e1975 = operand32_(_e1866);
                const float _e1977 = hide32_((_e1974 + _e1975));
                const float _e1978 = operand32_(_e1872);
                const float _e1980 = hide32_((_e1977 + _e1978));
                const float _e1981 = operand32_(_e1878);
                const float _e1983 = hide32_((_e1980 + _e1981));
                const float _e1984 = operand32_(v31_);
                const float _e1986 = hide32_((_e1983 + _e1984));
                const float _e1987 = operand32_(_e1887);
                const float _e1989 = hide32_((_e1986 + _e1987));
                const float _e1990 = operand32_(_e1893);
                const float _e1992 = hide32_((_e1989 + _e1990));
                const float _e1993 = operand32_(_e1899);
                const float _e1995 = hide32_((_e1992 + _e1993));
                const float _e1996 = operand32_(_e1905);
                const float _e1998 = hide32_((_e1995 + _e1996));
                const float _e1999 = operand32_(v40_);
                const float _e2001 = hide32_((_e1998 + _e1999));
                const float _e2002 = operand32_(_e1914);
                const float _e2004 = hide32_((_e2001 + _e2002));
                const float _e2005 = operand32_(_e1920);
                const float _e2007 = hide32_((_e2004 + _e2005));
                const float _e2008 = operand32_(_e1926);
                const float _e2010 = hide32_((_e2007 + _e2008));
                const float _e2011 = operand32_(_e1932);
                const float _e2013 = hide32_((_e2010 + _e2011));
                const float _e2014 = operand32_(v49_);
                const float _e2016 = hide32_((_e2013 + _e2014));
                const float _e2017 = operand32_(_e1941);
                const float _e2019 = hide32_((_e2016 + _e2017));
                uint4 _e2020 = o1_0_;
                const uint4 _e2027 = move32_(_e2020, uint4(asuint(_e2019), 0u, 0u, 0u), 1u);
                o1_0_ = _e2027;
                uint4 _e2028 = r0_0_0_;
                uint4 _e2029 = r0_0_1_;
                const uint4 _e2031 = move32_(_e2028, _e2029, 1u);
                r0_0_0_ = _e2031;
                uint4 _e2032 = r0_0_1_;
                uint4 _e2033 = r0_0_2_;
                const uint4 _e2035 = move32_(_e2032, _e2033, 1u);
                r0_0_1_ = _e2035;
                uint4 _e2036 = r1_0_0_;
                uint4 _e2037 = r1_0_1_;
                const uint4 _e2039 = move32_(_e2036, _e2037, 1u);
                r1_0_0_ = _e2039;
                uint4 _e2040 = r1_0_1_;
                uint4 _e2041 = r1_0_2_;
                const uint4 _e2043 = move32_(_e2040, _e2041, 1u);
                r1_0_1_ = _e2043;
                uint4 _e2044 = r2_0_0_;
                uint4 _e2045 = r2_0_1_;
                const uint4 _e2047 = move32_(_e2044, _e2045, 1u);
                r2_0_0_ = _e2047;
                uint4 _e2048 = r2_0_1_;
                uint4 _e2049 = r2_0_2_;
                const uint4 _e2051 = move32_(_e2048, _e2049, 1u);
                r2_0_1_ = _e2051;
                uint4 _e2052 = r3_0_0_;
                uint4 _e2053 = r3_0_1_;
                const uint4 _e2055 = move32_(_e2052, _e2053, 1u);
                r3_0_0_ = _e2055;
                uint4 _e2056 = r3_0_1_;
                uint4 _e2057 = r3_0_2_;
                const uint4 _e2059 = move32_(_e2056, _e2057, 1u);
                r3_0_1_ = _e2059;
                uint4 _e2060 = r4_0_0_;
                uint4 _e2061 = r4_0_1_;
                const uint4 _e2063 = move32_(_e2060, _e2061, 1u);
                r4_0_0_ = _e2063;
                uint4 _e2064 = r4_0_1_;
                uint4 _e2065 = r4_0_2_;
                const uint4 _e2067 = move32_(_e2064, _e2065, 1u);
                r4_0_1_ = _e2067;
                uint4 _e2068 = r5_0_0_;
                uint4 _e2069 = r5_0_1_;
                const uint4 _e2071 = move32_(_e2068, _e2069, 1u);
                r5_0_0_ = _e2071;
                uint4 _e2072 = r5_0_1_;
                uint4 _e2073 = r5_0_2_;
                const uint4 _e2075 = move32_(_e2072, _e2073, 1u);
                r5_0_1_ = _e2075;
                uint4 _e2076 = r6_0_0_;
                uint4 _e2077 = r6_0_1_;
                const uint4 _e2079 = move32_(_e2076, _e2077, 1u);
                r6_0_0_ = _e2079;
                uint4 _e2080 = r6_0_1_;
                uint4 _e2081 = r6_0_2_;
                const uint4 _e2083 = move32_(_e2080, _e2081, 1u);
                r6_0_1_ = _e2083;
                uint4 _e2084 = r7_0_0_;
                uint4 _e2085 = r7_0_1_;
                const uint4 _e2087 = move32_(_e2084, _e2085, 1u);
                r7_0_0_ = _e2087;
                uint4 _e2088 = r7_0_1_;
                uint4 _e2089 = r7_0_2_;
                const uint4 _e2091 = move32_(_e2088, _e2089, 1u);
                r7_0_1_ = _e2091;
                uint4 _e2092 = r8_0_0_;
                uint4 _e2093 = r8_0_1_;
                const uint4 _e2095 = move32_(_e2092, _e2093, 1u);
                r8_0_0_ = _e2095;
                uint4 _e2096 = r8_0_1_;
                uint4 _e2097 = r8_0_2_;
                const uint4 _e2099 = move32_(_e2096, _e2097, 1u);
                r8_0_1_ = _e2099;
            }
        }
        uint _e2106 = launch[0].w;
        if ((item_0_ < _e2106)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e2119 = launch[8].w;
                local_1 = (asint(_e2119) == int(1));
            } else {
                local_1 = false;
            }
            bool _e2124 = local_1;
            if (_e2124) {
                uint4 _e2131 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e2131));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e2141 = local_2;
                if (_e2141) {
                    uint _e2146 = launch[8].w;
                    uint _e2152 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e2146)))))), _e2152);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e2162 = local_3;
                if (_e2162) {
                    uint _e2167 = launch[8].w;
                    uint _e2173 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e2167)))))), _e2173);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e2183 = local_4;
                if (_e2183) {
                    uint _e2188 = launch[8].w;
                    uint _e2194 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e2188)))))), _e2194);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e2204 = local_5;
                if (_e2204) {
                    uint _e2209 = launch[8].w;
                    uint _e2215 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e2209)))))), _e2215);
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
