cbuffer launch : register(b0) { uint4 launch[7]; }
ByteAddressBuffer p0_ : register(t1);
ByteAddressBuffer p1_ : register(t2);
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

uint at1_(uint e_1)
{
    uint _e8 = asuint(p1_.Load((e_1 & 3u)*4+(e_1 >> 2u)*16));
    return _e8;
}

void put2_(uint e_2, uint x_2)
{
    p2_.Store((e_2 & 3u)*4+(e_2 >> 2u)*16, asuint(x_2));
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
    uint s1_0_ = 0u;
    uint4 r1_0_0_ = (uint4)0;
    uint4 r1_0_1_ = (uint4)0;
    uint4 o2_0_ = (uint4)0;
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
    uint _e68 = launch[6].x;
    int row2_0_ = asint(_e68);
    uint _e70 = pack_0_;
    uint _e80 = launch[6].y;
    int x_0_ = asint(asuint(asint(asuint(asint(_e70)) * asuint(int(4)))) - asuint(((asint(_e80) == int(1)) ? (row2_0_ & int(3)) : int(0))));
    int head_0_ = max(asint(asuint(int(0)) - asuint(x_0_)), int(0));
    uint _e95 = launch[4].x;
    int tail_0_ = max(asint(asuint(asint(asuint(x_0_) + asuint(int(4)))) - asuint(asint(_e95))), int(0));
    uint _e103 = launch[5].y;
    int b0_0_ = asint(asuint(row0_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e103)))));
    uint _e110 = launch[5].w;
    int b1_0_ = asint(asuint(row1_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e110)))));
    uint _e117 = launch[6].y;
    int e2_0_ = asint(asuint(row2_0_) + asuint(asint(asuint(x_0_) * asuint(asint(_e117)))));
    uint _e132 = launch[5].y;
    if ((asint(_e132) == int(1))) {
        s0_0_ = (asuint(b0_0_) & 3u);
        int low0_ = (asint(asuint(b0_0_) + asuint(head_0_)) >> 2u);
        int high0_ = (asint(asuint(asint(asuint(b0_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e155 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(0))), low0_), high0_)*16));
        r0_0_0_ = _e155;
        if ((asint(asuint((b0_0_ >> 2u)) + asuint(int(1))) <= high0_)) {
            uint4 _e169 = asuint(p0_.Load4(min(max(asint(asuint((b0_0_ >> 2u)) + asuint(int(1))), low0_), high0_)*16));
            r0_0_1_ = _e169;
        }
    } else {
        uint _e178 = launch[5].y;
        const uint _e183 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e178)))))));
        uint _e192 = launch[5].y;
        const uint _e197 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e192)))))));
        uint _e206 = launch[5].y;
        const uint _e211 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e206)))))));
        uint _e220 = launch[5].y;
        const uint _e225 = at0_(asuint(asint(asuint(b0_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e220)))))));
        r0_0_0_ = uint4(_e183, _e197, _e211, _e225);
    }
    uint _e230 = launch[5].w;
    if ((asint(_e230) == int(1))) {
        s1_0_ = (asuint(b1_0_) & 3u);
        int low1_ = (asint(asuint(b1_0_) + asuint(head_0_)) >> 2u);
        int high1_ = (asint(asuint(asint(asuint(b1_0_) + asuint(int(3)))) - asuint(tail_0_)) >> 2u);
        uint4 _e253 = asuint(p1_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(0))), low1_), high1_)*16));
        r1_0_0_ = _e253;
        if ((asint(asuint((b1_0_ >> 2u)) + asuint(int(1))) <= high1_)) {
            uint4 _e267 = asuint(p1_.Load4(min(max(asint(asuint((b1_0_ >> 2u)) + asuint(int(1))), low1_), high1_)*16));
            r1_0_1_ = _e267;
        }
    } else {
        uint _e276 = launch[5].w;
        const uint _e281 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(0), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e276)))))));
        uint _e290 = launch[5].w;
        const uint _e295 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(1), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e290)))))));
        uint _e304 = launch[5].w;
        const uint _e309 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(2), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e304)))))));
        uint _e318 = launch[5].w;
        const uint _e323 = at1_(asuint(asint(asuint(b1_0_) + asuint(asint(asuint(min(max(int(3), head_0_), asint(asuint(int(3)) - asuint(tail_0_)))) * asuint(asint(_e318)))))));
        r1_0_0_ = uint4(_e281, _e295, _e309, _e323);
    }
    {
        uint _e325 = s0_0_;
        if ((_e325 != 0u)) {
            uint4 _e328 = r0_0_0_;
            uint4 _e329 = r0_0_1_;
            uint _e330 = s0_0_;
            const uint4 _e331 = move32_(_e328, _e329, _e330);
            r0_0_0_ = _e331;
        }
        uint _e332 = s1_0_;
        if ((_e332 != 0u)) {
            uint4 _e335 = r1_0_0_;
            uint4 _e336 = r1_0_1_;
            uint _e337 = s1_0_;
            const uint4 _e338 = move32_(_e335, _e336, _e337);
            r1_0_0_ = _e338;
        }
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                int _e378 = j;
                j = asint(asuint(_e378) + asuint(int(1)));
            }
            loop_init = false;
            int _e342 = j;
            if ((_e342 < int(4))) {
            } else {
                break;
            }
            {
                uint _e348 = launch[6].z;
                float v0_ = asfloat(_e348);
                uint _e351 = r0_0_0_.x;
                float v1_ = asfloat(_e351);
                uint _e354 = r1_0_0_.x;
                float v2_ = asfloat(_e354);
                const float _e356 = operand32_(v2_);
                const float _e358 = hide32_((v0_ * _e356));
                const float _e359 = operand32_(_e358);
                const float _e361 = hide32_((v1_ + _e359));
                uint4 _e362 = o2_0_;
                const uint4 _e369 = move32_(_e362, uint4(asuint(_e361), 0u, 0u, 0u), 1u);
                o2_0_ = _e369;
                uint4 _e370 = r0_0_0_;
                uint4 _e371 = r0_0_1_;
                const uint4 _e373 = move32_(_e370, _e371, 1u);
                r0_0_0_ = _e373;
                uint4 _e374 = r1_0_0_;
                uint4 _e375 = r1_0_1_;
                const uint4 _e377 = move32_(_e374, _e375, 1u);
                r1_0_0_ = _e377;
            }
        }
        uint _e384 = launch[0].w;
        if ((item_0_ < _e384)) {
            if ((((head_0_ | tail_0_) | (e2_0_ & int(3))) == int(0))) {
                uint _e397 = launch[6].y;
                local_1 = (asint(_e397) == int(1));
            } else {
                local_1 = false;
            }
            bool _e402 = local_1;
            if (_e402) {
                uint4 _e409 = o2_0_;
                p2_.Store4(asint(asuint((e2_0_ >> 2u)) + asuint(int(0)))*16, asuint(_e409));
                return;
            } else {
                if ((head_0_ <= int(0))) {
                    local_2 = (int(0) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_2 = false;
                }
                bool _e419 = local_2;
                if (_e419) {
                    uint _e424 = launch[6].y;
                    uint _e430 = o2_0_.x;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(0)) * asuint(asint(_e424)))))), _e430);
                }
                if ((head_0_ <= int(1))) {
                    local_3 = (int(1) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_3 = false;
                }
                bool _e440 = local_3;
                if (_e440) {
                    uint _e445 = launch[6].y;
                    uint _e451 = o2_0_.y;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(1)) * asuint(asint(_e445)))))), _e451);
                }
                if ((head_0_ <= int(2))) {
                    local_4 = (int(2) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_4 = false;
                }
                bool _e461 = local_4;
                if (_e461) {
                    uint _e466 = launch[6].y;
                    uint _e472 = o2_0_.z;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(2)) * asuint(asint(_e466)))))), _e472);
                }
                if ((head_0_ <= int(3))) {
                    local_5 = (int(3) < asint(asuint(int(4)) - asuint(tail_0_)));
                } else {
                    local_5 = false;
                }
                bool _e482 = local_5;
                if (_e482) {
                    uint _e487 = launch[6].y;
                    uint _e493 = o2_0_.w;
                    put2_(asuint(asint(asuint(e2_0_) + asuint(asint(asuint(int(3)) * asuint(asint(_e487)))))), _e493);
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
