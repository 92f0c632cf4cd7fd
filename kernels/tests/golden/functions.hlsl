cbuffer launch : register(b0) { uint4 launch[9]; }
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

int2 unpack32_(uint a_1)
{
    uint lead = ((31u - firstbithigh(max(a_1, 1u))) - 8u);
    int2 tiny = int2(asint((a_1 << lead)), asint(asuint(int(1)) - asuint(asint(lead))));
    int2 normal = int2(asint(((a_1 & 8388607u) | 8388608u)), asint((a_1 >> 23u)));
    return ((a_1 < 8388608u) ? tiny : normal);
}

float pack32_(uint sign_, int exponent, uint m)
{
    bool local_6 = (bool)0;
    bool local_7 = (bool)0;

    if ((exponent >= int(255))) {
        return asfloat((sign_ | 2139095040u));
    }
    if ((exponent < int(-23))) {
        return asfloat(sign_);
    }
    uint drop = (8u + uint(max(asint(asuint(int(1)) - asuint(exponent)), int(0))));
    uint kept = ((drop == 32u) ? 0u : (m >> (drop & 31u)));
    uint rest_1 = (m << (32u - drop));
    if (!((rest_1 > 2147483648u))) {
        if ((rest_1 == 2147483648u)) {
            local_7 = ((kept & 1u) == 1u);
        } else {
            local_7 = false;
        }
        bool _e44 = local_7;
        local_6 = _e44;
    } else {
        local_6 = true;
    }
    bool _e46 = local_6;
    uint up = (_e46 ? 1u : 0u);
    return asfloat((sign_ | (((uint(max(asint(asuint(exponent) - asuint(int(1))), int(0))) << 23u) + kept) + up)));
}

float sqrt32_(float x_2)
{
    bool local_8 = (bool)0;
    uint root = 0u;
    uint rest = 0u;
    uint i = 0u;

    uint bits = asuint(x_2);
    if (!(((bits & 2147483647u) == 0u))) {
        local_8 = (bits == 2139095040u);
    } else {
        local_8 = true;
    }
    bool _e12 = local_8;
    if (_e12) {
        return x_2;
    }
    if ((bits >= 2139095040u)) {
        return asfloat((2143289344u | bits));
    }
    const int2 _e18 = unpack32_(bits);
    uint odd = (asuint(asint(asuint(_e18.y) - asuint(int(127)))) & 1u);
    uint m_1 = (asuint(_e18.x) << (odd + 7u));
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e75 = i;
            i = (_e75 + 1u);
        }
        loop_init = false;
        uint _e36 = i;
        if ((_e36 < 26u)) {
        } else {
            break;
        }
        {
            uint _e40 = i;
            uint at = (2u * _e40);
            uint pair = ((at <= 30u) ? ((m_1 >> ((30u - at) & 31u)) & 3u) : 0u);
            uint _e53 = rest;
            rest = ((_e53 << 2u) | pair);
            uint _e57 = root;
            uint trial = ((_e57 << 2u) | 1u);
            uint _e62 = rest;
            bool fits = (_e62 >= trial);
            uint _e64 = rest;
            uint _e65 = rest;
            rest = (fits ? (_e65 - trial) : _e64);
            uint _e68 = root;
            root = ((_e68 << 1u) | (fits ? 1u : 0u));
        }
    }
    int exponent_1 = asint(asuint((asint(asuint(asint(asuint(_e18.y) - asuint(int(127)))) - asuint(asint(odd))) >> 1u)) + asuint(int(127)));
    uint _e88 = root;
    uint _e93 = rest;
    const float _e98 = pack32_(0u, exponent_1, ((_e88 << 6u) | ((_e93 != 0u) ? 1u : 0u)));
    return _e98;
}

uint at0_(uint e)
{
    uint _e8 = asuint(p0_.Load((e & 3u)*4+(e >> 2u)*16));
    return _e8;
}

