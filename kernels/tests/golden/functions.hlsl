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

bool nan32_(float x_2)
{
    return ((asuint(x_2) & 2147483647u) > 2139095040u);
}

int order32_(float x_3)
{
    uint bits = asuint(x_3);
    return asint(((bits >= 2147483648u) ? (2147483648u - bits) : bits));
}

bool less32_(float x_4, float y)
{
    bool local_6 = (bool)0;
    bool local_7 = (bool)0;

    const int _e2 = order32_(x_4);
    const int _e3 = order32_(y);
    if ((_e2 < _e3)) {
        const bool _e7 = nan32_(x_4);
        local_6 = !(_e7);
    } else {
        local_6 = false;
    }
    bool _e10 = local_6;
    if (_e10) {
        const bool _e13 = nan32_(y);
        local_7 = !(_e13);
    } else {
        local_7 = false;
    }
    bool _e16 = local_7;
    return _e16;
}

bool equal32_(float x_5, float y_1)
{
    bool local_8 = (bool)0;

    const int _e2 = order32_(x_5);
    const int _e3 = order32_(y_1);
    if ((_e2 == _e3)) {
        const bool _e7 = nan32_(x_5);
        local_8 = !(_e7);
    } else {
        local_8 = false;
    }
    bool _e10 = local_8;
    return _e10;
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
    bool local_9 = (bool)0;
    bool local_10 = (bool)0;

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
            local_10 = ((kept & 1u) == 1u);
        } else {
            local_10 = false;
        }
        bool _e44 = local_10;
        local_9 = _e44;
    } else {
        local_9 = true;
    }
    bool _e46 = local_9;
    uint up = (_e46 ? 1u : 0u);
    return asfloat((sign_ | (((uint(max(asint(asuint(exponent) - asuint(int(1))), int(0))) << 23u) + kept) + up)));
}

