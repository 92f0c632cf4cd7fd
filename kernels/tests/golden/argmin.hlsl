struct Partial {
    float s0_;
    int s1_;
};

cbuffer launch : register(b0) { uint4 launch[7]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer out0_ : register(u2);
RWByteAddressBuffer out1_ : register(u3);
groupshared Partial partials[640];

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

bool equal32_(float x_4, float y_1)
{
    bool local_4 = (bool)0;

    const int _e2 = order32_(x_4);
    const int _e3 = order32_(y_1);
    if ((_e2 == _e3)) {
        const bool _e7 = nan32_(x_4);
        local_4 = !(_e7);
    } else {
        local_4 = false;
    }
    bool _e10 = local_4;
    return _e10;
}

Partial ConstructPartial(float arg0, int arg1) {
    Partial ret = (Partial)0;
    ret.s0_ = arg0;
    ret.s1_ = arg1;
    return ret;
}

Partial neutral()
{
    uint _e3 = launch[6].z;
    const Partial partial = ConstructPartial(asfloat(_e3), int(2147483647));
    return partial;
}

Partial combine(Partial a_1, Partial b_1)
{
    bool local_5 = (bool)0;
    bool local_6 = (bool)0;
    bool local_7 = (bool)0;
    bool local_8 = (bool)0;

    const bool _e3 = nan32_(a_1.s0_);
    if (!(_e3)) {
        const bool _e9 = less32_(b_1.s0_, a_1.s0_);
        if (!(_e9)) {
            const bool _e15 = equal32_(b_1.s0_, a_1.s0_);
            if (_e15) {
                local_7 = (b_1.s1_ < a_1.s1_);
            } else {
                local_7 = false;
            }
            bool _e22 = local_7;
            local_6 = _e22;
        } else {
            local_6 = true;
        }
        bool _e24 = local_6;
        local_5 = _e24;
    } else {
        local_5 = false;
    }
    bool _e26 = local_5;
    const bool _e28 = nan32_(a_1.s0_);
    if (!(!(_e28))) {
        local_8 = (b_1.s1_ < a_1.s1_);
    } else {
        local_8 = true;
    }
    bool _e37 = local_8;
    const bool _e39 = nan32_(b_1.s0_);
    bool better0_ = (_e39 ? _e37 : _e26);
    const Partial partial_1 = ConstructPartial((better0_ ? b_1.s0_ : a_1.s0_), (better0_ ? b_1.s1_ : a_1.s1_));
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

Partial value(float l0_, uint i0_)
{
    uint _e5 = launch[4].z;
    int v1_ = asint(asuint(asint(_e5)) + asuint(asint(i0_)));
    const Partial partial_4 = ConstructPartial(l0_, v1_);
    return partial_4;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

uint4 ZeroValueuint4() {
    return (uint4)0;
}

[numthreads(128, 1, 1)]
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
    uint sink = 512u;
    uint width = (uint)0;
    bool local_1 = (bool)0;

    uint _e6 = launch[2].x;
    uint threads = (1u << _e6);
    uint lane = (local & (threads - 1u));
    uint _e15 = launch[0].y;
    uint _e20 = launch[0].z;
    uint _e32 = launch[2].x;
    uint unit = ((((group.x + (_e15 * (group.y + (_e20 * group.z)))) * 128u) + local) >> _e32);
    uint _e37 = launch[0].w;
    uint item = min(unit, (_e37 - 1u));
    uint _e44 = launch[1].y;
    uint block = naga_div(item, _e44);
    uint _e49 = launch[1].y;
    uint kept = (item - (block * _e49));
    const Partial _e52 = neutral();
    x = _e52;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e1036 = step_;
            step_ = (_e1036 + 1u);
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
            uint i0_1 = min(start, (_e85 - 1u));
            uint _e92 = launch[1].w;
            int there = asint(min((_e92 - i0_1), 16u));
            s0_0_ = 0u;
            r0_0_0_ = ZeroValueuint4();
            r0_0_1_ = ZeroValueuint4();
            r0_0_2_ = ZeroValueuint4();
            r0_0_3_ = ZeroValueuint4();
            r0_0_4_ = ZeroValueuint4();
            {
                uint _e112 = launch[5].x;
                uint _e118 = launch[5].y;
                int b0_0_ = asint(asuint(asint(_e112)) + asuint(asint(asuint(asint(i0_1)) * asuint(asint(_e118)))));
                uint _e125 = launch[5].y;
                if ((asint(_e125) == int(1))) {
                    s0_0_ = (asuint(b0_0_) & 3u);
                    int low0_ = (asint(asuint(b0_0_) + asuint(int(0))) >> 2u);
                    int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(15)))) - asuint(asint(asuint(int(16)) - asuint(there)))) >> 2u);
                    uint4 _e151 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
                    r0_0_0_ = _e151;
                    uint4 _e160 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
                    r0_0_1_ = _e160;
                    uint4 _e169 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(2))), low0_), high0_)*16));
                    r0_0_2_ = _e169;
                    uint4 _e178 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(3))), low0_), high0_)*16));
                    r0_0_3_ = _e178;
                    if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(4))) <= high0_)) {
                        uint4 _e192 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(4))), low0_), high0_)*16));
                        r0_0_4_ = _e192;
                    }
                } else {
                    uint _e202 = launch[5].y;
                    const uint _e207 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(0), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e202)))))));
                    uint _e217 = launch[5].y;
                    const uint _e222 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(1), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e217)))))));
                    uint _e232 = launch[5].y;
                    const uint _e237 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(2), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e232)))))));
                    uint _e247 = launch[5].y;
                    const uint _e252 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(3), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e247)))))));
                    r0_0_0_ = uint4(_e207, _e222, _e237, _e252);
                    uint _e263 = launch[5].y;
                    const uint _e268 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(4), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e263)))))));
                    uint _e278 = launch[5].y;
                    const uint _e283 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(5), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e278)))))));
                    uint _e293 = launch[5].y;
                    const uint _e298 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(6), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e293)))))));
                    uint _e308 = launch[5].y;
                    const uint _e313 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(7), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e308)))))));
                    r0_0_1_ = uint4(_e268, _e283, _e298, _e313);
                    uint _e324 = launch[5].y;
                    const uint _e329 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(8), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e324)))))));
                    uint _e339 = launch[5].y;
                    const uint _e344 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(9), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e339)))))));
                    uint _e354 = launch[5].y;
                    const uint _e359 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(10), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e354)))))));
                    uint _e369 = launch[5].y;
                    const uint _e374 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(11), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e369)))))));
                    r0_0_2_ = uint4(_e329, _e344, _e359, _e374);
                    uint _e385 = launch[5].y;
                    const uint _e390 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(12), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e385)))))));
                    uint _e400 = launch[5].y;
                    const uint _e405 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(13), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e400)))))));
                    uint _e415 = launch[5].y;
                    const uint _e420 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(14), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e415)))))));
                    uint _e430 = launch[5].y;
                    const uint _e435 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(15), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint(asint(_e430)))))));
                    r0_0_3_ = uint4(_e390, _e405, _e420, _e435);
                }
            }
            uint _e437 = s0_0_;
            if ((_e437 != 0u)) {
                uint4 _e440 = r0_0_0_;
                uint4 _e441 = r0_0_1_;
                uint _e442 = s0_0_;
                const uint4 _e443 = move32_(_e440, _e441, _e442);
                r0_0_0_ = _e443;
                uint4 _e444 = r0_0_1_;
                uint4 _e445 = r0_0_2_;
                uint _e446 = s0_0_;
                const uint4 _e447 = move32_(_e444, _e445, _e446);
                r0_0_1_ = _e447;
                uint4 _e448 = r0_0_2_;
                uint4 _e449 = r0_0_3_;
                uint _e450 = s0_0_;
                const uint4 _e451 = move32_(_e448, _e449, _e450);
                r0_0_2_ = _e451;
                uint4 _e452 = r0_0_3_;
                uint4 _e453 = r0_0_4_;
                uint _e454 = s0_0_;
                const uint4 _e455 = move32_(_e452, _e453, _e454);
                r0_0_3_ = _e455;
            }
            uint _e457 = r0_0_0_.x;
            uint _e464 = launch[1].w;
            const Partial _e468 = value(asfloat(_e457), min((start + 0u), (_e464 - 1u)));
            uint _e476 = launch[1].w;
            uint _e486 = launch[1].w;
            Partial c0_ = ConstructPartial((((start + 0u) < _e476) ? _e468.s0_ : _e52.s0_), (((start + 0u) < _e486) ? _e468.s1_ : _e52.s1_));
            uint _e491 = r0_0_0_.y;
            uint _e498 = launch[1].w;
            const Partial _e502 = value(asfloat(_e491), min((start + 1u), (_e498 - 1u)));
            uint _e510 = launch[1].w;
            uint _e520 = launch[1].w;
            Partial c1_ = ConstructPartial((((start + 1u) < _e510) ? _e502.s0_ : _e52.s0_), (((start + 1u) < _e520) ? _e502.s1_ : _e52.s1_));
            uint _e525 = r0_0_0_.z;
            uint _e532 = launch[1].w;
            const Partial _e536 = value(asfloat(_e525), min((start + 2u), (_e532 - 1u)));
            uint _e544 = launch[1].w;
            uint _e554 = launch[1].w;
            Partial c2_ = ConstructPartial((((start + 2u) < _e544) ? _e536.s0_ : _e52.s0_), (((start + 2u) < _e554) ? _e536.s1_ : _e52.s1_));
            uint _e559 = r0_0_0_.w;
            uint _e566 = launch[1].w;
            const Partial _e570 = value(asfloat(_e559), min((start + 3u), (_e566 - 1u)));
            uint _e578 = launch[1].w;
            uint _e588 = launch[1].w;
            Partial c3_ = ConstructPartial((((start + 3u) < _e578) ? _e570.s0_ : _e52.s0_), (((start + 3u) < _e588) ? _e570.s1_ : _e52.s1_));
            uint _e593 = r0_0_1_.x;
            uint _e600 = launch[1].w;
            const Partial _e604 = value(asfloat(_e593), min((start + 4u), (_e600 - 1u)));
            uint _e612 = launch[1].w;
            uint _e622 = launch[1].w;
            Partial c4_ = ConstructPartial((((start + 4u) < _e612) ? _e604.s0_ : _e52.s0_), (((start + 4u) < _e622) ? _e604.s1_ : _e52.s1_));
            uint _e627 = r0_0_1_.y;
            uint _e634 = launch[1].w;
            const Partial _e638 = value(asfloat(_e627), min((start + 5u), (_e634 - 1u)));
            uint _e646 = launch[1].w;
            uint _e656 = launch[1].w;
            Partial c5_ = ConstructPartial((((start + 5u) < _e646) ? _e638.s0_ : _e52.s0_), (((start + 5u) < _e656) ? _e638.s1_ : _e52.s1_));
            uint _e661 = r0_0_1_.z;
            uint _e668 = launch[1].w;
            const Partial _e672 = value(asfloat(_e661), min((start + 6u), (_e668 - 1u)));
            uint _e680 = launch[1].w;
            uint _e690 = launch[1].w;
            Partial c6_ = ConstructPartial((((start + 6u) < _e680) ? _e672.s0_ : _e52.s0_), (((start + 6u) < _e690) ? _e672.s1_ : _e52.s1_));
            uint _e695 = r0_0_1_.w;
            uint _e702 = launch[1].w;
            const Partial _e706 = value(asfloat(_e695), min((start + 7u), (_e702 - 1u)));
            uint _e714 = launch[1].w;
            uint _e724 = launch[1].w;
            Partial c7_ = ConstructPartial((((start + 7u) < _e714) ? _e706.s0_ : _e52.s0_), (((start + 7u) < _e724) ? _e706.s1_ : _e52.s1_));
            uint _e729 = r0_0_2_.x;
            uint _e736 = launch[1].w;
            const Partial _e740 = value(asfloat(_e729), min((start + 8u), (_e736 - 1u)));
            uint _e748 = launch[1].w;
            uint _e758 = launch[1].w;
            Partial c8_ = ConstructPartial((((start + 8u) < _e748) ? _e740.s0_ : _e52.s0_), (((start + 8u) < _e758) ? _e740.s1_ : _e52.s1_));
            uint _e763 = r0_0_2_.y;
            uint _e770 = launch[1].w;
            const Partial _e774 = value(asfloat(_e763), min((start + 9u), (_e770 - 1u)));
            uint _e782 = launch[1].w;
            uint _e792 = launch[1].w;
            Partial c9_ = ConstructPartial((((start + 9u) < _e782) ? _e774.s0_ : _e52.s0_), (((start + 9u) < _e792) ? _e774.s1_ : _e52.s1_));
            uint _e797 = r0_0_2_.z;
            uint _e804 = launch[1].w;
            const Partial _e808 = value(asfloat(_e797), min((start + 10u), (_e804 - 1u)));
            uint _e816 = launch[1].w;
            uint _e826 = launch[1].w;
            Partial c10_ = ConstructPartial((((start + 10u) < _e816) ? _e808.s0_ : _e52.s0_), (((start + 10u) < _e826) ? _e808.s1_ : _e52.s1_));
            uint _e831 = r0_0_2_.w;
            uint _e838 = launch[1].w;
            const Partial _e842 = value(asfloat(_e831), min((start + 11u), (_e838 - 1u)));
            uint _e850 = launch[1].w;
            uint _e860 = launch[1].w;
            Partial c11_ = ConstructPartial((((start + 11u) < _e850) ? _e842.s0_ : _e52.s0_), (((start + 11u) < _e860) ? _e842.s1_ : _e52.s1_));
            uint _e865 = r0_0_3_.x;
            uint _e872 = launch[1].w;
            const Partial _e876 = value(asfloat(_e865), min((start + 12u), (_e872 - 1u)));
            uint _e884 = launch[1].w;
            uint _e894 = launch[1].w;
            Partial c12_ = ConstructPartial((((start + 12u) < _e884) ? _e876.s0_ : _e52.s0_), (((start + 12u) < _e894) ? _e876.s1_ : _e52.s1_));
            uint _e899 = r0_0_3_.y;
            uint _e906 = launch[1].w;
            const Partial _e910 = value(asfloat(_e899), min((start + 13u), (_e906 - 1u)));
            uint _e918 = launch[1].w;
            uint _e928 = launch[1].w;
            Partial c13_ = ConstructPartial((((start + 13u) < _e918) ? _e910.s0_ : _e52.s0_), (((start + 13u) < _e928) ? _e910.s1_ : _e52.s1_));
            uint _e933 = r0_0_3_.z;
            uint _e940 = launch[1].w;
            const Partial _e944 = value(asfloat(_e933), min((start + 14u), (_e940 - 1u)));
            uint _e952 = launch[1].w;
            uint _e962 = launch[1].w;
            Partial c14_ = ConstructPartial((((start + 14u) < _e952) ? _e944.s0_ : _e52.s0_), (((start + 14u) < _e962) ? _e944.s1_ : _e52.s1_));
            uint _e967 = r0_0_3_.w;
            uint _e974 = launch[1].w;
            const Partial _e978 = value(asfloat(_e967), min((start + 15u), (_e974 - 1u)));
            uint _e986 = launch[1].w;
            uint _e996 = launch[1].w;
            Partial c15_ = ConstructPartial((((start + 15u) < _e986) ? _e978.s0_ : _e52.s0_), (((start + 15u) < _e996) ? _e978.s1_ : _e52.s1_));
            const Partial _e1000 = combine(c0_, c1_);
            const Partial _e1001 = combine(c2_, c3_);
            const Partial _e1002 = combine(_e1000, _e1001);
            const Partial _e1003 = combine(c4_, c5_);
            const Partial _e1004 = combine(c6_, c7_);
            const Partial _e1005 = combine(_e1003, _e1004);
            const Partial _e1006 = combine(_e1002, _e1005);
            const Partial _e1007 = combine(c8_, c9_);
            const Partial _e1008 = combine(c10_, c11_);
            const Partial _e1009 = combine(_e1007, _e1008);
            const Partial _e1010 = combine(c12_, c13_);
            const Partial _e1011 = combine(c14_, c15_);
            const Partial _e1012 = combine(_e1010, _e1011);
            const Partial _e1013 = combine(_e1009, _e1012);
            const Partial _e1014 = combine(_e1006, _e1013);
            x = _e1014;
            uint _e1019 = launch[2].x;
            uint _e1024 = launch[2].y;
            uint _e1026 = step_;
            uint _e1031 = launch[2].x;
            Partial _e1035 = x;
            partials[(((((local >> _e1019) * _e1024) + _e1026) << _e1031) + lane)] = _e1035;
        }
    }
    uint _e1043 = launch[2].y;
    count = (128u * _e1043);
    uint _e1053 = launch[2].y;
    uint _e1057 = launch[2].x;
    width = (_e1053 << _e1057);
    while(true) {
        uint _e1060 = width;
        if ((_e1060 > 1u)) {
        } else {
            break;
        }
        {
            uint _e1063 = width;
            uint radix = min(_e1063, 16u);
            uint _e1066 = width;
            width = naga_div(_e1066, radix);
            uint _e1068 = count;
            count = naga_div(_e1068, radix);
            GroupMemoryBarrierWithGroupSync();
            uint _e1070 = count;
            if ((local < _e1070)) {
                uint _e1072 = source;
                const Partial _e1079 = entry(((_e1072 + (local * radix)) + 0u), (0u < radix));
                uint _e1080 = source;
                const Partial _e1087 = entry(((_e1080 + (local * radix)) + 1u), (1u < radix));
                uint _e1088 = source;
                const Partial _e1095 = entry(((_e1088 + (local * radix)) + 2u), (2u < radix));
                uint _e1096 = source;
                const Partial _e1103 = entry(((_e1096 + (local * radix)) + 3u), (3u < radix));
                uint _e1104 = source;
                const Partial _e1111 = entry(((_e1104 + (local * radix)) + 4u), (4u < radix));
                uint _e1112 = source;
                const Partial _e1119 = entry(((_e1112 + (local * radix)) + 5u), (5u < radix));
                uint _e1120 = source;
                const Partial _e1127 = entry(((_e1120 + (local * radix)) + 6u), (6u < radix));
                uint _e1128 = source;
                const Partial _e1135 = entry(((_e1128 + (local * radix)) + 7u), (7u < radix));
                uint _e1136 = source;
                const Partial _e1143 = entry(((_e1136 + (local * radix)) + 8u), (8u < radix));
                uint _e1144 = source;
                const Partial _e1151 = entry(((_e1144 + (local * radix)) + 9u), (9u < radix));
                uint _e1152 = source;
                const Partial _e1159 = entry(((_e1152 + (local * radix)) + 10u), (10u < radix));
                uint _e1160 = source;
                const Partial _e1167 = entry(((_e1160 + (local * radix)) + 11u), (11u < radix));
                uint _e1168 = source;
                const Partial _e1175 = entry(((_e1168 + (local * radix)) + 12u), (12u < radix));
                uint _e1176 = source;
                const Partial _e1183 = entry(((_e1176 + (local * radix)) + 13u), (13u < radix));
                uint _e1184 = source;
                const Partial _e1191 = entry(((_e1184 + (local * radix)) + 14u), (14u < radix));
                uint _e1192 = source;
                const Partial _e1199 = entry(((_e1192 + (local * radix)) + 15u), (15u < radix));
                uint _e1201 = sink;
                const Partial _e1204 = combine(_e1079, _e1087);
                const Partial _e1205 = combine(_e1095, _e1103);
                const Partial _e1206 = combine(_e1204, _e1205);
                const Partial _e1207 = combine(_e1111, _e1119);
                const Partial _e1208 = combine(_e1127, _e1135);
                const Partial _e1209 = combine(_e1207, _e1208);
                const Partial _e1210 = combine(_e1206, _e1209);
                const Partial _e1211 = combine(_e1143, _e1151);
                const Partial _e1212 = combine(_e1159, _e1167);
                const Partial _e1213 = combine(_e1211, _e1212);
                const Partial _e1214 = combine(_e1175, _e1183);
                const Partial _e1215 = combine(_e1191, _e1199);
                const Partial _e1216 = combine(_e1214, _e1215);
                const Partial _e1217 = combine(_e1213, _e1216);
                const Partial _e1218 = combine(_e1210, _e1217);
                partials[(_e1201 + local)] = _e1218;
            }
            uint old = source;
            uint _e1220 = sink;
            source = _e1220;
            sink = old;
        }
    }
    GroupMemoryBarrierWithGroupSync();
    uint _e1222 = source;
    uint _e1226 = launch[2].x;
    Partial _e1230 = partials[(_e1222 + (local >> _e1226))];
    x = _e1230;
    if ((lane == 0u)) {
        uint _e1238 = launch[0].w;
        local_1 = (unit < _e1238);
    } else {
        local_1 = false;
    }
    bool _e1241 = local_1;
    if (_e1241) {
        uint _e1246 = launch[2].w;
        float _e1250 = x.s0_;
        out0_.Store((_e1246 + item)*4, asuint(_e1250));
        uint _e1255 = launch[2].w;
        int _e1259 = x.s1_;
        out1_.Store((_e1255 + item)*4, asuint(_e1259));
        return;
    } else {
        return;
    }
}
