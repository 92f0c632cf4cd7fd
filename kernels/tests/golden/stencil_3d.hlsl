struct Outer {
    uint i0_;
    uint i1_;
};

cbuffer launch : register(b0) { uint4 launch[12]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer p1_ : register(u2);
RWByteAddressBuffer p2_ : register(u3);

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

uint at2_(uint e_1)
{
    uint _e8 = asuint(p2_.Load((e_1 & 3u)*4+(e_1 >> 2u)*16));
    return _e8;
}

void put1_(uint e_2, uint x_2)
{
    p1_.Store((e_2 & 3u)*4+(e_2 >> 2u)*16, asuint(x_2));
    return;
}

void put2_(uint e_3, uint x_3)
{
    p2_.Store((e_3 & 3u)*4+(e_3 >> 2u)*16, asuint(x_3));
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
    uint4 o1_0_ = (uint4)0;
    uint4 o2_0_ = (uint4)0;
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
    uint _e129 = launch[9].x;
    uint _e132 = at_0_.i0_;
    uint _e137 = launch[9].y;
    uint _e142 = at_0_.i1_;
    uint _e147 = launch[9].z;
    int row2_0_ = asint(asuint(asint(asuint(asint(_e129)) + asuint(asint(asuint(asint(_e132)) * asuint(asint(_e137)))))) + asuint(asint(asuint(asint(_e142)) * asuint(asint(_e147)))));
    uint _e151 = pack_0_;
    uint _e161 = launch[8].w;
    int x_0_ = asint(asuint(asint(asuint(asint(_e151)) * asuint(int(4)))) - asuint(((asint(_e161) == int(1)) ? (row1_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e176 = launch[4].z;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e176))), int(0));
    uint _e184 = launch[7].w;
    int e0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e184)))));
    uint _e191 = launch[8].w;
    int e1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e191)))));
    uint _e198 = launch[9].w;
    int b5_0_ = asint(asuint(row2_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e198)))));
    uint _e230 = launch[11].x;
    int b0_0_ = asint(asuint(e0_0_) + asuint(asint(_e230)));
    uint _e236 = launch[10].x;
    int b1_0_ = asint(asuint(e0_0_) + asuint(asint(_e236)));
    uint _e242 = launch[10].y;
    int b2_0_ = asint(asuint(e0_0_) + asuint(asint(_e242)));
    uint _e248 = launch[10].z;
    int b3_0_ = asint(asuint(e0_0_) + asuint(asint(_e248)));
    uint _e254 = launch[10].w;
    int b4_0_ = asint(asuint(e0_0_) + asuint(asint(_e254)));
    uint _e260 = launch[7].w;
    if ((asint(_e260) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(5)))) - asuint(tail_0_)) >> 2u);
        uint4 _e283 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e283;
        uint4 _e292 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
        r0_0_1_ = _e292;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(2))) <= high0_)) {
            uint4 _e306 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(2))), low0_), high0_)*16));
            r0_0_2_ = _e306;
        }
        s1_0_ = (asuint(b1_0_) & 3u);
        int low1_ = (asint(asuint(b1_0_) + asuint(head_0_)) >> 2u);
        int high1_ = (asint(asuint(asint(asuint(b1_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e326 = asuint(p0_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(0))), low1_), high1_)*16));
        r1_0_0_ = _e326;
        if ((asint(asuint((b1_0_ >> 2u)) + asuint(int(1))) <= high1_)) {
            uint4 _e340 = asuint(p0_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(1))), low1_), high1_)*16));
            r1_0_1_ = _e340;
        }
        s2_0_ = (asuint(b2_0_) & 3u);
        int low2_ = (asint(asuint(b2_0_) + asuint(head_0_)) >> 2u);
        int high2_ = (asint(asuint(asint(asuint(b2_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e360 = asuint(p0_.Load4(min(max(asint(asuint((b2_0_ >> 2u)) + asuint(int(0))), low2_), high2_)*16));
        r2_0_0_ = _e360;
        if ((asint(asuint((b2_0_ >> 2u)) + asuint(int(1))) <= high2_)) {
            uint4 _e374 = asuint(p0_.Load4(min(max(asint(asuint((b2_0_ >> 2u)) + asuint(int(1))), low2_), high2_)*16));
            r2_0_1_ = _e374;
        }
        s3_0_ = (asuint(b3_0_) & 3u);
        int low3_ = (asint(asuint(b3_0_) + asuint(head_0_)) >> 2u);
        int high3_ = (asint(asuint(asint(asuint(b3_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e394 = asuint(p0_.Load4(min(max(asint(asuint((b3_0_ >> 2u)) + asuint(int(0))), low3_), high3_)*16));
        r3_0_0_ = _e394;
        if ((asint(asuint((b3_0_ >> 2u)) + asuint(int(1))) <= high3_)) {
            uint4 _e408 = asuint(p0_.Load4(min(max(asint(asuint((b3_0_ >> 2u)) + asuint(int(1))), low3_), high3_)*16));
            r3_0_1_ = _e408;
        }
        s4_0_ = (asuint(b4_0_) & 3u);
        int low4_ = (asint(asuint(b4_0_) + asuint(head_0_)) >> 2u);
        int high4_ = (asint(asuint(asint(asuint(b4_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e428 = asuint(p0_.Load4(min(max(asint(asuint((b4_0_ >> 2u)) + asuint(int(0))), low4_), high4_)*16));
        r4_0_0_ = _e428;
        if ((asint(asuint((b4_0_ >> 2u)) + asuint(int(1))) <= high4_)) {
            uint4 _e442 = asuint(p0_.Load4(min(max(asint(asuint((b4_0_ >> 2u)) + asuint(int(1))), low4_), high4_)*16));
            r4_0_1_ = _e442;
        }
    } else {
        uint _e451 = launch[7].w;
        const uint _e456 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e451)))))));
        uint _e465 = launch[7].w;
        const uint _e470 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e465)))))));
        uint _e479 = launch[7].w;
        const uint _e484 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e479)))))));
        uint _e493 = launch[7].w;
        const uint _e498 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e493)))))));
        r0_0_0_ = uint4(_e456, _e470, _e484, _e498);
        uint _e508 = launch[7].w;
        const uint _e513 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(4), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e508)))))));
        uint _e522 = launch[7].w;
        const uint _e527 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e522)))))));
        uint _e536 = launch[7].w;
        const uint _e541 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e536)))))));
        uint _e550 = launch[7].w;
        const uint _e555 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(5), head_0_), asint(asuint(int(5)) - asuint(tail_0_)))) * asuint(asint(_e550)))))));
        r0_0_1_ = uint4(_e513, _e527, _e541, _e555);
        uint _e565 = launch[7].w;
        const uint _e570 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e565)))))));
        uint _e579 = launch[7].w;
        const uint _e584 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e579)))))));
        uint _e593 = launch[7].w;
        const uint _e598 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e593)))))));
        uint _e607 = launch[7].w;
        const uint _e612 = at0_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e607)))))));
        r1_0_0_ = uint4(_e570, _e584, _e598, _e612);
        uint _e622 = launch[7].w;
        const uint _e627 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e622)))))));
        uint _e636 = launch[7].w;
        const uint _e641 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e636)))))));
        uint _e650 = launch[7].w;
        const uint _e655 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e650)))))));
        uint _e664 = launch[7].w;
        const uint _e669 = at0_(asuint(asint(asuint(b2_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e664)))))));
        r2_0_0_ = uint4(_e627, _e641, _e655, _e669);
        uint _e679 = launch[7].w;
        const uint _e684 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e679)))))));
        uint _e693 = launch[7].w;
        const uint _e698 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e693)))))));
        uint _e707 = launch[7].w;
        const uint _e712 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e707)))))));
        uint _e721 = launch[7].w;
        const uint _e726 = at0_(asuint(asint(asuint(b3_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e721)))))));
        r3_0_0_ = uint4(_e684, _e698, _e712, _e726);
        uint _e736 = launch[7].w;
        const uint _e741 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e736)))))));
        uint _e750 = launch[7].w;
        const uint _e755 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e750)))))));
        uint _e764 = launch[7].w;
        const uint _e769 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e764)))))));
        uint _e778 = launch[7].w;
        const uint _e783 = at0_(asuint(asint(asuint(b4_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e778)))))));
        r4_0_0_ = uint4(_e741, _e755, _e769, _e783);
    }
    uint _e788 = launch[9].w;
    if ((asint(_e788) == int(1))) {
        s5_0_ = (asuint(b5_0_) & 3u);
        int low5_ = (asint(asuint(b5_0_) + asuint(head_0_)) >> 2u);
        int high5_ = (asint(asuint(asint(asuint(b5_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e811 = asuint(p2_.Load4(min(max(asint(asuint((b5_0_ >> 2u)) + asuint(int(0))), low5_), high5_)*16));
        r5_0_0_ = _e811;
        if ((asint(asuint((b5_0_ >> 2u)) + asuint(int(1))) <= high5_)) {
            uint4 _e825 = asuint(p2_.Load4(min(max(asint(asuint((b5_0_ >> 2u)) + asuint(int(1))), low5_), high5_)*16));
            r5_0_1_ = _e825;
        }
    } else {
        uint _e834 = launch[9].w;
        const uint _e839 = at2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e834)))))));
        uint _e848 = launch[9].w;
        const uint _e853 = at2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e848)))))));
        uint _e862 = launch[9].w;
        const uint _e867 = at2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e862)))))));
        uint _e876 = launch[9].w;
        const uint _e881 = at2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e876)))))));
        r5_0_0_ = uint4(_e839, _e853, _e867, _e881);
    }
    {
        uint _e883 = s0_0_;
        if ((_e883 != 0u)) {
            uint4 _e886 = r0_0_0_;
            uint4 _e887 = r0_0_1_;
            uint _e888 = s0_0_;
            const uint4 _e889 = move32_(_e886, _e887, _e888);
            r0_0_0_ = _e889;
            uint4 _e890 = r0_0_1_;
            uint4 _e891 = r0_0_2_;
            uint _e892 = s0_0_;
            const uint4 _e893 = move32_(_e890, _e891, _e892);
            r0_0_1_ = _e893;
        }
        uint _e894 = s1_0_;
        if ((_e894 != 0u)) {
            uint4 _e897 = r1_0_0_;
            uint4 _e898 = r1_0_1_;
            uint _e899 = s1_0_;
            const uint4 _e900 = move32_(_e897, _e898, _e899);
            r1_0_0_ = _e900;
        }
        uint _e901 = s2_0_;
        if ((_e901 != 0u)) {
            uint4 _e904 = r2_0_0_;
            uint4 _e905 = r2_0_1_;
            uint _e906 = s2_0_;
            const uint4 _e907 = move32_(_e904, _e905, _e906);
            r2_0_0_ = _e907;
        }
        uint _e908 = s3_0_;
        if ((_e908 != 0u)) {
            uint4 _e911 = r3_0_0_;
            uint4 _e912 = r3_0_1_;
            uint _e913 = s3_0_;
            const uint4 _e914 = move32_(_e911, _e912, _e913);
            r3_0_0_ = _e914;
        }
        uint _e915 = s4_0_;
        if ((_e915 != 0u)) {
            uint4 _e918 = r4_0_0_;
            uint4 _e919 = r4_0_1_;
            uint _e920 = s4_0_;
            const uint4 _e921 = move32_(_e918, _e919, _e920);
            r4_0_0_ = _e921;
        }
        uint _e922 = s5_0_;
        if ((_e922 != 0u)) {
            uint4 _e925 = r5_0_0_;
            uint4 _e926 = r5_0_1_;
            uint _e927 = s5_0_;
            const uint4 _e928 = move32_(_e925, _e926, _e927);
            r5_0_0_ = _e928;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e1076 = j;
                j = asint(asuint(_e1076) + asuint(int(1)));
            }
            loop_init = false;
            int _e933 = j;
            if ((_e933 < int(4))) {
            } else {
                break;
            }
            {
                uint i0_ = at_0_.i0_;
                uint i1_ = at_0_.i1_;
                int _e940 = j;
                uint i2_ = asuint(asint(asuint(x_0_) + asuint(_e940)));
                uint _e944 = r0_0_0_.y;
                float v0_ = asfloat(_e944);
                uint _e947 = r1_0_0_.x;
                float v1_ = asfloat(_e947);
                const float _e949 = operand32_(v1_);
                const float _e951 = hide32_((v0_ + _e949));
                uint _e953 = r2_0_0_.x;
                float v3_ = asfloat(_e953);
                const float _e955 = operand32_(v3_);
                const float _e957 = hide32_((_e951 + _e955));
                uint _e961 = launch[5].z;
                int v5_ = asint(asuint(asint(_e961)) + asuint(asint(i0_)));
                const float _e966 = hide32_(float(v5_));
                const float _e967 = operand32_(_e966);
                const float _e969 = hide32_((_e957 + _e967));
                uint _e971 = r3_0_0_.x;
                float v8_ = asfloat(_e971);
                const float _e973 = operand32_(v8_);
                const float _e975 = hide32_((_e969 + _e973));
                uint _e977 = r4_0_0_.x;
                float v10_ = asfloat(_e977);
                const float _e979 = operand32_(v10_);
                const float _e981 = hide32_((_e975 + _e979));
                uint _e985 = launch[6].x;
                int v12_ = asint(asuint(asint(_e985)) + asuint(asint(i1_)));
                const float _e990 = hide32_(float(v12_));
                const float _e991 = operand32_(_e990);
                const float _e993 = hide32_((_e981 + _e991));
                uint _e995 = r0_0_0_.x;
                float v15_ = asfloat(_e995);
                const float _e997 = operand32_(v15_);
                const float _e999 = hide32_((_e993 + _e997));
                uint _e1001 = r0_0_0_.z;
                float v17_ = asfloat(_e1001);
                const float _e1003 = operand32_(v17_);
                const float _e1005 = hide32_((_e999 + _e1003));
                uint _e1009 = launch[6].z;
                int v19_ = asint(asuint(asint(_e1009)) + asuint(asint(i2_)));
                const float _e1014 = hide32_(float(v19_));
                const float _e1015 = operand32_(_e1014);
                const float _e1017 = hide32_((_e1005 + _e1015));
                uint _e1021 = launch[11].z;
                float v22_ = asfloat(_e1021);
                uint _e1024 = r5_0_0_.x;
                float v23_ = asfloat(_e1024);
                const float _e1026 = operand32_(v22_);
                const float _e1028 = hide32_((_e1017 * _e1026));
                const float _e1029 = operand32_(_e1028);
                const float _e1031 = hide32_((v23_ - _e1029));
                uint4 _e1032 = o1_0_;
                const uint4 _e1039 = move32_(_e1032, uint4(asuint(_e1028), 0u, 0u, 0u), 1u);
                o1_0_ = _e1039;
                uint4 _e1040 = o2_0_;
                const uint4 _e1047 = move32_(_e1040, uint4(asuint(_e1031), 0u, 0u, 0u), 1u);
                o2_0_ = _e1047;
                uint4 _e1048 = r0_0_0_;
                uint4 _e1049 = r0_0_1_;
                const uint4 _e1051 = move32_(_e1048, _e1049, 1u);
                r0_0_0_ = _e1051;
                uint4 _e1052 = r0_0_1_;
                uint4 _e1053 = r0_0_2_;
                const uint4 _e1055 = move32_(_e1052, _e1053, 1u);
                r0_0_1_ = _e1055;
                uint4 _e1056 = r1_0_0_;
                uint4 _e1057 = r1_0_1_;
                const uint4 _e1059 = move32_(_e1056, _e1057, 1u);
                r1_0_0_ = _e1059;
                uint4 _e1060 = r2_0_0_;
                uint4 _e1061 = r2_0_1_;
                const uint4 _e1063 = move32_(_e1060, _e1061, 1u);
                r2_0_0_ = _e1063;
                uint4 _e1064 = r3_0_0_;
                uint4 _e1065 = r3_0_1_;
                const uint4 _e1067 = move32_(_e1064, _e1065, 1u);
                r3_0_0_ = _e1067;
                uint4 _e1068 = r4_0_0_;
                uint4 _e1069 = r4_0_1_;
                const uint4 _e1071 = move32_(_e1068, _e1069, 1u);
                r4_0_0_ = _e1071;
                uint4 _e1072 = r5_0_0_;
                uint4 _e1073 = r5_0_1_;
                const uint4 _e1075 = move32_(_e1072, _e1073, 1u);
                r5_0_0_ = _e1075;
            }
        }
        uint _e1082 = launch[0].w;
        if ((item_0_ < _e1082)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e1095 = launch[8].w;
                local_1 = (asint(_e1095) == int(1));
            } else {
                local_1 = false;
            }
            bool _e1100 = local_1;
            if (_e1100) {
                uint4 _e1107 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e1107));
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e1117 = local_2;
                if (_e1117) {
                    uint _e1122 = launch[8].w;
                    uint _e1128 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1122)))))), _e1128);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e1138 = local_3;
                if (_e1138) {
                    uint _e1143 = launch[8].w;
                    uint _e1149 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1143)))))), _e1149);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e1159 = local_4;
                if (_e1159) {
                    uint _e1164 = launch[8].w;
                    uint _e1170 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1164)))))), _e1170);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e1180 = local_5;
                if (_e1180) {
                    uint _e1185 = launch[8].w;
                    uint _e1191 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1185)))))), _e1191);
                }
            }
            if ((((head_0_ | tail_0_) | (b5_0_ & int(3))) == int(0))) {
                uint _e1203 = launch[9].w;
                local_6 = (asint(_e1203) == int(1));
            } else {
                local_6 = false;
            }
            bool _e1208 = local_6;
            if (_e1208) {
                uint4 _e1215 = o2_0_;
                p2_.Store4(asint(asuint((b5_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e1215));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_7 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_7 = false;
                }
                bool _e1225 = local_7;
                if (_e1225) {
                    uint _e1230 = launch[9].w;
                    uint _e1236 = o2_0_.x;
                    put2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1230)))))), _e1236);
                }
                if ((head_0_ <= int(1))) {
                    local_8 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_8 = false;
                }
                bool _e1246 = local_8;
                if (_e1246) {
                    uint _e1251 = launch[9].w;
                    uint _e1257 = o2_0_.y;
                    put2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1251)))))), _e1257);
                }
                if ((head_0_ <= int(2))) {
                    local_9 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_9 = false;
                }
                bool _e1267 = local_9;
                if (_e1267) {
                    uint _e1272 = launch[9].w;
                    uint _e1278 = o2_0_.z;
                    put2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1272)))))), _e1278);
                }
                if ((head_0_ <= int(3))) {
                    local_10 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_10 = false;
                }
                bool _e1288 = local_10;
                if (_e1288) {
                    uint _e1293 = launch[9].w;
                    uint _e1299 = o2_0_.w;
                    put2_(asuint(asint(asuint(b5_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1293)))))), _e1299);
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
