struct Partial {
    uint s0_;
};

cbuffer launch : register(b0) { uint4 launch[8]; }
ByteAddressBuffer p0_ : register(t1);
RWByteAddressBuffer out0_ : register(u2);
groupshared Partial partials[1280];

uint move8_(uint a, uint b, uint by)
{
    return ((a >> (8u * by)) | (b << (32u - (8u * by))));
}

Partial ConstructPartial(uint arg0) {
    Partial ret = (Partial)0;
    ret.s0_ = arg0;
    return ret;
}

Partial neutral()
{
    const Partial partial = ConstructPartial(0u);
    return partial;
}

Partial combine(Partial a_1, Partial b_1)
{
    const Partial partial_1 = ConstructPartial((a_1.s0_ | b_1.s0_));
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

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

uint coordinate(uint number, uint divisor, uint extent)
{
    uint rest = (uint)0;

    if ((extent <= 1u)) {
        return 0u;
    }
    rest = number;
    if ((divisor > 1u)) {
        rest = naga_div(number, divisor);
    }
    uint _e10 = rest;
    if ((_e10 >= extent)) {
        uint _e12 = rest;
        uint _e13 = rest;
        rest = (_e12 - (naga_div(_e13, extent) * extent));
    }
    uint _e17 = rest;
    return _e17;
}

uint at0_(uint e)
{
    uint _e5 = asuint(p0_.Load((e >> 2u)*4));
    return ((_e5 >> ((e & 3u) << 3u)) & 255u);
}

Partial value(bool l0_)
{
    const Partial partial_4 = ConstructPartial((l0_ ? 1u : 0u));
    return partial_4;
}

uint ZeroValueuint() {
    return (uint)0;
}

[numthreads(256, 1, 1)]
void reduce(uint3 group : SV_GroupID, uint local : SV_GroupIndex)
{
    Partial x = (Partial)0;
    uint step_ = 0u;
    uint s0_0_ = (uint)0;
    uint r0_0_0_ = (uint)0;
    uint r0_0_1_ = (uint)0;
    uint r0_0_2_ = (uint)0;
    uint r0_0_3_ = (uint)0;
    uint r0_0_4_ = (uint)0;
    bool local_1 = (bool)0;
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;
    bool local_4 = (bool)0;
    bool local_5 = (bool)0;
    uint n = (uint)0;
    uint count = (uint)0;
    uint source = 0u;
    uint sink = 1024u;
    uint width = (uint)0;
    bool local_6 = (bool)0;

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
    uint kept = (item - (block * _e49));
    const Partial _e52 = neutral();
    x = _e52;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e1131 = step_;
            step_ = (_e1131 + 1u);
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
            uint at_1 = min(start, (_e85 - 1u));
            uint _e92 = launch[1].w;
            int there = asint(min((_e92 - at_1), 16u));
            s0_0_ = 0u;
            r0_0_0_ = ZeroValueuint();
            r0_0_1_ = ZeroValueuint();
            r0_0_2_ = ZeroValueuint();
            r0_0_3_ = ZeroValueuint();
            r0_0_4_ = ZeroValueuint();
            {
                uint _e112 = launch[4].z;
                uint _e116 = launch[4].x;
                const uint _e117 = coordinate(at_1, _e112, _e116);
                uint _e121 = launch[4].w;
                uint _e125 = launch[4].y;
                const uint _e126 = coordinate(at_1, _e121, _e125);
                uint _e130 = launch[6].x;
                uint _e136 = launch[6].y;
                uint _e144 = launch[6].z;
                int b0_0_ = asint(asuint(asint(asuint(asint(_e130)) + asuint(asint(asuint(asint(_e117)) * asuint(asint(_e136)))))) + asuint(asint(asuint(asint(_e126)) * asuint(asint(_e144)))));
                uint _e151 = launch[4].z;
                if ((_e151 == 1u)) {
                    uint _e159 = launch[4].x;
                    local_1 = (_e159 > 1u);
                } else {
                    local_1 = false;
                }
                bool along0_ = local_1;
                uint _e167 = launch[4].w;
                if ((_e167 == 1u)) {
                    uint _e175 = launch[4].y;
                    local_2 = (_e175 > 1u);
                } else {
                    local_2 = false;
                }
                bool along1_ = local_2;
                if (along0_) {
                    uint _e187 = launch[4].x;
                    local_3 = ((_e117 + asuint(there)) > _e187);
                } else {
                    local_3 = false;
                }
                bool _e190 = local_3;
                if (!(_e190)) {
                    if (along1_) {
                        uint _e201 = launch[4].y;
                        local_5 = ((_e126 + asuint(there)) > _e201);
                    } else {
                        local_5 = false;
                    }
                    bool _e204 = local_5;
                    local_4 = _e204;
                } else {
                    local_4 = true;
                }
                bool _e206 = local_4;
                if (_e206) {
                    n = 0u;
                    bool loop_init_1 = true;
                    while(true) {
                        if (!loop_init_1) {
                            uint _e286 = n;
                            n = (_e286 + 1u);
                        }
                        loop_init_1 = false;
                        uint _e209 = n;
                        if ((_e209 < 16u)) {
                        } else {
                            break;
                        }
                        {
                            uint _e212 = n;
                            uint _e217 = launch[1].w;
                            uint _e224 = launch[4].z;
                            uint _e228 = launch[4].x;
                            const uint _e229 = coordinate(min((at_1 + _e212), (_e217 - 1u)), _e224, _e228);
                            uint _e230 = n;
                            uint _e235 = launch[1].w;
                            uint _e242 = launch[4].w;
                            uint _e246 = launch[4].y;
                            const uint _e247 = coordinate(min((at_1 + _e230), (_e235 - 1u)), _e242, _e246);
                            uint _e251 = launch[6].x;
                            uint _e257 = launch[6].y;
                            uint _e265 = launch[6].z;
                            int e0_ = asint(asuint(asint(asuint(asint(_e251)) + asuint(asint(asuint(asint(_e229)) * asuint(asint(_e257)))))) + asuint(asint(asuint(asint(_e247)) * asuint(asint(_e265)))));
                            uint _e269 = r0_0_0_;
                            uint _e270 = r0_0_1_;
                            const uint _e272 = move8_(_e269, _e270, 1u);
                            r0_0_0_ = _e272;
                            uint _e273 = r0_0_1_;
                            uint _e274 = r0_0_2_;
                            const uint _e276 = move8_(_e273, _e274, 1u);
                            r0_0_1_ = _e276;
                            uint _e277 = r0_0_2_;
                            uint _e278 = r0_0_3_;
                            const uint _e280 = move8_(_e277, _e278, 1u);
                            r0_0_2_ = _e280;
                            uint _e281 = r0_0_3_;
                            const uint _e283 = at0_(asuint(e0_));
                            const uint _e285 = move8_(_e281, _e283, 1u);
                            r0_0_3_ = _e285;
                        }
                    }
                } else {
                    uint _e293 = launch[6].y;
                    uint _e299 = launch[6].z;
                    if (((along1_ ? asint(_e299) : (along0_ ? asint(_e293) : int(0))) == int(1))) {
                        s0_0_ = (asuint(b0_0_) & 3u);
                        int low0_ = (asint(asuint(b0_0_) + asuint(int(0))) >> 2u);
                        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(15)))) - asuint(asint(asuint(int(16)) - asuint(there)))) >> 2u);
                        uint _e326 = asuint(p0_.Load(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*4));
                        r0_0_0_ = _e326;
                        uint _e335 = asuint(p0_.Load(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*4));
                        r0_0_1_ = _e335;
                        uint _e344 = asuint(p0_.Load(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(2))), low0_), high0_)*4));
                        r0_0_2_ = _e344;
                        uint _e353 = asuint(p0_.Load(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(3))), low0_), high0_)*4));
                        r0_0_3_ = _e353;
                        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(4))) <= high0_)) {
                            uint _e367 = asuint(p0_.Load(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(4))), low0_), high0_)*4));
                            r0_0_4_ = _e367;
                        }
                    } else {
                        uint _e378 = launch[6].y;
                        uint _e384 = launch[6].z;
                        const uint _e390 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(0), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e384) : (along0_ ? asint(_e378) : int(0)))))))));
                        uint _e401 = launch[6].y;
                        uint _e407 = launch[6].z;
                        const uint _e413 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(1), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e407) : (along0_ ? asint(_e401) : int(0)))))))));
                        uint _e427 = launch[6].y;
                        uint _e433 = launch[6].z;
                        const uint _e439 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(2), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e433) : (along0_ ? asint(_e427) : int(0)))))))));
                        uint _e453 = launch[6].y;
                        uint _e459 = launch[6].z;
                        const uint _e465 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(3), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e459) : (along0_ ? asint(_e453) : int(0)))))))));
                        r0_0_0_ = (((_e390 | (_e413 << 8u)) | (_e439 << 16u)) | (_e465 << 24u));
                        uint _e479 = launch[6].y;
                        uint _e485 = launch[6].z;
                        const uint _e491 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(4), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e485) : (along0_ ? asint(_e479) : int(0)))))))));
                        uint _e502 = launch[6].y;
                        uint _e508 = launch[6].z;
                        const uint _e514 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(5), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e508) : (along0_ ? asint(_e502) : int(0)))))))));
                        uint _e528 = launch[6].y;
                        uint _e534 = launch[6].z;
                        const uint _e540 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(6), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e534) : (along0_ ? asint(_e528) : int(0)))))))));
                        uint _e554 = launch[6].y;
                        uint _e560 = launch[6].z;
                        const uint _e566 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(7), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e560) : (along0_ ? asint(_e554) : int(0)))))))));
                        r0_0_1_ = (((_e491 | (_e514 << 8u)) | (_e540 << 16u)) | (_e566 << 24u));
                        uint _e580 = launch[6].y;
                        uint _e586 = launch[6].z;
                        const uint _e592 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(8), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e586) : (along0_ ? asint(_e580) : int(0)))))))));
                        uint _e603 = launch[6].y;
                        uint _e609 = launch[6].z;
                        const uint _e615 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(9), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e609) : (along0_ ? asint(_e603) : int(0)))))))));
                        uint _e629 = launch[6].y;
                        uint _e635 = launch[6].z;
                        const uint _e641 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(10), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e635) : (along0_ ? asint(_e629) : int(0)))))))));
                        uint _e655 = launch[6].y;
                        uint _e661 = launch[6].z;
                        const uint _e667 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(11), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e661) : (along0_ ? asint(_e655) : int(0)))))))));
                        r0_0_2_ = (((_e592 | (_e615 << 8u)) | (_e641 << 16u)) | (_e667 << 24u));
                        uint _e681 = launch[6].y;
                        uint _e687 = launch[6].z;
                        const uint _e693 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(12), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e687) : (along0_ ? asint(_e681) : int(0)))))))));
                        uint _e704 = launch[6].y;
                        uint _e710 = launch[6].z;
                        const uint _e716 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(13), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e710) : (along0_ ? asint(_e704) : int(0)))))))));
                        uint _e730 = launch[6].y;
                        uint _e736 = launch[6].z;
                        const uint _e742 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(14), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e736) : (along0_ ? asint(_e730) : int(0)))))))));
                        uint _e756 = launch[6].y;
                        uint _e762 = launch[6].z;
                        const uint _e768 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(int(15), asint(asuint(int(15)) - asuint(asint(asuint(int(16)) - asuint(there)))))) * asuint((along1_ ? asint(_e762) : (along0_ ? asint(_e756) : int(0)))))))));
                        r0_0_3_ = (((_e693 | (_e716 << 8u)) | (_e742 << 16u)) | (_e768 << 24u));
                    }
                }
            }
            uint _e772 = s0_0_;
            if ((_e772 != 0u)) {
                uint _e775 = r0_0_0_;
                uint _e776 = r0_0_1_;
                uint _e777 = s0_0_;
                const uint _e778 = move8_(_e775, _e776, _e777);
                r0_0_0_ = _e778;
                uint _e779 = r0_0_1_;
                uint _e780 = r0_0_2_;
                uint _e781 = s0_0_;
                const uint _e782 = move8_(_e779, _e780, _e781);
                r0_0_1_ = _e782;
                uint _e783 = r0_0_2_;
                uint _e784 = r0_0_3_;
                uint _e785 = s0_0_;
                const uint _e786 = move8_(_e783, _e784, _e785);
                r0_0_2_ = _e786;
                uint _e787 = r0_0_3_;
                uint _e788 = r0_0_4_;
                uint _e789 = s0_0_;
                const uint _e790 = move8_(_e787, _e788, _e789);
                r0_0_3_ = _e790;
            }
            uint _e791 = r0_0_0_;
            const Partial _e798 = value((((_e791 >> 0u) & 255u) != 0u));
            uint _e806 = launch[1].w;
            Partial c0_ = ConstructPartial((((start + 0u) < _e806) ? _e798.s0_ : _e52.s0_));
            uint _e810 = r0_0_0_;
            const Partial _e817 = value((((_e810 >> 8u) & 255u) != 0u));
            uint _e825 = launch[1].w;
            Partial c1_ = ConstructPartial((((start + 1u) < _e825) ? _e817.s0_ : _e52.s0_));
            uint _e829 = r0_0_0_;
            const Partial _e836 = value((((_e829 >> 16u) & 255u) != 0u));
            uint _e844 = launch[1].w;
            Partial c2_ = ConstructPartial((((start + 2u) < _e844) ? _e836.s0_ : _e52.s0_));
            uint _e848 = r0_0_0_;
            const Partial _e855 = value((((_e848 >> 24u) & 255u) != 0u));
            uint _e863 = launch[1].w;
            Partial c3_ = ConstructPartial((((start + 3u) < _e863) ? _e855.s0_ : _e52.s0_));
            uint _e867 = r0_0_1_;
            const Partial _e874 = value((((_e867 >> 0u) & 255u) != 0u));
            uint _e882 = launch[1].w;
            Partial c4_ = ConstructPartial((((start + 4u) < _e882) ? _e874.s0_ : _e52.s0_));
            uint _e886 = r0_0_1_;
            const Partial _e893 = value((((_e886 >> 8u) & 255u) != 0u));
            uint _e901 = launch[1].w;
            Partial c5_ = ConstructPartial((((start + 5u) < _e901) ? _e893.s0_ : _e52.s0_));
            uint _e905 = r0_0_1_;
            const Partial _e912 = value((((_e905 >> 16u) & 255u) != 0u));
            uint _e920 = launch[1].w;
            Partial c6_ = ConstructPartial((((start + 6u) < _e920) ? _e912.s0_ : _e52.s0_));
            uint _e924 = r0_0_1_;
            const Partial _e931 = value((((_e924 >> 24u) & 255u) != 0u));
            uint _e939 = launch[1].w;
            Partial c7_ = ConstructPartial((((start + 7u) < _e939) ? _e931.s0_ : _e52.s0_));
            uint _e943 = r0_0_2_;
            const Partial _e950 = value((((_e943 >> 0u) & 255u) != 0u));
            uint _e958 = launch[1].w;
            Partial c8_ = ConstructPartial((((start + 8u) < _e958) ? _e950.s0_ : _e52.s0_));
            uint _e962 = r0_0_2_;
            const Partial _e969 = value((((_e962 >> 8u) & 255u) != 0u));
            uint _e977 = launch[1].w;
            Partial c9_ = ConstructPartial((((start + 9u) < _e977) ? _e969.s0_ : _e52.s0_));
            uint _e981 = r0_0_2_;
            const Partial _e988 = value((((_e981 >> 16u) & 255u) != 0u));
            uint _e996 = launch[1].w;
            Partial c10_ = ConstructPartial((((start + 10u) < _e996) ? _e988.s0_ : _e52.s0_));
            uint _e1000 = r0_0_2_;
            const Partial _e1007 = value((((_e1000 >> 24u) & 255u) != 0u));
            uint _e1015 = launch[1].w;
            Partial c11_ = ConstructPartial((((start + 11u) < _e1015) ? _e1007.s0_ : _e52.s0_));
            uint _e1019 = r0_0_3_;
            const Partial _e1026 = value((((_e1019 >> 0u) & 255u) != 0u));
            uint _e1034 = launch[1].w;
            Partial c12_ = ConstructPartial((((start + 12u) < _e1034) ? _e1026.s0_ : _e52.s0_));
            uint _e1038 = r0_0_3_;
            const Partial _e1045 = value((((_e1038 >> 8u) & 255u) != 0u));
            uint _e1053 = launch[1].w;
            Partial c13_ = ConstructPartial((((start + 13u) < _e1053) ? _e1045.s0_ : _e52.s0_));
            uint _e1057 = r0_0_3_;
            const Partial _e1064 = value((((_e1057 >> 16u) & 255u) != 0u));
            uint _e1072 = launch[1].w;
            Partial c14_ = ConstructPartial((((start + 14u) < _e1072) ? _e1064.s0_ : _e52.s0_));
            uint _e1076 = r0_0_3_;
            const Partial _e1083 = value((((_e1076 >> 24u) & 255u) != 0u));
            uint _e1091 = launch[1].w;
            Partial c15_ = ConstructPartial((((start + 15u) < _e1091) ? _e1083.s0_ : _e52.s0_));
            const Partial _e1095 = combine(c0_, c1_);
            const Partial _e1096 = combine(c2_, c3_);
            const Partial _e1097 = combine(_e1095, _e1096);
            const Partial _e1098 = combine(c4_, c5_);
            const Partial _e1099 = combine(c6_, c7_);
            const Partial _e1100 = combine(_e1098, _e1099);
            const Partial _e1101 = combine(_e1097, _e1100);
            const Partial _e1102 = combine(c8_, c9_);
            const Partial _e1103 = combine(c10_, c11_);
            const Partial _e1104 = combine(_e1102, _e1103);
            const Partial _e1105 = combine(c12_, c13_);
            const Partial _e1106 = combine(c14_, c15_);
            const Partial _e1107 = combine(_e1105, _e1106);
            const Partial _e1108 = combine(_e1104, _e1107);
            const Partial _e1109 = combine(_e1101, _e1108);
            x = _e1109;
            uint _e1114 = launch[2].x;
            uint _e1119 = launch[2].y;
            uint _e1121 = step_;
            uint _e1126 = launch[2].x;
            Partial _e1130 = x;
            partials[(((((local >> _e1114) * _e1119) + _e1121) << _e1126) + lane)] = _e1130;
        }
    }
    uint _e1138 = launch[2].y;
    count = (256u * _e1138);
    uint _e1148 = launch[2].y;
    uint _e1152 = launch[2].x;
    width = (_e1148 << _e1152);
    while(true) {
        uint _e1155 = width;
        if ((_e1155 > 1u)) {
        } else {
            break;
        }
        {
            uint _e1158 = width;
            uint radix = min(_e1158, 16u);
            uint _e1161 = width;
            width = naga_div(_e1161, radix);
            uint _e1163 = count;
            count = naga_div(_e1163, radix);
            GroupMemoryBarrierWithGroupSync();
            uint _e1165 = count;
            if ((local < _e1165)) {
                uint _e1167 = source;
                const Partial _e1174 = entry(((_e1167 + (local * radix)) + 0u), (0u < radix));
                uint _e1175 = source;
                const Partial _e1182 = entry(((_e1175 + (local * radix)) + 1u), (1u < radix));
                uint _e1183 = source;
                const Partial _e1190 = entry(((_e1183 + (local * radix)) + 2u), (2u < radix));
                uint _e1191 = source;
                const Partial _e1198 = entry(((_e1191 + (local * radix)) + 3u), (3u < radix));
                uint _e1199 = source;
                const Partial _e1206 = entry(((_e1199 + (local * radix)) + 4u), (4u < radix));
                uint _e1207 = source;
                const Partial _e1214 = entry(((_e1207 + (local * radix)) + 5u), (5u < radix));
                uint _e1215 = source;
                const Partial _e1222 = entry(((_e1215 + (local * radix)) + 6u), (6u < radix));
                uint _e1223 = source;
                const Partial _e1230 = entry(((_e1223 + (local * radix)) + 7u), (7u < radix));
                uint _e1231 = source;
                const Partial _e1238 = entry(((_e1231 + (local * radix)) + 8u), (8u < radix));
                uint _e1239 = source;
                const Partial _e1246 = entry(((_e1239 + (local * radix)) + 9u), (9u < radix));
                uint _e1247 = source;
                const Partial _e1254 = entry(((_e1247 + (local * radix)) + 10u), (10u < radix));
                uint _e1255 = source;
                const Partial _e1262 = entry(((_e1255 + (local * radix)) + 11u), (11u < radix));
                uint _e1263 = source;
                const Partial _e1270 = entry(((_e1263 + (local * radix)) + 12u), (12u < radix));
                uint _e1271 = source;
                const Partial _e1278 = entry(((_e1271 + (local * radix)) + 13u), (13u < radix));
                uint _e1279 = source;
                const Partial _e1286 = entry(((_e1279 + (local * radix)) + 14u), (14u < radix));
                uint _e1287 = source;
                const Partial _e1294 = entry(((_e1287 + (local * radix)) + 15u), (15u < radix));
                uint _e1296 = sink;
                const Partial _e1299 = combine(_e1174, _e1182);
                const Partial _e1300 = combine(_e1190, _e1198);
                const Partial _e1301 = combine(_e1299, _e1300);
                const Partial _e1302 = combine(_e1206, _e1214);
                const Partial _e1303 = combine(_e1222, _e1230);
                const Partial _e1304 = combine(_e1302, _e1303);
                const Partial _e1305 = combine(_e1301, _e1304);
                const Partial _e1306 = combine(_e1238, _e1246);
                const Partial _e1307 = combine(_e1254, _e1262);
                const Partial _e1308 = combine(_e1306, _e1307);
                const Partial _e1309 = combine(_e1270, _e1278);
                const Partial _e1310 = combine(_e1286, _e1294);
                const Partial _e1311 = combine(_e1309, _e1310);
                const Partial _e1312 = combine(_e1308, _e1311);
                const Partial _e1313 = combine(_e1305, _e1312);
                partials[(_e1296 + local)] = _e1313;
            }
            uint old = source;
            uint _e1315 = sink;
            source = _e1315;
            sink = old;
        }
    }
    GroupMemoryBarrierWithGroupSync();
    uint _e1317 = source;
    uint _e1321 = launch[2].x;
    Partial _e1325 = partials[(_e1317 + (local >> _e1321))];
    x = _e1325;
    if ((lane == 0u)) {
        uint _e1333 = launch[0].w;
        local_6 = (unit < _e1333);
    } else {
        local_6 = false;
    }
    bool _e1336 = local_6;
    if (_e1336) {
        uint _e1341 = launch[2].w;
        uint _e1345 = x.s0_;
        out0_.Store((_e1341 + item)*4, asuint(_e1345));
        return;
    } else {
        return;
    }
}