void put1_(uint e_1, uint x_3)
{
    p1_.Store((e_1 & 3u)*4+(e_1 >> 2u)*16, asuint(x_3));
    return;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
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
    uint _e44 = first;
    uint item_0_ = (_e44 + 0u);
    uint _e50 = launch[0].w;
    pack_0_ = min(item_0_, (_e50 - 1u));
    uint _e58 = launch[5].x;
    int row0_0_ = asint(_e58);
    uint _e63 = launch[5].z;
    int row1_0_ = asint(_e63);
    uint _e65 = pack_0_;
    uint _e75 = launch[5].w;
    int x_0_ = asint(asuint(asint(asuint(asint(_e65)) * asuint(int(4)))) - asuint(((asint(_e75) == int(1)) ? (row1_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e90 = launch[4].x;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e90))), int(0));
    uint _e98 = launch[5].y;
    int b0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e98)))));
    uint _e105 = launch[5].w;
    int e1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e105)))));
    uint _e116 = launch[5].y;
    if ((asint(_e116) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e139 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e139;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint4 _e153 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
            r0_0_1_ = _e153;
        }
    } else {
        uint _e162 = launch[5].y;
        const uint _e167 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e162)))))));
        uint _e176 = launch[5].y;
        const uint _e181 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e176)))))));
        uint _e190 = launch[5].y;
        const uint _e195 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e190)))))));
        uint _e204 = launch[5].y;
        const uint _e209 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e204)))))));
        r0_0_0_ = uint4(_e167, _e181, _e195, _e209);
    }
    {
        uint _e211 = s0_0_;
        if ((_e211 != 0u)) {
            uint4 _e214 = r0_0_0_;
            uint4 _e215 = r0_0_1_;
            uint _e216 = s0_0_;
            const uint4 _e217 = move32_(_e214, _e215, _e216);
            r0_0_0_ = _e217;
        }
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                int _e419 = j;
                j = asint(asuint(_e419) + asuint(int(1)));
            }
            loop_init_1 = false;
            int _e221 = j;
            if ((_e221 < int(4))) {
            } else {
                break;
            }
            {
                uint _e225 = r0_0_0_.x;
                float v0_ = asfloat(_e225);
                float v1_ = asfloat((asuint(v0_) & 2147483647u));
                uint _e234 = launch[7].w;
                float v2_ = asfloat(_e234);
                bool v3_ = (v1_ < v2_);
                uint _e240 = launch[6].z;
                float v4_ = asfloat(_e240);
                uint _e245 = launch[6].w;
                float v5_ = asfloat(_e245);
                float v6_ = (v3_ ? v4_ : v5_);
                const float _e248 = operand32_(v6_);
                const float _e250 = hide32_((v1_ * _e248));
                int v8_ = asint(_e250);
                uint v10_ = asuint(v8_);
                uint v11_ = asuint(int(16));
                uint v12_ = (v10_ >> uint((v11_ & 31u)));
                int v13_ = asint(v12_);
                int v15_ = asint(asuint(v13_) * asuint(int(21845)));
                int v17_ = asint(asuint(int(1419880442)) - asuint(v15_));
                const float _e265 = hide32_(asfloat(v17_));
                const float _e266 = operand32_(_e265);
                const float _e268 = hide32_((_e250 * _e266));
                const float _e269 = operand32_(_e265);
                const float _e271 = hide32_((_e268 * _e269));
                const float _e272 = operand32_(_e265);
                const float _e274 = hide32_((_e271 * _e272));
                const float _e275 = operand32_(_e274);
                const float _e277 = hide32_((v2_ - _e275));
                const float _e279 = operand32_(_e277);
                const float _e281 = hide32_((0.17454192 * _e279));
                const float _e283 = operand32_(0.22358833);
                const float _e285 = hide32_((_e281 + _e283));
                const float _e286 = operand32_(_e277);
                const float _e288 = hide32_((_e285 * _e286));
                const float _e290 = operand32_(0.33332917);
                const float _e292 = hide32_((_e288 + _e290));
                const float _e293 = operand32_(_e292);
                const float _e295 = hide32_((_e277 * _e293));
                const float _e296 = operand32_(_e295);
                const float _e298 = hide32_((_e265 * _e296));
                const float _e299 = operand32_(_e298);
                const float _e301 = hide32_((_e265 + _e299));
                const float _e302 = operand32_(_e301);
                const float _e304 = hide32_((_e301 * _e302));
                const float _e305 = operand32_(_e304);
                const float _e307 = hide32_((_e250 * _e305));
                const float _e308 = operand32_(_e307);
                const float _e310 = hide32_((_e307 * _e308));
                const float _e311 = operand32_(_e307);
                const float _e313 = hide32_((_e310 * _e311));
                const float _e314 = operand32_(_e250);
                const float _e316 = hide32_((_e313 - _e314));
                const float _e318 = operand32_(0.33333334);
                const float _e320 = hide32_((_e304 * _e318));
                const float _e321 = operand32_(_e320);
                const float _e323 = hide32_((_e316 * _e321));
                const float _e324 = operand32_(_e323);
                const float _e326 = hide32_((_e307 - _e324));
                uint _e330 = launch[7].x;
                float v42_ = asfloat(_e330);
                uint _e335 = launch[7].y;
                float v43_ = asfloat(_e335);
                float v44_ = (v3_ ? v42_ : v43_);
                const float _e338 = operand32_(v44_);
                const float _e340 = hide32_((_e326 * _e338));
                uint _e344 = launch[6].x;
                float v46_ = asfloat(_e344);
                bool v47_ = (v1_ < v46_);
                int v48_ = asint(v0_);
                uint _e351 = launch[6].y;
                float v49_ = asfloat(_e351);
                int v50_ = asint(v49_);
                int v51_ = (v48_ & v50_);
                int v52_ = asint(_e340);
                int v53_ = (v52_ ^ v51_);
                const float _e358 = hide32_(asfloat(v53_));
                float v55_ = (v47_ ? _e358 : v0_);
                float v56_ = asfloat((asuint(v55_) & 2147483647u));
                bool v57_ = (v1_ < v56_);
                float v58_ = (v57_ ? v56_ : v1_);
                bool v60_ = (1.1529215e18 < v58_);
                bool v62_ = (v58_ < 8.881784e-16);
                uint _e373 = launch[8].x;
                float v63_ = asfloat(_e373);
                uint _e378 = launch[7].z;
                float v64_ = asfloat(_e378);
                float v65_ = (v62_ ? v64_ : v2_);
                float v66_ = (v60_ ? v63_ : v65_);
                float v67_ = (v62_ ? v63_ : v2_);
                float v68_ = (v60_ ? v64_ : v67_);
                const float _e384 = operand32_(v66_);
                const float _e386 = hide32_((v1_ * _e384));
                const float _e387 = operand32_(v66_);
                const float _e389 = hide32_((v56_ * _e387));
                const float _e390 = operand32_(_e386);
                const float _e392 = hide32_((_e386 * _e390));
                const float _e393 = operand32_(_e389);
                const float _e395 = hide32_((_e389 * _e393));
                const float _e396 = operand32_(_e395);
                const float _e398 = hide32_((_e392 + _e396));
                const float _e399 = sqrt32_(_e398);
                const float _e400 = operand32_(v68_);
                const float _e402 = hide32_((_e399 * _e400));
                bool v76_ = (v1_ == v46_);
                bool v77_ = (v56_ == v46_);
                bool v78_ = (v76_ | v77_);
                float v79_ = (v78_ ? v46_ : _e402);
                uint4 _e407 = o1_0_;
                const uint4 _e414 = move32_(_e407, uint4(asuint(v79_), 0u, 0u, 0u), 1u);
                o1_0_ = _e414;
                uint4 _e415 = r0_0_0_;
                uint4 _e416 = r0_0_1_;
                const uint4 _e418 = move32_(_e415, _e416, 1u);
                r0_0_0_ = _e418;
            }
        }
        uint _e425 = launch[0].w;
        if ((item_0_ < _e425)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e438 = launch[5].w;
                local_1 = (asint(_e438) == int(1));
            } else {
                local_1 = false;
            }
            bool _e443 = local_1;
            if (_e443) {
                uint4 _e450 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e450));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e460 = local_2;
                if (_e460) {
                    uint _e465 = launch[5].w;
                    uint _e471 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e465)))))), _e471);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e481 = local_3;
                if (_e481) {
                    uint _e486 = launch[5].w;
                    uint _e492 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e486)))))), _e492);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e502 = local_4;
                if (_e502) {
                    uint _e507 = launch[5].w;
                    uint _e513 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e507)))))), _e513);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e523 = local_5;
                if (_e523) {
                    uint _e528 = launch[5].w;
                    uint _e534 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e528)))))), _e534);
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
