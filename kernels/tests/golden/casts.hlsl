cbuffer launch : register(b0) { uint4 launch[9]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer p1_ : register(u2);
RWByteAddressBuffer p2_ : register(u3);
RWByteAddressBuffer p3_ : register(u4);
RWByteAddressBuffer p4_ : register(u5);
RWByteAddressBuffer p5_ : register(u6);
RWByteAddressBuffer p6_ : register(u7);
RWByteAddressBuffer p7_ : register(u8);

uint move8_(uint a, uint b, uint by)
{
    return ((a >> (8u * by)) | (b << (32u - (8u * by))));
}

uint2 move16_(uint2 a_1, uint2 b_1, uint by_1)
{
    uint2 lows = ((by_1 >= 2u) ? uint2(a_1.y, b_1.x) : a_1);
    uint2 highs = ((by_1 >= 2u) ? b_1 : uint2(a_1.y, b_1.x));
    return (((by_1 & 1u) != 0u) ? ((lows >> (16u).xx) | (highs << (16u).xx)) : lows);
}

uint4 move32_(uint4 a_2, uint4 b_2, uint by_2)
{
    uint4 first_1 = ((by_2 >= 2u) ? uint4(a_2.zw, b_2.xy) : a_2);
    uint next = ((by_2 >= 2u) ? b_2.z : b_2.x);
    return (((by_2 & 1u) != 0u) ? uint4(first_1.yzw, next) : first_1);
}

bool nan32_(float x)
{
    return ((asuint(x) & 2147483647u) > 2139095040u);
}

uint to_f16_(float x_1)
{
    uint half_ = (uint)0;

    uint bits = asuint(x_1);
    uint sign_ = ((bits >> 16u) & 32768u);
    uint a_3 = (bits & 2147483647u);
    uint fraction = ((a_3 >> 13u) & 1023u);
    uint normal = ((((a_3 + 4095u) + ((a_3 >> 13u) & 1u)) - 939524096u) >> 13u);
    uint drop = clamp((126u - (a_3 >> 23u)), 1u, 25u);
    uint m = ((a_3 & 8388607u) | 8388608u);
    uint tiny = ((((m + (1u << (drop - 1u))) - 1u) + ((m >> drop) & 1u)) >> drop);
    half_ = ((a_3 < 947912704u) ? tiny : normal);
    uint _e50 = half_;
    half_ = ((a_3 < 855638016u) ? 0u : _e50);
    uint _e55 = half_;
    half_ = ((a_3 >= 1199566848u) ? 31744u : _e55);
    uint _e60 = half_;
    half_ = ((a_3 > 2139095040u) ? ((31744u | fraction) | ((fraction == 0u) ? 512u : 0u)) : _e60);
    uint _e72 = half_;
    return (sign_ | _e72);
}

float from_f16_(uint half_1)
{
    uint sign_1 = ((half_1 & 32768u) << 16u);
    uint a_4 = (half_1 & 32767u);
    uint lead = ((31u - firstbithigh(max(a_4, 1u))) - 21u);
    uint tiny_1 = ((a_4 != 0u) ? (((113u - lead) << 23u) | (((a_4 << lead) & 1023u) << 13u)) : 0u);
    uint normal_1 = ((a_4 << 13u) + ((a_4 >= 31744u) ? 1879048192u : 939524096u));
    return asfloat((sign_1 | ((a_4 < 1024u) ? tiny_1 : normal_1)));
}

float round_f16_(float x_2)
{
    const uint _e1 = to_f16_(x_2);
    const float _e2 = from_f16_(_e1);
    return _e2;
}

uint to_bf16_(float x_3)
{
    uint bits_1 = asuint(x_3);
    uint nan = ((bits_1 >> 16u) | (((bits_1 & 8323072u) == 0u) ? 64u : 0u));
    uint rounded = (((bits_1 + 32767u) + ((bits_1 >> 16u) & 1u)) >> 16u);
    return (((bits_1 & 2147483647u) > 2139095040u) ? nan : rounded);
}

float round_bf16_(float x_4)
{
    const uint _e1 = to_bf16_(x_4);
    return asfloat((_e1 << 16u));
}

uint at0_(uint e)
{
    uint _e8 = asuint(p0_.Load((e & 3u)*4+(e >> 2u)*16));
    return _e8;
}

void put1_(uint e_1, uint x_5)
{
    uint _e10 = asuint(p1_.Load((e_1 >> 2u)*4));
    p1_.Store((e_1 >> 2u)*4, asuint(((_e10 & ~((255u << ((e_1 & 3u) << 3u)))) | (x_5 << ((e_1 & 3u) << 3u)))));
    return;
}

void put2_(uint e_2, uint x_6)
{
    uint _e10 = asuint(p2_.Load((e_2 >> 2u)*4));
    p2_.Store((e_2 >> 2u)*4, asuint(((_e10 & ~((255u << ((e_2 & 3u) << 3u)))) | (x_6 << ((e_2 & 3u) << 3u)))));
    return;
}

void put3_(uint e_3, uint x_7)
{
    p3_.Store((e_3 & 3u)*4+(e_3 >> 2u)*16, asuint(x_7));
    return;
}

void put4_(uint e_4, uint x_8)
{
    p4_.Store((e_4 & 3u)*4+(e_4 >> 2u)*16, asuint(x_8));
    return;
}

void put5_(uint e_5, uint x_9)
{
    uint _e20 = asuint(p5_.Load(((e_5 >> 1u) & 1u)*4+(e_5 >> 2u)*8));
    p5_.Store(((e_5 >> 1u) & 1u)*4+(e_5 >> 2u)*8, asuint(((_e20 & ~((65535u << ((e_5 & 1u) << 4u)))) | (x_9 << ((e_5 & 1u) << 4u)))));
    return;
}

void put6_(uint e_6, uint x_10)
{
    uint _e20 = asuint(p6_.Load(((e_6 >> 1u) & 1u)*4+(e_6 >> 2u)*8));
    p6_.Store(((e_6 >> 1u) & 1u)*4+(e_6 >> 2u)*8, asuint(((_e20 & ~((65535u << ((e_6 & 1u) << 4u)))) | (x_10 << ((e_6 & 1u) << 4u)))));
    return;
}

void put7_(uint e_7, uint x_11)
{
    p7_.Store((e_7 & 3u)*4+(e_7 >> 2u)*16, asuint(x_11));
    return;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

int naga_f2i32(float value) {
    return int(clamp(value, -2147483600.0, 2147483500.0));
}

uint naga_f2u32(float value) {
    return uint(clamp(value, 0.0, 4294967000.0));
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
    uint o1_0_ = (uint)0;
    uint o2_0_ = (uint)0;
    uint4 o3_0_ = (uint4)0;
    uint4 o4_0_ = (uint4)0;
    uint2 o5_0_ = (uint2)0;
    uint2 o6_0_ = (uint2)0;
    uint4 o7_0_ = (uint4)0;
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
    bool local_28 = (bool)0;
    bool local_29 = (bool)0;
    bool local_30 = (bool)0;
    bool local_31 = (bool)0;
    bool local_32 = (bool)0;
    bool local_33 = (bool)0;
    bool local_34 = (bool)0;
    bool local_35 = (bool)0;
    uint o1_0_1 = (uint)0;
    uint o2_0_1 = (uint)0;
    uint4 o3_0_1 = (uint4)0;
    uint4 o4_0_1 = (uint4)0;
    uint2 o5_0_1 = (uint2)0;
    uint2 o6_0_1 = (uint2)0;
    uint4 o7_0_1 = (uint4)0;
    int j_1 = int(0);
    bool local_36 = (bool)0;
    bool local_37 = (bool)0;
    bool local_38 = (bool)0;
    bool local_39 = (bool)0;
    bool local_40 = (bool)0;
    bool local_41 = (bool)0;
    bool local_42 = (bool)0;
    bool local_43 = (bool)0;
    bool local_44 = (bool)0;
    bool local_45 = (bool)0;
    bool local_46 = (bool)0;
    bool local_47 = (bool)0;
    bool local_48 = (bool)0;
    bool local_49 = (bool)0;
    bool local_50 = (bool)0;
    bool local_51 = (bool)0;
    bool local_52 = (bool)0;
    bool local_53 = (bool)0;
    bool local_54 = (bool)0;
    bool local_55 = (bool)0;
    bool local_56 = (bool)0;
    bool local_57 = (bool)0;
    bool local_58 = (bool)0;
    bool local_59 = (bool)0;
    bool local_60 = (bool)0;
    bool local_61 = (bool)0;
    bool local_62 = (bool)0;
    bool local_63 = (bool)0;
    bool local_64 = (bool)0;
    bool local_65 = (bool)0;
    bool local_66 = (bool)0;
    bool local_67 = (bool)0;
    bool local_68 = (bool)0;
    bool local_69 = (bool)0;
    bool local_70 = (bool)0;

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
    uint _e93 = launch[8].z;
    int row7_0_ = asint(_e93);
    uint _e95 = pack_0_;
    uint _e105 = launch[5].w;
    int x_0_ = asint(asuint(asint(asuint(asint(_e95)) * asuint(int(4)))) - asuint(((asint(_e105) == int(1)) ? (row1_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e120 = launch[4].x;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e120))), int(0));
    uint _e128 = launch[5].y;
    int b0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e128)))));
    uint _e135 = launch[5].w;
    int e1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e135)))));
    uint _e142 = launch[6].y;
    int e2_0_ = asint(asuint(row2_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e142)))));
    uint _e149 = launch[6].w;
    int e3_0_ = asint(asuint(row3_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e149)))));
    uint _e156 = launch[7].y;
    int e4_0_ = asint(asuint(row4_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e156)))));
    uint _e163 = launch[7].w;
    int e5_0_ = asint(asuint(row5_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e163)))));
    uint _e170 = launch[8].y;
    int e6_0_ = asint(asuint(row6_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e170)))));
    uint _e177 = launch[8].w;
    int e7_0_ = asint(asuint(row7_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e177)))));
    uint _e188 = launch[5].y;
    if ((asint(_e188) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e211 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e211;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint4 _e225 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
            r0_0_1_ = _e225;
        }
    } else {
        uint _e234 = launch[5].y;
        const uint _e239 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e234)))))));
        uint _e248 = launch[5].y;
        const uint _e253 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e248)))))));
        uint _e262 = launch[5].y;
        const uint _e267 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e262)))))));
        uint _e276 = launch[5].y;
        const uint _e281 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e276)))))));
        r0_0_0_ = uint4(_e239, _e253, _e267, _e281);
    }
    uint _e283 = first;
    uint item_1_ = (_e283 + 256u);
    uint _e289 = launch[0].w;
    pack_1_ = min(item_1_, (_e289 - 1u));
    uint _e297 = launch[5].x;
    int row0_1_ = asint(_e297);
    uint _e302 = launch[5].z;
    int row1_1_ = asint(_e302);
    uint _e307 = launch[6].x;
    int row2_1_ = asint(_e307);
    uint _e312 = launch[6].z;
    int row3_1_ = asint(_e312);
    uint _e317 = launch[7].x;
    int row4_1_ = asint(_e317);
    uint _e322 = launch[7].z;
    int row5_1_ = asint(_e322);
    uint _e327 = launch[8].x;
    int row6_1_ = asint(_e327);
    uint _e332 = launch[8].z;
    int row7_1_ = asint(_e332);
    uint _e334 = pack_1_;
    uint _e344 = launch[5].w;
    int x_1_ = asint(asuint(asint(asuint(asint(_e334)) * asuint(int(4)))) - asuint(((asint(_e344) == int(1)) ? (row1_1_ & int(3)) : int(0))));
    int head_1_ = max(asint(asuint(int(0)) - asuint(x_1_)), int(0));
    uint _e359 = launch[4].x;
    int tail_1_ = max(asint(asuint(asint(asuint(x_1_) + asuint(int(4)))) - asuint(asint(_e359))), int(0));
    uint _e367 = launch[5].y;
    int b0_1_ = asint(asuint(row0_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e367)))));
    uint _e374 = launch[5].w;
    int e1_1_ = asint(asuint(row1_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e374)))));
    uint _e381 = launch[6].y;
    int e2_1_ = asint(asuint(row2_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e381)))));
    uint _e388 = launch[6].w;
    int e3_1_ = asint(asuint(row3_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e388)))));
    uint _e395 = launch[7].y;
    int e4_1_ = asint(asuint(row4_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e395)))));
    uint _e402 = launch[7].w;
    int e5_1_ = asint(asuint(row5_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e402)))));
    uint _e409 = launch[8].y;
    int e6_1_ = asint(asuint(row6_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e409)))));
    uint _e416 = launch[8].w;
    int e7_1_ = asint(asuint(row7_1_) + asuint(asint(asuint(x_1_) * asuint(asint(_e416)))));
    uint _e427 = launch[5].y;
    if ((asint(_e427) == int(1))) {
        s0_1_ = (asuint(b0_1_) & 3u);
        int low0_1 = (asint(asuint(b0_1_) + asuint(head_1_)) >> 2u);
        int high0_1 = (asint(asuint(asint(asuint(b0_1_) + asuint(int(3)))) - asuint(tail_1_)) >> 2u);
        uint4 _e450 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(0))), low0_1), high0_1)*16));
        r0_1_0_ = _e450;
        if ((asint(asuint((b0_1_ >> 2u)) + asuint(int(1))) <= high0_1)) {
            uint4 _e464 = asuint(p0_.Load4(min(max(asint(asuint((b0_1_ >> 2u)) + asuint(int(1))), low0_1), high0_1)*16));
            r0_1_1_ = _e464;
        }
    } else {
        uint _e473 = launch[5].y;
        const uint _e478 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(0), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e473)))))));
        uint _e487 = launch[5].y;
        const uint _e492 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(1), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e487)))))));
        uint _e501 = launch[5].y;
        const uint _e506 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(2), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e501)))))));
        uint _e515 = launch[5].y;
        const uint _e520 = at0_(asuint(asint(asuint(b0_1_) + asuint(asint(asuint(min(max(int(3), head_1_), asint(asuint(int(3)) - asuint(tail_1_)))) * asuint(asint(_e515)))))));
        r0_1_0_ = uint4(_e478, _e492, _e506, _e520);
    }
    {
        uint _e522 = s0_0_;
        if ((_e522 != 0u)) {
            uint4 _e525 = r0_0_0_;
            uint4 _e526 = r0_0_1_;
            uint _e527 = s0_0_;
            const uint4 _e528 = move32_(_e525, _e526, _e527);
            r0_0_0_ = _e528;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e638 = j;
                j = asint(asuint(_e638) + asuint(int(1)));
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
                bool v1_ = ((asuint(v0_) & 2147483647u) != 0u);
                const bool _e559 = nan32_(v0_);
                int v2_ = (_e559 ? int(0) : ((v0_ <= -128.0) ? int(-128) : ((v0_ >= 128.0) ? int(127) : naga_f2i32(v0_))));
                const bool _e571 = nan32_(v0_);
                int v3_ = (_e571 ? int(0) : ((v0_ <= -2147483600.0) ? int(-2147483647 - 1) : ((v0_ >= 2147483600.0) ? int(2147483647) : naga_f2i32(v0_))));
                const bool _e583 = nan32_(v0_);
                uint v4_ = (_e583 ? 0u : ((v0_ <= 0.0) ? 0u : ((v0_ >= 4294967300.0) ? 4294967295u : naga_f2u32(v0_))));
                const float _e585 = round_f16_(v0_);
                const float _e586 = round_bf16_(v0_);
                uint v7_ = asuint(v0_);
                uint _e588 = o1_0_;
                const uint _e593 = move8_(_e588, (v1_ ? 1u : 0u), 1u);
                o1_0_ = _e593;
                uint _e594 = o2_0_;
                const uint _e599 = move8_(_e594, (asuint(v2_) & 255u), 1u);
                o2_0_ = _e599;
                uint4 _e600 = o3_0_;
                const uint4 _e607 = move32_(_e600, uint4(asuint(v3_), 0u, 0u, 0u), 1u);
                o3_0_ = _e607;
                uint4 _e608 = o4_0_;
                const uint4 _e614 = move32_(_e608, uint4(v4_, 0u, 0u, 0u), 1u);
                o4_0_ = _e614;
                uint2 _e615 = o5_0_;
                const uint _e616 = to_f16_(_e585);
                const uint2 _e620 = move16_(_e615, uint2(_e616, 0u), 1u);
                o5_0_ = _e620;
                uint2 _e621 = o6_0_;
                const uint _e622 = to_bf16_(_e586);
                const uint2 _e626 = move16_(_e621, uint2(_e622, 0u), 1u);
                o6_0_ = _e626;
                uint4 _e627 = o7_0_;
                const uint4 _e633 = move32_(_e627, uint4(v7_, 0u, 0u, 0u), 1u);
                o7_0_ = _e633;
                uint4 _e634 = r0_0_0_;
                uint4 _e635 = r0_0_1_;
                const uint4 _e637 = move32_(_e634, _e635, 1u);
                r0_0_0_ = _e637;
            }
        }
        uint _e644 = launch[0].w;
        if ((item_0_ < _e644)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e657 = launch[5].w;
                local_1 = (asint(_e657) == int(1));
            } else {
                local_1 = false;
            }
            bool _e662 = local_1;
            if (_e662) {
                uint _e669 = o1_0_;
                p1_.Store(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*4, asuint(_e669));
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e679 = local_2;
                if (_e679) {
                    uint _e684 = launch[5].w;
                    uint _e689 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e684)))))), ((_e689 >> 0u) & 255u));
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e703 = local_3;
                if (_e703) {
                    uint _e708 = launch[5].w;
                    uint _e713 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e708)))))), ((_e713 >> 8u) & 255u));
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e727 = local_4;
                if (_e727) {
                    uint _e732 = launch[5].w;
                    uint _e737 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e732)))))), ((_e737 >> 16u) & 255u));
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e751 = local_5;
                if (_e751) {
                    uint _e756 = launch[5].w;
                    uint _e761 = o1_0_;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e756)))))), ((_e761 >> 24u) & 255u));
                }
            }
            if ((((head_0_ | tail_0_) | (e2_0_ & int(3))) == int(0))) {
                uint _e777 = launch[6].y;
                local_6 = (asint(_e777) == int(1));
            } else {
                local_6 = false;
            }
            bool _e782 = local_6;
            if (_e782) {
                uint _e789 = o2_0_;
                p2_.Store(asint(asuint((e2_0_ >> 2u)) + asuint(int(0)))*4, asuint(_e789));
            } else {
                if ((head_0_ <= int(0))) {
                    local_7 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_7 = false;
                }
                bool _e799 = local_7;
                if (_e799) {
                    uint _e804 = launch[6].y;
                    uint _e809 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e804)))))), ((_e809 >> 0u) & 255u));
                }
                if ((head_0_ <= int(1))) {
                    local_8 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_8 = false;
                }
                bool _e823 = local_8;
                if (_e823) {
                    uint _e828 = launch[6].y;
                    uint _e833 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e828)))))), ((_e833 >> 8u) & 255u));
                }
                if ((head_0_ <= int(2))) {
                    local_9 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_9 = false;
                }
                bool _e847 = local_9;
                if (_e847) {
                    uint _e852 = launch[6].y;
                    uint _e857 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e852)))))), ((_e857 >> 16u) & 255u));
                }
                if ((head_0_ <= int(3))) {
                    local_10 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_10 = false;
                }
                bool _e871 = local_10;
                if (_e871) {
                    uint _e876 = launch[6].y;
                    uint _e881 = o2_0_;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e876)))))), ((_e881 >> 24u) & 255u));
                }
            }
            if ((((head_0_ | tail_0_) | (e3_0_ & int(3))) == int(0))) {
                uint _e897 = launch[6].w;
                local_11 = (asint(_e897) == int(1));
            } else {
                local_11 = false;
            }
            bool _e902 = local_11;
            if (_e902) {
                uint4 _e909 = o3_0_;
                p3_.Store4(asint(asuint((e3_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e909));
            } else {
                if ((head_0_ <= int(0))) {
                    local_12 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_12 = false;
                }
                bool _e919 = local_12;
                if (_e919) {
                    uint _e924 = launch[6].w;
                    uint _e930 = o3_0_.x;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e924)))))), _e930);
                }
                if ((head_0_ <= int(1))) {
                    local_13 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_13 = false;
                }
                bool _e940 = local_13;
                if (_e940) {
                    uint _e945 = launch[6].w;
                    uint _e951 = o3_0_.y;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e945)))))), _e951);
                }
                if ((head_0_ <= int(2))) {
                    local_14 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_14 = false;
                }
                bool _e961 = local_14;
                if (_e961) {
                    uint _e966 = launch[6].w;
                    uint _e972 = o3_0_.z;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e966)))))), _e972);
                }
                if ((head_0_ <= int(3))) {
                    local_15 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_15 = false;
                }
                bool _e982 = local_15;
                if (_e982) {
                    uint _e987 = launch[6].w;
                    uint _e993 = o3_0_.w;
                    put3_(asuint(asint(asuint(e3_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e987)))))), _e993);
                }
            }
            if ((((head_0_ | tail_0_) | (e4_0_ & int(3))) == int(0))) {
                uint _e1005 = launch[7].y;
                local_16 = (asint(_e1005) == int(1));
            } else {
                local_16 = false;
            }
            bool _e1010 = local_16;
            if (_e1010) {
                uint4 _e1017 = o4_0_;
                p4_.Store4(asint(asuint((e4_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e1017));
            } else {
                if ((head_0_ <= int(0))) {
                    local_17 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_17 = false;
                }
                bool _e1027 = local_17;
                if (_e1027) {
                    uint _e1032 = launch[7].y;
                    uint _e1038 = o4_0_.x;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1032)))))), _e1038);
                }
                if ((head_0_ <= int(1))) {
                    local_18 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_18 = false;
                }
                bool _e1048 = local_18;
                if (_e1048) {
                    uint _e1053 = launch[7].y;
                    uint _e1059 = o4_0_.y;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1053)))))), _e1059);
                }
                if ((head_0_ <= int(2))) {
                    local_19 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_19 = false;
                }
                bool _e1069 = local_19;
                if (_e1069) {
                    uint _e1074 = launch[7].y;
                    uint _e1080 = o4_0_.z;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1074)))))), _e1080);
                }
                if ((head_0_ <= int(3))) {
                    local_20 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_20 = false;
                }
                bool _e1090 = local_20;
                if (_e1090) {
                    uint _e1095 = launch[7].y;
                    uint _e1101 = o4_0_.w;
                    put4_(asuint(asint(asuint(e4_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1095)))))), _e1101);
                }
            }
            if ((((head_0_ | tail_0_) | (e5_0_ & int(3))) == int(0))) {
                uint _e1113 = launch[7].w;
                local_21 = (asint(_e1113) == int(1));
            } else {
                local_21 = false;
            }
            bool _e1118 = local_21;
            if (_e1118) {
                uint2 _e1125 = o5_0_;
                p5_.Store2(asint(asuint((e5_0_ >> 2u)) + asuint(int(0)))*8, asuint(_e1125));
            } else {
                if ((head_0_ <= int(0))) {
                    local_22 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_22 = false;
                }
                bool _e1135 = local_22;
                if (_e1135) {
                    uint _e1140 = launch[7].w;
                    uint _e1146 = o5_0_.x;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1140)))))), ((_e1146 >> 0u) & 65535u));
                }
                if ((head_0_ <= int(1))) {
                    local_23 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_23 = false;
                }
                bool _e1160 = local_23;
                if (_e1160) {
                    uint _e1165 = launch[7].w;
                    uint _e1171 = o5_0_.x;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1165)))))), ((_e1171 >> 16u) & 65535u));
                }
                if ((head_0_ <= int(2))) {
                    local_24 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_24 = false;
                }
                bool _e1185 = local_24;
                if (_e1185) {
                    uint _e1190 = launch[7].w;
                    uint _e1196 = o5_0_.y;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1190)))))), ((_e1196 >> 0u) & 65535u));
                }
                if ((head_0_ <= int(3))) {
                    local_25 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_25 = false;
                }
                bool _e1210 = local_25;
                if (_e1210) {
                    uint _e1215 = launch[7].w;
                    uint _e1221 = o5_0_.y;
                    put5_(asuint(asint(asuint(e5_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1215)))))), ((_e1221 >> 16u) & 65535u));
                }
            }
            if ((((head_0_ | tail_0_) | (e6_0_ & int(3))) == int(0))) {
                uint _e1237 = launch[8].y;
                local_26 = (asint(_e1237) == int(1));
            } else {
                local_26 = false;
            }
            bool _e1242 = local_26;
            if (_e1242) {
                uint2 _e1249 = o6_0_;
                p6_.Store2(asint(asuint((e6_0_ >> 2u)) + asuint(int(0)))*8, asuint(_e1249));
            } else {
                if ((head_0_ <= int(0))) {
                    local_27 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_27 = false;
                }
                bool _e1259 = local_27;
                if (_e1259) {
                    uint _e1264 = launch[8].y;
                    uint _e1270 = o6_0_.x;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1264)))))), ((_e1270 >> 0u) & 65535u));
                }
                if ((head_0_ <= int(1))) {
                    local_28 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_28 = false;
                }
                bool _e1284 = local_28;
                if (_e1284) {
                    uint _e1289 = launch[8].y;
                    uint _e1295 = o6_0_.x;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1289)))))), ((_e1295 >> 16u) & 65535u));
                }
                if ((head_0_ <= int(2))) {
                    local_29 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_29 = false;
                }
                bool _e1309 = local_29;
                if (_e1309) {
                    uint _e1314 = launch[8].y;
                    uint _e1320 = o6_0_.y;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1314)))))), ((_e1320 >> 0u) & 65535u));
                }
                if ((head_0_ <= int(3))) {
                    local_30 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_30 = false;
                }
                bool _e1334 = local_30;
                if (_e1334) {
                    uint _e1339 = launch[8].y;
                    uint _e1345 = o6_0_.y;
                    put6_(asuint(asint(asuint(e6_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1339)))))), ((_e1345 >> 16u) & 65535u));
                }
            }
            if ((((head_0_ | tail_0_) | (e7_0_ & int(3))) == int(0))) {
                uint _e1361 = launch[8].w;
                local_31 = (asint(_e1361) == int(1));
            } else {
                local_31 = false;
            }
            bool _e1366 = local_31;
            if (_e1366) {
                uint4 _e1373 = o7_0_;
                p7_.Store4(asint(asuint((e7_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e1373));
            } else {
                if ((head_0_ <= int(0))) {
                    local_32 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_32 = false;
                }
                bool _e1383 = local_32;
                if (_e1383) {
                    uint _e1388 = launch[8].w;
                    uint _e1394 = o7_0_.x;
                    put7_(asuint(asint(asuint(e7_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1388)))))), _e1394);
                }
                if ((head_0_ <= int(1))) {
                    local_33 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_33 = false;
                }
                bool _e1404 = local_33;
                if (_e1404) {
                    uint _e1409 = launch[8].w;
                    uint _e1415 = o7_0_.y;
                    put7_(asuint(asint(asuint(e7_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1409)))))), _e1415);
                }
                if ((head_0_ <= int(2))) {
                    local_34 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_34 = false;
                }
                bool _e1425 = local_34;
                if (_e1425) {
                    uint _e1430 = launch[8].w;
                    uint _e1436 = o7_0_.z;
                    put7_(asuint(asint(asuint(e7_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1430)))))), _e1436);
                }
                if ((head_0_ <= int(3))) {
                    local_35 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_35 = false;
                }
                bool _e1446 = local_35;
                if (_e1446) {
                    uint _e1451 = launch[8].w;
                    uint _e1457 = o7_0_.w;
                    put7_(asuint(asint(asuint(e7_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1451)))))), _e1457);
                }
            }
        }
    }
    {
        uint _e1458 = s0_1_;
        if ((_e1458 != 0u)) {
            uint4 _e1461 = r0_1_0_;
            uint4 _e1462 = r0_1_1_;
            uint _e1463 = s0_1_;
            const uint4 _e1464 = move32_(_e1461, _e1462, _e1463);
            r0_1_0_ = _e1464;
        }
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                int _e1574 = j_1;
                j_1 = asint(asuint(_e1574) + asuint(int(1)));
            }
            loop_init_1 = false;
            int _e1474 = j_1;
            if ((_e1474 < int(4))) {
            } else {
                break;
            }
            {
                uint _e1478 = r0_1_0_.x;
                float v0_1 = asfloat(_e1478);
                bool v1_1 = ((asuint(v0_1) & 2147483647u) != 0u);
                const bool _e1495 = nan32_(v0_1);
                int v2_1 = (_e1495 ? int(0) : ((v0_1 <= -128.0) ? int(-128) : ((v0_1 >= 128.0) ? int(127) : naga_f2i32(v0_1))));
                const bool _e1507 = nan32_(v0_1);
                int v3_1 = (_e1507 ? int(0) : ((v0_1 <= -2147483600.0) ? int(-2147483647 - 1) : ((v0_1 >= 2147483600.0) ? int(2147483647) : naga_f2i32(v0_1))));
                const bool _e1519 = nan32_(v0_1);
                uint v4_1 = (_e1519 ? 0u : ((v0_1 <= 0.0) ? 0u : ((v0_1 >= 4294967300.0) ? 4294967295u : naga_f2u32(v0_1))));
                const float _e1521 = round_f16_(v0_1);
                const float _e1522 = round_bf16_(v0_1);
                uint v7_1 = asuint(v0_1);
                uint _e1524 = o1_0_1;
                const uint _e1529 = move8_(_e1524, (v1_1 ? 1u : 0u), 1u);
                o1_0_1 = _e1529;
                uint _e1530 = o2_0_1;
                const uint _e1535 = move8_(_e1530, (asuint(v2_1) & 255u), 1u);
                o2_0_1 = _e1535;
                uint4 _e1536 = o3_0_1;
                const uint4 _e1543 = move32_(_e1536, uint4(asuint(v3_1), 0u, 0u, 0u), 1u);
                o3_0_1 = _e1543;
                uint4 _e1544 = o4_0_1;
                const uint4 _e1550 = move32_(_e1544, uint4(v4_1, 0u, 0u, 0u), 1u);
                o4_0_1 = _e1550;
                uint2 _e1551 = o5_0_1;
                const uint _e1552 = to_f16_(_e1521);
                const uint2 _e1556 = move16_(_e1551, uint2(_e1552, 0u), 1u);
                o5_0_1 = _e1556;
                uint2 _e1557 = o6_0_1;
                const uint _e1558 = to_bf16_(_e1522);
                const uint2 _e1562 = move16_(_e1557, uint2(_e1558, 0u), 1u);
                o6_0_1 = _e1562;
                uint4 _e1563 = o7_0_1;
                const uint4 _e1569 = move32_(_e1563, uint4(v7_1, 0u, 0u, 0u), 1u);
                o7_0_1 = _e1569;
                uint4 _e1570 = r0_1_0_;
                uint4 _e1571 = r0_1_1_;
                const uint4 _e1573 = move32_(_e1570, _e1571, 1u);
                r0_1_0_ = _e1573;
            }
        }
        uint _e1580 = launch[0].w;
        if ((item_1_ < _e1580)) {
            if ((((head_1_ | tail_1_) | (e1_1_ & int(3))) == int(0))) {
                uint _e1593 = launch[5].w;
                local_36 = (asint(_e1593) == int(1));
            } else {
                local_36 = false;
            }
            bool _e1598 = local_36;
            if (_e1598) {
                uint _e1605 = o1_0_1;
                p1_.Store(asint(asuint((e1_1_ >> 2u)) + asuint(int(0)))*4, asuint(_e1605));
            } else {
                if ((head_1_ <= int(0))) {
                    local_37 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_37 = false;
                }
                bool _e1615 = local_37;
                if (_e1615) {
                    uint _e1620 = launch[5].w;
                    uint _e1625 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1620)))))), ((_e1625 >> 0u) & 255u));
                }
                if ((head_1_ <= int(1))) {
                    local_38 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_38 = false;
                }
                bool _e1639 = local_38;
                if (_e1639) {
                    uint _e1644 = launch[5].w;
                    uint _e1649 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1644)))))), ((_e1649 >> 8u) & 255u));
                }
                if ((head_1_ <= int(2))) {
                    local_39 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_39 = false;
                }
                bool _e1663 = local_39;
                if (_e1663) {
                    uint _e1668 = launch[5].w;
                    uint _e1673 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1668)))))), ((_e1673 >> 16u) & 255u));
                }
                if ((head_1_ <= int(3))) {
                    local_40 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_40 = false;
                }
                bool _e1687 = local_40;
                if (_e1687) {
                    uint _e1692 = launch[5].w;
                    uint _e1697 = o1_0_1;
                    put1_(asuint(asint(asuint(e1_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1692)))))), ((_e1697 >> 24u) & 255u));
                }
            }
            if ((((head_1_ | tail_1_) | (e2_1_ & int(3))) == int(0))) {
                uint _e1713 = launch[6].y;
                local_41 = (asint(_e1713) == int(1));
            } else {
                local_41 = false;
            }
            bool _e1718 = local_41;
            if (_e1718) {
                uint _e1725 = o2_0_1;
                p2_.Store(asint(asuint((e2_1_ >> 2u)) + asuint(int(0)))*4, asuint(_e1725));
            } else {
                if ((head_1_ <= int(0))) {
                    local_42 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_42 = false;
                }
                bool _e1735 = local_42;
                if (_e1735) {
                    uint _e1740 = launch[6].y;
                    uint _e1745 = o2_0_1;
                    put2_(asuint(asint(asuint(e2_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1740)))))), ((_e1745 >> 0u) & 255u));
                }
                if ((head_1_ <= int(1))) {
                    local_43 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_43 = false;
                }
                bool _e1759 = local_43;
                if (_e1759) {
                    uint _e1764 = launch[6].y;
                    uint _e1769 = o2_0_1;
                    put2_(asuint(asint(asuint(e2_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1764)))))), ((_e1769 >> 8u) & 255u));
                }
                if ((head_1_ <= int(2))) {
                    local_44 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_44 = false;
                }
                bool _e1783 = local_44;
                if (_e1783) {
                    uint _e1788 = launch[6].y;
                    uint _e1793 = o2_0_1;
                    put2_(asuint(asint(asuint(e2_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1788)))))), ((_e1793 >> 16u) & 255u));
                }
                if ((head_1_ <= int(3))) {
                    local_45 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_45 = false;
                }
                bool _e1807 = local_45;
                if (_e1807) {
                    uint _e1812 = launch[6].y;
                    uint _e1817 = o2_0_1;
                    put2_(asuint(asint(asuint(e2_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1812)))))), ((_e1817 >> 24u) & 255u));
                }
            }
            if ((((head_1_ | tail_1_) | (e3_1_ & int(3))) == int(0))) {
                uint _e1833 = launch[6].w;
                local_46 = (asint(_e1833) == int(1));
            } else {
                local_46 = false;
            }
            bool _e1838 = local_46;
            if (_e1838) {
                uint4 _e1845 = o3_0_1;
                p3_.Store4(asint(asuint((e3_1_ >> 2u)) + asuint(int(0)))*16, asuint(_e1845));
            } else {
                if ((head_1_ <= int(0))) {
                    local_47 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_47 = false;
                }
                bool _e1855 = local_47;
                if (_e1855) {
                    uint _e1860 = launch[6].w;
                    uint _e1866 = o3_0_1.x;
                    put3_(asuint(asint(asuint(e3_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1860)))))), _e1866);
                }
                if ((head_1_ <= int(1))) {
                    local_48 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_48 = false;
                }
                bool _e1876 = local_48;
                if (_e1876) {
                    uint _e1881 = launch[6].w;
                    uint _e1887 = o3_0_1.y;
                    put3_(asuint(asint(asuint(e3_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1881)))))), _e1887);
                }
                if ((head_1_ <= int(2))) {
                    local_49 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_49 = false;
                }
                bool _e1897 = local_49;
                if (_e1897) {
                    uint _e1902 = launch[6].w;
                    uint _e1908 = o3_0_1.z;
                    put3_(asuint(asint(asuint(e3_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e1902)))))), _e1908);
                }
                if ((head_1_ <= int(3))) {
                    local_50 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_50 = false;
                }
                bool _e1918 = local_50;
                if (_e1918) {
                    uint _e1923 = launch[6].w;
                    uint _e1929 = o3_0_1.w;
                    put3_(asuint(asint(asuint(e3_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e1923)))))), _e1929);
                }
            }
            if ((((head_1_ | tail_1_) | (e4_1_ & int(3))) == int(0))) {
                uint _e1941 = launch[7].y;
                local_51 = (asint(_e1941) == int(1));
            } else {
                local_51 = false;
            }
            bool _e1946 = local_51;
            if (_e1946) {
                uint4 _e1953 = o4_0_1;
                p4_.Store4(asint(asuint((e4_1_ >> 2u)) + asuint(int(0)))*16, asuint(_e1953));
            } else {
                if ((head_1_ <= int(0))) {
                    local_52 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_52 = false;
                }
                bool _e1963 = local_52;
                if (_e1963) {
                    uint _e1968 = launch[7].y;
                    uint _e1974 = o4_0_1.x;
                    put4_(asuint(asint(asuint(e4_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e1968)))))), _e1974);
                }
                if ((head_1_ <= int(1))) {
                    local_53 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_53 = false;
                }
                bool _e1984 = local_53;
                if (_e1984) {
                    uint _e1989 = launch[7].y;
                    uint _e1995 = o4_0_1.y;
                    put4_(asuint(asint(asuint(e4_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e1989)))))), _e1995);
                }
                if ((head_1_ <= int(2))) {
                    local_54 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_54 = false;
                }
                bool _e2005 = local_54;
                if (_e2005) {
                    uint _e2010 = launch[7].y;
                    uint _e2016 = o4_0_1.z;
                    put4_(asuint(asint(asuint(e4_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e2010)))))), _e2016);
                }
                if ((head_1_ <= int(3))) {
                    local_55 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_55 = false;
                }
                bool _e2026 = local_55;
                if (_e2026) {
                    uint _e2031 = launch[7].y;
                    uint _e2037 = o4_0_1.w;
                    put4_(asuint(asint(asuint(e4_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e2031)))))), _e2037);
                }
            }
            if ((((head_1_ | tail_1_) | (e5_1_ & int(3))) == int(0))) {
                uint _e2049 = launch[7].w;
                local_56 = (asint(_e2049) == int(1));
            } else {
                local_56 = false;
            }
            bool _e2054 = local_56;
            if (_e2054) {
                uint2 _e2061 = o5_0_1;
                p5_.Store2(asint(asuint((e5_1_ >> 2u)) + asuint(int(0)))*8, asuint(_e2061));
            } else {
                if ((head_1_ <= int(0))) {
                    local_57 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_57 = false;
                }
                bool _e2071 = local_57;
                if (_e2071) {
                    uint _e2076 = launch[7].w;
                    uint _e2082 = o5_0_1.x;
                    put5_(asuint(asint(asuint(e5_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e2076)))))), ((_e2082 >> 0u) & 65535u));
                }
                if ((head_1_ <= int(1))) {
                    local_58 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_58 = false;
                }
                bool _e2096 = local_58;
                if (_e2096) {
                    uint _e2101 = launch[7].w;
                    uint _e2107 = o5_0_1.x;
                    put5_(asuint(asint(asuint(e5_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e2101)))))), ((_e2107 >> 16u) & 65535u));
                }
                if ((head_1_ <= int(2))) {
                    local_59 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_59 = false;
                }
                bool _e2121 = local_59;
                if (_e2121) {
                    uint _e2126 = launch[7].w;
                    uint _e2132 = o5_0_1.y;
                    put5_(asuint(asint(asuint(e5_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e2126)))))), ((_e2132 >> 0u) & 65535u));
                }
                if ((head_1_ <= int(3))) {
                    local_60 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_60 = false;
                }
                bool _e2146 = local_60;
                if (_e2146) {
                    uint _e2151 = launch[7].w;
                    uint _e2157 = o5_0_1.y;
                    put5_(asuint(asint(asuint(e5_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e2151)))))), ((_e2157 >> 16u) & 65535u));
                }
            }
            if ((((head_1_ | tail_1_) | (e6_1_ & int(3))) == int(0))) {
                uint _e2173 = launch[8].y;
                local_61 = (asint(_e2173) == int(1));
            } else {
                local_61 = false;
            }
            bool _e2178 = local_61;
            if (_e2178) {
                uint2 _e2185 = o6_0_1;
                p6_.Store2(asint(asuint((e6_1_ >> 2u)) + asuint(int(0)))*8, asuint(_e2185));
            } else {
                if ((head_1_ <= int(0))) {
                    local_62 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_62 = false;
                }
                bool _e2195 = local_62;
                if (_e2195) {
                    uint _e2200 = launch[8].y;
                    uint _e2206 = o6_0_1.x;
                    put6_(asuint(asint(asuint(e6_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e2200)))))), ((_e2206 >> 0u) & 65535u));
                }
                if ((head_1_ <= int(1))) {
                    local_63 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_63 = false;
                }
                bool _e2220 = local_63;
                if (_e2220) {
                    uint _e2225 = launch[8].y;
                    uint _e2231 = o6_0_1.x;
                    put6_(asuint(asint(asuint(e6_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e2225)))))), ((_e2231 >> 16u) & 65535u));
                }
                if ((head_1_ <= int(2))) {
                    local_64 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_64 = false;
                }
                bool _e2245 = local_64;
                if (_e2245) {
                    uint _e2250 = launch[8].y;
                    uint _e2256 = o6_0_1.y;
                    put6_(asuint(asint(asuint(e6_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e2250)))))), ((_e2256 >> 0u) & 65535u));
                }
                if ((head_1_ <= int(3))) {
                    local_65 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_65 = false;
                }
                bool _e2270 = local_65;
                if (_e2270) {
                    uint _e2275 = launch[8].y;
                    uint _e2281 = o6_0_1.y;
                    put6_(asuint(asint(asuint(e6_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e2275)))))), ((_e2281 >> 16u) & 65535u));
                }
            }
            if ((((head_1_ | tail_1_) | (e7_1_ & int(3))) == int(0))) {
                uint _e2297 = launch[8].w;
                local_66 = (asint(_e2297) == int(1));
            } else {
                local_66 = false;
            }
            bool _e2302 = local_66;
            if (_e2302) {
                uint4 _e2309 = o7_0_1;
                p7_.Store4(asint(asuint((e7_1_ >> 2u)) + asuint(int(0)))*16, asuint(_e2309));
                return;
            } else {
                if ((head_1_ <= int(0))) {
                    local_67 = (int(0) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_67 = false;
                }
                bool _e2319 = local_67;
                if (_e2319) {
                    uint _e2324 = launch[8].w;
                    uint _e2330 = o7_0_1.x;
                    put7_(asuint(asint(asuint(e7_1_) + asuint(asint(asuint(int(0)) * asuint(asint(_e2324)))))), _e2330);
                }
                if ((head_1_ <= int(1))) {
                    local_68 = (int(1) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_68 = false;
                }
                bool _e2340 = local_68;
                if (_e2340) {
                    uint _e2345 = launch[8].w;
                    uint _e2351 = o7_0_1.y;
                    put7_(asuint(asint(asuint(e7_1_) + asuint(asint(asuint(int(1)) * asuint(asint(_e2345)))))), _e2351);
                }
                if ((head_1_ <= int(2))) {
                    local_69 = (int(2) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_69 = false;
                }
                bool _e2361 = local_69;
                if (_e2361) {
                    uint _e2366 = launch[8].w;
                    uint _e2372 = o7_0_1.z;
                    put7_(asuint(asint(asuint(e7_1_) + asuint(asint(asuint(int(2)) * asuint(asint(_e2366)))))), _e2372);
                }
                if ((head_1_ <= int(3))) {
                    local_70 = (int(3) < asint(asuint(int(4)) - asuint(tail_1_)));
                } else {
                    local_70 = false;
                }
                bool _e2382 = local_70;
                if (_e2382) {
                    uint _e2387 = launch[8].w;
                    uint _e2393 = o7_0_1.w;
                    put7_(asuint(asint(asuint(e7_1_) + asuint(asint(asuint(int(3)) * asuint(asint(_e2387)))))), _e2393);
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
