struct Partial {
    float s0_;
};

cbuffer launch : register(b0) { uint4 launch[8]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer out0_ : register(u2);
groupshared Partial partials[1280];

uint4 move32_(uint4 a, uint4 b, uint by)
{
    uint4 first = ((by >= 2u) ? uint4(a.zw, b.xy) : a);
    uint next = ((by >= 2u) ? b.z : b.x);
    return (((by & 1u) != 0u) ? uint4(first.yzw, next) : first);
}

bool nan32_(float x_1)
{
    return ((asuint(x_1) & 2147483647u) > 2139095040u);
}

int order32_(float x_2)
{
    uint bits = asuint(x_2);
    return asint(((bits >= 2147483648u) ? (2147483648u - bits) : bits));
}

bool less32_(float x_3, float y)
{
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;

    const int _e2 = order32_(x_3);
    const int _e3 = order32_(y);
    if ((_e2 < _e3)) {
        const bool _e7 = nan32_(x_3);
        local_2 = !(_e7);
    } else {
        local_2 = false;
    }
    bool _e10 = local_2;
    if (_e10) {
        const bool _e13 = nan32_(y);
        local_3 = !(_e13);
    } else {
        local_3 = false;
    }
    bool _e16 = local_3;
    return _e16;
}

Partial ConstructPartial(float arg0) {
    Partial ret = (Partial)0;
    ret.s0_ = arg0;
    return ret;
}

Partial neutral()
{
    uint _e3 = launch[7].z;
    const Partial partial = ConstructPartial(asfloat(_e3));
    return partial;
}

Partial combine(Partial a_1, Partial b_1)
{
    bool local_4 = (bool)0;

    const bool _e6 = less32_(b_1.s0_, a_1.s0_);
    if (!(_e6)) {
        const bool _e11 = nan32_(a_1.s0_);
        local_4 = _e11;
    } else {
        local_4 = true;
    }
    bool _e13 = local_4;
    const Partial partial_1 = ConstructPartial((_e13 ? a_1.s0_ : b_1.s0_));
    return partial_1;
}

Partial entry(uint at, bool is_there)
{
    if (is_there) {
        Partial _e4 = partials[at];
        const Partial partial_2 = _e4;
        return partial_2;
    }
    const Partial _e5 = neutral();
    const Partial partial_3 = _e5;
    return partial_3;
}

uint at0_(uint e)
{
    uint _e8 = asuint(p0_.Load((e & 3u)*4+(e >> 2u)*16));
    return _e8;
}

Partial value(float l0_)
{
    const Partial partial_4 = ConstructPartial(l0_);
    return partial_4;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

uint4 ZeroValueuint4() {
    return (uint4)0;
}

[numthreads(256, 1, 1)]
void reduce(uint3 group : SV_GroupID, uint local : SV_GroupIndex)
{
    Partial x = (Partial)0;
    uint step_ = 0u;
    uint s0_0_ = (uint)0;
    uint4 r0_0_0_ = (uint4)0;
    uint4 r0_0_1_ = (uint4)0;
    uint4 r0_0_2_ = (uint4)0;
    uint4 r0_0_3_ = (uint4)0;
    uint4 r0_0_4_ = (uint4)0;
    uint count = (uint)0;
    uint source = 0u;
    uint sink = 1024u;
    uint width = (uint)0;
    bool local_1 = (bool)0;

    uint _e6 = launch[2].x;
    uint threads = (1u << _e6);
    uint lane = (local & (threads - 1u));
    uint _e15 = launch[0].y;
    uint _e20 = launch[0].z;
    uint _e32 = launch[2].x;
    uint unit = ((((group.x + (_e15 * (group.y + (_e20 * group.z)))) * 256u) + local) >> _e32);
    uint _e37 = launch[0].w;
    uint item = min(unit, (_e37 - 1u));
    uint _e44 = launch[1].y;
    uint block = naga_div(item, _e44);
    uint _e49 = launch[1].y;
    uint i1_ = (item - (block * _e49));
    const Partial _e52 = neutral();
    x = _e52;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e740 = step_;
            step_ = (_e740 + 1u);
        }
        loop_init = false;
        uint _e56 = step_;
        uint _e60 = launch[2].y;
        if ((_e56 < _e60)) {
        } else {
            break;
        }
        {
            uint _e65 = launch[1].z;
            uint _e69 = launch[2].y;
            uint _e71 = step_;
            uint _e76 = launch[2].x;
            uint start = (_e65 + (((((block * _e69) + _e71) << _e76) + lane) * 16u));
            uint _e85 = launch[1].w;
            uint i0_ = min(start, (_e85 - 1u));
            uint _e92 = launch[1].w;
            int there = asint(min((_e92 - i0_), 16u));
            s0_0_ = 0u;
            r0_0_0_ = ZeroValueuint4();
            r0_0_1_ = ZeroValueuint4();
            r0_0_2_ = ZeroValueuint4();
            r0_0_3_ = ZeroValueuint4();
            r0_0_4_ = ZeroValueuint4();
            {
                uint _e112 = launch[6].x;
                uint _e118 = launch[6].y;
                uint _e126 = launch[6].z;
                int b0_0_ = asint(asuint(asint(asuint(asint(_e112)) + asuint(asint(asuint(asint(i0_)) * asuint(asint(_e118)))))) + asuint(asint(asuint(asint(i1_)) * asuint(asint(_e126)))));
                uint _e133 = launch[6].y;
                if ((asint(_e133) == int(1))) {
                    s0_0_ = (asuint(b0_0_) & 3u);
                    int low0_ = (asint(asuint(b0_0_) + asuint(int(0))) >> 2u);
                    int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(15)))) - asuint(asint(asuint(int(16)) - asuint(there)))) >> 2u);
                    uint4 _e159 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
                    r0_0_0_ = _e159;
                    uint4 _e168 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
                    r0_0_1_ = _e168;
                    uint4 _e177 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(2))), low0_), high0_)*16));
                    r0_0_2_ = _e177;
                    uint4 _e186 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(3))), low0_), high0_)*16));
                    r0_0_3_ = _e186;
                    if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(4))) <= high0_)) {
                        uint4 _e200 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(4))), low0_), high0_)*16));
                        r0_0_4_ = _e200;
                    }
                } else {
                    uint _e210 = launch[6].y;
                    const uint _e215 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(0), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e210)))))));
                    uint _e225 = launch[6].y;
                    const uint _e230 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(1), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e225)))))));
                    uint _e240 = launch[6].y;
                    const uint _e245 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(2), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e240)))))));
                    uint _e255 = launch[6].y;
                    const uint _e260 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(3), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e255)))))));
                    r0_0_0_ = uint4(_e215, _e230, _e245, _e260);
                    uint _e271 = launch[6].y;
                    const uint _e276 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(4), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e271)))))));
                    uint _e286 = launch[6].y;
                    const uint _e291 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(5), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e286)))))));
                    uint _e301 = launch[6].y;
                    const uint _e306 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(6), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e301)))))));
                    uint _e316 = launch[6].y;
                    const uint _e321 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(7), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e316)))))));
                    r0_0_1_ = uint4(_e276, _e291, _e306, _e321);
                    uint _e332 = launch[6].y;
                    const uint _e337 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(8), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e332)))))));
                    uint _e347 = launch[6].y;
                    const uint _e352 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(9), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e347)))))));
                    uint _e362 = launch[6].y;
                    const uint _e367 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(10), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e362)))))));
                    uint _e377 = launch[6].y;
                    const uint _e382 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(11), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e377)))))));
                    r0_0_2_ = uint4(_e337, _e352, _e367, _e382);
                    uint _e393 = launch[6].y;
                    const uint _e398 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(12), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e393)))))));
                    uint _e408 = launch[6].y;
                    const uint _e413 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(13), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e408)))))));
                    uint _e423 = launch[6].y;
                    const uint _e428 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(14), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e423)))))));
                    uint _e438 = launch[6].y;
                    const uint _e443 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(15), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e438)))))));
                    r0_0_3_ = uint4(_e398, _e413, _e428, _e443);
                }
            }
            uint _e445 = s0_0_;
            if ((_e445 != 0u)) {
                uint4 _e448 = r0_0_0_;
                uint4 _e449 = r0_0_1_;
                uint _e450 = s0_0_;
                const uint4 _e451 = move32_(_e448, _e449, _e450);
                r0_0_0_ = _e451;
                uint4 _e452 = r0_0_1_;
                uint4 _e453 = r0_0_2_;
                uint _e454 = s0_0_;
                const uint4 _e455 = move32_(_e452, _e453, _e454);
                r0_0_1_ = _e455;
                uint4 _e456 = r0_0_2_;
                uint4 _e457 = r0_0_3_;
                uint _e458 = s0_0_;
                const uint4 _e459 = move32_(_e456, _e457, _e458);
                r0_0_2_ = _e459;
                uint4 _e460 = r0_0_3_;
                uint4 _e461 = r0_0_4_;
                uint _e462 = s0_0_;
                const uint4 _e463 = move32_(_e460, _e461, _e462);
                r0_0_3_ = _e463;
            }
            uint _e465 = r0_0_0_.x;
            const Partial _e467 = value(asfloat(_e465));
            uint _e475 = launch[1].w;
            Partial c0_ = ConstructPartial((((start + 0u) < _e475) ? _e467.s0_ : _e52.s0_));
            uint _e480 = r0_0_0_.y;
            const Partial _e482 = value(asfloat(_e480));
            uint _e490 = launch[1].w;
            Partial c1_ = ConstructPartial((((start + 1u) < _e490) ? _e482.s0_ : _e52.s0_));
            uint _e495 = r0_0_0_.z;
            const Partial _e497 = value(asfloat(_e495));
            uint _e505 = launch[1].w;
            Partial c2_ = ConstructPartial((((start + 2u) < _e505) ? _e497.s0_ : _e52.s0_));
            uint _e510 = r0_0_0_.w;
            const Partial _e512 = value(asfloat(_e510));
            uint _e520 = launch[1].w;
            Partial c3_ = ConstructPartial((((start + 3u) < _e520) ? _e512.s0_ : _e52.s0_));
            uint _e525 = r0_0_1_.x;
            const Partial _e527 = value(asfloat(_e525));
            uint _e535 = launch[1].w;
            Partial c4_ = ConstructPartial((((start + 4u) < _e535) ? _e527.s0_ : _e52.s0_));
            uint _e540 = r0_0_1_.y;
            const Partial _e542 = value(asfloat(_e540));
            uint _e550 = launch[1].w;
            Partial c5_ = ConstructPartial((((start + 5u) < _e550) ? _e542.s0_ : _e52.s0_));
            uint _e555 = r0_0_1_.z;
            const Partial _e557 = value(asfloat(_e555));
            uint _e565 = launch[1].w;
            Partial c6_ = ConstructPartial((((start + 6u) < _e565) ? _e557.s0_ : _e52.s0_));
            uint _e570 = r0_0_1_.w;
            const Partial _e572 = value(asfloat(_e570));
            uint _e580 = launch[1].w;
            Partial c7_ = ConstructPartial((((start + 7u) < _e580) ? _e572.s0_ : _e52.s0_));
            uint _e585 = r0_0_2_.x;
            const Partial _e587 = value(asfloat(_e585));
            uint _e595 = launch[1].w;
            Partial c8_ = ConstructPartial((((start + 8u) < _e595) ? _e587.s0_ : _e52.s0_));
            uint _e600 = r0_0_2_.y;
            const Partial _e602 = value(asfloat(_e600));
            uint _e610 = launch[1].w;
            Partial c9_ = ConstructPartial((((start + 9u) < _e610) ? _e602.s0_ : _e52.s0_));
            uint _e615 = r0_0_2_.z;
            const Partial _e617 = value(asfloat(_e615));
            uint _e625 = launch[1].w;
            Partial c10_ = ConstructPartial((((start + 10u) < _e625) ? _e617.s0_ : _e52.s0_));
            uint _e630 = r0_0_2_.w;
            const Partial _e632 = value(asfloat(_e630));
            uint _e640 = launch[1].w;
            Partial c11_ = ConstructPartial((((start + 11u) < _e640) ? _e632.s0_ : _e52.s0_));
            uint _e645 = r0_0_3_.x;
            const Partial _e647 = value(asfloat(_e645));
            uint _e655 = launch[1].w;
            Partial c12_ = ConstructPartial((((start + 12u) < _e655) ? _e647.s0_ : _e52.s0_));
            uint _e660 = r0_0_3_.y;
            const Partial _e662 = value(asfloat(_e660));
            uint _e670 = launch[1].w;
            Partial c13_ = ConstructPartial((((start + 13u) < _e670) ? _e662.s0_ : _e52.s0_));
            uint _e675 = r0_0_3_.z;
            const Partial _e677 = value(asfloat(_e675));
            uint _e685 = launch[1].w;
            Partial c14_ = ConstructPartial((((start + 14u) < _e685) ? _e677.s0_ : _e52.s0_));
            uint _e690 = r0_0_3_.w;
            const Partial _e692 = value(asfloat(_e690));
            uint _e700 = launch[1].w;
            Partial c15_ = ConstructPartial((((start + 15u) < _e700) ? _e692.s0_ : _e52.s0_));
            const Partial _e704 = combine(c0_, c1_);
            const Partial _e705 = combine(c2_, c3_);
            const Partial _e706 = combine(_e704, _e705);
            const Partial _e707 = combine(c4_, c5_);
            const Partial _e708 = combine(c6_, c7_);
            const Partial _e709 = combine(_e707, _e708);
            const Partial _e710 = combine(_e706, _e709);
            const Partial _e711 = combine(c8_, c9_);
            const Partial _e712 = combine(c10_, c11_);
            const Partial _e713 = combine(_e711, _e712);
            const Partial _e714 = combine(c12_, c13_);
            const Partial _e715 = combine(c14_, c15_);
            const Partial _e716 = combine(_e714, _e715);
            const Partial _e717 = combine(_e713, _e716);
            const Partial _e718 = combine(_e710, _e717);
            x = _e718;
            uint _e723 = launch[2].x;
            uint _e728 = launch[2].y;
            uint _e730 = step_;
            uint _e735 = launch[2].x;
            Partial _e739 = x;
            partials[(((((local >> _e723) * _e728) + _e730) << _e735) + lane)] = _e739;
        }
    }
    uint _e747 = launch[2].y;
    count = (256u * _e747);
    uint _e757 = launch[2].y;
    uint _e761 = launch[2].x;
    width = (_e757 << _e761);
    while(true) {
        uint _e764 = width;
        if ((_e764 > 1u)) {
        } else {
            break;
        }
        {
            uint _e767 = width;
            uint radix = min(_e767, 16u);
            uint _e770 = width;
            width = naga_div(_e770, radix);
            uint _e772 = count;
            count = naga_div(_e772, radix);
            GroupMemoryBarrierWithGroupSync();
            uint _e774 = count;
            if ((local < _e774)) {
                uint _e776 = source;
                const Partial _e783 = entry(((_e776 + (local * radix)) + 0u), (0u < radix));
                uint _e784 = source;
                const Partial _e791 = entry(((_e784 + (local * radix)) + 1u), (1u < radix));
                uint _e792 = source;
                const Partial _e799 = entry(((_e792 + (local * radix)) + 2u), (2u < radix));
                uint _e800 = source;
                const Partial _e807 = entry(((_e800 + (local * radix)) + 3u), (3u < radix));
                uint _e808 = source;
                const Partial _e815 = entry(((_e808 + (local * radix)) + 4u), (4u < radix));
                uint _e816 = source;
                const Partial _e823 = entry(((_e816 + (local * radix)) + 5u), (5u < radix));
                uint _e824 = source;
                const Partial _e831 = entry(((_e824 + (local * radix)) + 6u), (6u < radix));
                uint _e832 = source;
                const Partial _e839 = entry(((_e832 + (local * radix)) + 7u), (7u < radix));
                uint _e840 = source;
                const Partial _e847 = entry(((_e840 + (local * radix)) + 8u), (8u < radix));
                uint _e848 = source;
                const Partial _e855 = entry(((_e848 + (local * radix)) + 9u), (9u < radix));
                uint _e856 = source;
                const Partial _e863 = entry(((_e856 + (local * radix)) + 10u), (10u < radix));
                uint _e864 = source;
                const Partial _e871 = entry(((_e864 + (local * radix)) + 11u), (11u < radix));
                uint _e872 = source;
                const Partial _e879 = entry(((_e872 + (local * radix)) + 12u), (12u < radix));
                uint _e880 = source;
                const Partial _e887 = entry(((_e880 + (local * radix)) + 13u), (13u < radix));
                uint _e888 = source;
                const Partial _e895 = entry(((_e888 + (local * radix)) + 14u), (14u < radix));
                uint _e896 = source;
                const Partial _e903 = entry(((_e896 + (local * radix)) + 15u), (15u < radix));
                uint _e905 = sink;
                const Partial _e908 = combine(_e783, _e791);
                const Partial _e909 = combine(_e799, _e807);
                const Partial _e910 = combine(_e908, _e909);
                const Partial _e911 = combine(_e815, _e823);
                const Partial _e912 = combine(_e831, _e839);
                const Partial _e913 = combine(_e911, _e912);
                const Partial _e914 = combine(_e910, _e913);
                const Partial _e915 = combine(_e847, _e855);
                const Partial _e916 = combine(_e863, _e871);
                const Partial _e917 = combine(_e915, _e916);
                const Partial _e918 = combine(_e879, _e887);
                const Partial _e919 = combine(_e895, _e903);
                const Partial _e920 = combine(_e918, _e919);
                const Partial _e921 = combine(_e917, _e920);
                const Partial _e922 = combine(_e914, _e921);
                partials[(_e905 + local)] = _e922;
            }
            uint old = source;
            uint _e924 = sink;
            source = _e924;
            sink = old;
        }
    }
    GroupMemoryBarrierWithGroupSync();
    uint _e926 = source;
    uint _e930 = launch[2].x;
    Partial _e934 = partials[(_e926 + (local >> _e930))];
    x = _e934;
    if ((lane == 0u)) {
        uint _e942 = launch[0].w;
        local_1 = (unit < _e942);
    } else {
        local_1 = false;
    }
    bool _e945 = local_1;
    if (_e945) {
        uint _e950 = launch[2].w;
        float _e954 = x.s0_;
        out0_.Store((_e950 + item)*4, asuint(_e954));
        return;
    } else {
        return;
    }
}