float sqrt32_(float x_6)
{
    bool local_11 = (bool)0;
    uint root = 0u;
    uint rest = 0u;
    uint i = 0u;

    uint bits_1 = asuint(x_6);
    if (!(((bits_1 & 2147483647u) == 0u))) {
        local_11 = (bits_1 == 2139095040u);
    } else {
        local_11 = true;
    }
    bool _e12 = local_11;
    if (_e12) {
        return x_6;
    }
    if ((bits_1 >= 2139095040u)) {
        return asfloat((2143289344u | bits_1));
    }
    const int2 _e18 = unpack32_(bits_1);
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

void put1_(uint e_1, uint x_7)
{
    p1_.Store((e_1 & 3u)*4+(e_1 >> 2u)*16, asuint(x_7));
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
                int _e476 = j;
                j = asint(asuint(_e476) + asuint(int(1)));
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
                uint _e234 = launch[7].y;
                float v2_ = asfloat(_e234);
                const bool _e236 = less32_(v1_, v2_);
                uint _e240 = launch[6].z;
                float v4_ = asfloat(_e240);
                uint _e245 = launch[6].w;
                float v5_ = asfloat(_e245);
                float v6_ = (_e236 ? v4_ : v5_);
                const float _e248 = operand32_(v6_);
                const float _e250 = hide32_((v1_ * _e248));
                int v8_ = asint(v1_);
                const float _e253 = hide32_(float(v8_));
                const float _e255 = operand32_(2.3509887e-38);
                const float _e257 = hide32_((_e253 * _e255));
                const bool _e259 = less32_(v1_, 1.1754944e-38);
                float v14_ = (_e259 ? _e257 : _e250);
                int v15_ = asint(v14_);
                uint v17_ = asuint(v15_);
                uint v18_ = asuint(int(16));
                uint v19_ = (v17_ >> uint((v18_ & 31u)));
                int v20_ = asint(v19_);
                int v22_ = asint(asuint(v20_) * asuint(int(21845)));
                int v24_ = asint(asuint(int(1419880442)) - asuint(v22_));
                const float _e275 = hide32_(asfloat(v24_));
                const float _e276 = operand32_(_e275);
                const float _e278 = hide32_((v14_ * _e276));
                const float _e279 = operand32_(_e275);
                const float _e281 = hide32_((_e278 * _e279));
                const float _e282 = operand32_(_e275);
                const float _e284 = hide32_((_e281 * _e282));
                const float _e285 = operand32_(_e284);
                const float _e287 = hide32_((v2_ - _e285));
                const float _e289 = operand32_(_e287);
                const float _e291 = hide32_((0.17454192 * _e289));
                const float _e293 = operand32_(0.22358833);
                const float _e295 = hide32_((_e291 + _e293));
                const float _e296 = operand32_(_e287);
                const float _e298 = hide32_((_e295 * _e296));
                const float _e300 = operand32_(0.33332917);
                const float _e302 = hide32_((_e298 + _e300));
                const float _e303 = operand32_(_e302);
                const float _e305 = hide32_((_e287 * _e303));
                const float _e306 = operand32_(_e305);
                const float _e308 = hide32_((_e275 * _e306));
                const float _e309 = operand32_(_e308);
                const float _e311 = hide32_((_e275 + _e309));
                uint _e315 = launch[7].x;
                float v40_ = asfloat(_e315);
                float v41_ = (_e236 ? v40_ : v2_);
                const float _e318 = operand32_(v41_);
                const float _e320 = hide32_((v14_ * _e318));
                uint _e324 = launch[7].z;
                float v43_ = asfloat(_e324);
                float v44_ = (_e236 ? v43_ : v2_);
                const float _e327 = operand32_(v44_);
                const float _e329 = hide32_((_e311 * _e327));
                const float _e330 = operand32_(_e329);
                const float _e332 = hide32_((_e329 * _e330));
                const float _e333 = operand32_(_e332);
                const float _e335 = hide32_((_e320 * _e333));
                const float _e336 = operand32_(_e335);
                const float _e338 = hide32_((_e335 * _e336));
                const float _e339 = operand32_(_e335);
                const float _e341 = hide32_((_e338 * _e339));
                const float _e342 = operand32_(_e320);
                const float _e344 = hide32_((_e341 - _e342));
                const float _e346 = operand32_(0.33333334);
                const float _e348 = hide32_((_e332 * _e346));
                const float _e349 = operand32_(_e348);
                const float _e351 = hide32_((_e344 * _e349));
                const float _e352 = operand32_(_e351);
                const float _e354 = hide32_((_e335 - _e352));
                uint _e358 = launch[7].w;
                float v55_ = asfloat(_e358);
                float v56_ = (_e236 ? v5_ : v55_);
                const float _e361 = operand32_(v56_);
                const float _e363 = hide32_((_e354 * _e361));
                uint _e367 = launch[6].x;
                float v58_ = asfloat(_e367);
                const bool _e369 = less32_(v1_, v58_);
                int v60_ = asint(v0_);
                uint _e374 = launch[6].y;
                float v61_ = asfloat(_e374);
                int v62_ = asint(v61_);
                int v63_ = (v60_ & v62_);
                int v64_ = asint(_e363);
                int v65_ = (v64_ ^ v63_);
                const float _e381 = hide32_(asfloat(v65_));
                float v67_ = (_e369 ? _e381 : v0_);
                int v68_ = asint(v67_);
                int v70_ = (v68_ & int(2139095040));
                int v72_ = (v68_ & int(-2147483647 - 1));
                const float _e390 = hide32_(asfloat(v72_));
                bool v75_ = (v70_ == int(0));
                float v76_ = (v75_ ? _e390 : v67_);
                int v77_ = (v60_ & int(2139095040));
                int v78_ = (v60_ & int(-2147483647 - 1));
                const float _e396 = hide32_(asfloat(v78_));
                bool v80_ = (v77_ == int(0));
                float v81_ = (v80_ ? _e396 : v0_);
                int v82_ = asint(v76_);
                int v83_ = (v82_ & int(2139095040));
                int v84_ = (v82_ & int(-2147483647 - 1));
                const float _e403 = hide32_(asfloat(v84_));
                bool v86_ = (v83_ == int(0));
                float v87_ = (v86_ ? _e403 : v76_);
                float v88_ = asfloat((asuint(v81_) & 2147483647u));
                float v89_ = asfloat((asuint(v87_) & 2147483647u));
                const bool _e414 = less32_(v88_, v89_);
                float v91_ = (_e414 ? v89_ : v88_);
                const bool _e417 = less32_(1.1529215e18, v91_);
                const bool _e419 = less32_(v91_, 8.881784e-16);
                uint _e423 = launch[8].y;
                float v96_ = asfloat(_e423);
                uint _e428 = launch[8].x;
                float v97_ = asfloat(_e428);
                float v98_ = (_e419 ? v97_ : v2_);
                float v99_ = (_e417 ? v96_ : v98_);
                float v100_ = (_e419 ? v96_ : v2_);
                float v101_ = (_e417 ? v97_ : v100_);
                const float _e434 = operand32_(v99_);
                const float _e436 = hide32_((v88_ * _e434));
                const float _e437 = operand32_(v99_);
                const float _e439 = hide32_((v89_ * _e437));
                const float _e440 = operand32_(_e436);
                const float _e442 = hide32_((_e436 * _e440));
                const float _e443 = operand32_(_e439);
                const float _e445 = hide32_((_e439 * _e443));
                const float _e446 = operand32_(_e445);
                const float _e448 = hide32_((_e442 + _e446));
                const float _e449 = sqrt32_(_e448);
                const float _e450 = operand32_(v101_);
                const float _e452 = hide32_((_e449 * _e450));
                const bool _e453 = equal32_(v88_, v58_);
                const bool _e454 = equal32_(v89_, v58_);
                bool v111_ = (_e453 | _e454);
                float v112_ = (v111_ ? v58_ : _e452);
                int v113_ = asint(v112_);
                int v114_ = (v113_ & int(2139095040));
                int v115_ = (v113_ & int(-2147483647 - 1));
                const float _e461 = hide32_(asfloat(v115_));
                bool v117_ = (v114_ == int(0));
                float v118_ = (v117_ ? _e461 : v112_);
                uint4 _e464 = o1_0_;
                const uint4 _e471 = move32_(_e464, uint4(asuint(v118_), 0u, 0u, 0u), 1u);
                o1_0_ = _e471;
                uint4 _e472 = r0_0_0_;
                uint4 _e473 = r0_0_1_;
                const uint4 _e475 = move32_(_e472, _e473, 1u);
                r0_0_0_ = _e475;
            }
        }
        uint _e482 = launch[0].w;
        if ((item_0_ < _e482)) {
            if ((((head_0_ | tail_0_) | (e1_0_ & int(3))) == int(0))) {
                uint _e495 = launch[5].w;
                local_1 = (asint(_e495) == int(1));
            } else {
                local_1 = false;
            }
            bool _e500 = local_1;
            if (_e500) {
                uint4 _e507 = o1_0_;
                p1_.Store4(asint(asuint((e1_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e507));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e517 = local_2;
                if (_e517) {
                    uint _e522 = launch[5].w;
                    uint _e528 = o1_0_.x;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e522)))))), _e528);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e538 = local_3;
                if (_e538) {
                    uint _e543 = launch[5].w;
                    uint _e549 = o1_0_.y;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e543)))))), _e549);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e559 = local_4;
                if (_e559) {
                    uint _e564 = launch[5].w;
                    uint _e570 = o1_0_.z;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e564)))))), _e570);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e580 = local_5;
                if (_e580) {
                    uint _e585 = launch[5].w;
                    uint _e591 = o1_0_.w;
                    put1_(asuint(asint(asuint(e1_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e585)))))), _e591);
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
