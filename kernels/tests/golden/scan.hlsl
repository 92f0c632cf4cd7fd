struct Outer {
    uint i0_;
};

cbuffer launch : register(b0) { uint4 launch[9]; }
ByteAddressBuffer p0_ : register(t1);
ByteAddressBuffer p1_ : register(t2);
RWByteAddressBuffer p2_ : register(u3);

float hide32_(float x_1)
{
    uint _e5 = launch[0].x;
    return asfloat((asuint(x_1) ^ _e5));
}

float operand32_(float x_2)
{
    uint _e5 = launch[0].x;
    return asfloat((asuint(x_2) + _e5));
}

Outer outer(uint row_1)
{
    Outer at_1 = (Outer)0;
    uint rest = (uint)0;

    rest = row_1;
    uint _e4 = rest;
    at_1.i0_ = _e4;
    Outer _e5 = at_1;
    const Outer outer_1 = _e5;
    return outer_1;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(256, 1, 1)]
void scan(uint3 group : SV_GroupID, uint local : SV_GroupIndex)
{
    uint first = (uint)0;
    uint row = 0u;
    Outer at = (Outer)0;
    uint x = (uint)0;
    float sum = (float)0;
    uint at_line = 0u;

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
    uint _e51 = launch[0].w;
    if ((_e47 < _e51)) {
        uint _e53 = first;
        x = _e53;
        if ((chunks == 0u)) {
            uint _e57 = first;
            uint _e61 = launch[4].y;
            row = naga_div(_e57, _e61);
            uint _e63 = first;
            uint _e64 = row;
            uint _e68 = launch[4].y;
            x = (_e63 - (_e64 * _e68));
            uint _e71 = row;
            const Outer _e72 = outer(_e71);
            at = _e72;
        }
        uint i0_ = at.i0_;
        uint i1_ = x;
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e168 = at_line;
                at_line = (_e168 + 1u);
            }
            loop_init = false;
            uint _e79 = at_line;
            uint _e83 = launch[1].w;
            if ((_e79 < _e83)) {
            } else {
                break;
            }
            {
                uint i1_1 = at_line;
                uint _e89 = launch[6].x;
                uint _e95 = launch[6].y;
                uint _e103 = launch[6].z;
                int e0_ = asint(asuint(asint(asuint(asint(_e89)) + asuint(asint(asuint(asint(i0_)) * asuint(asint(_e95)))))) + asuint(asint(asuint(asint(i1_1)) * asuint(asint(_e103)))));
                uint _e110 = launch[6].w;
                uint _e116 = launch[7].x;
                uint _e124 = launch[7].y;
                int e1_ = asint(asuint(asint(asuint(asint(_e110)) + asuint(asint(asuint(asint(i0_)) * asuint(asint(_e116)))))) + asuint(asint(asuint(asint(i1_1)) * asuint(asint(_e124)))));
                uint _e131 = launch[7].z;
                uint _e137 = launch[7].w;
                uint _e145 = launch[8].x;
                int e2_ = asint(asuint(asint(asuint(asint(_e131)) + asuint(asint(asuint(asint(i0_)) * asuint(asint(_e137)))))) + asuint(asint(asuint(asint(i1_1)) * asuint(asint(_e145)))));
                float v0_ = asfloat(p0_.Load(asuint(e0_)*4));
                float v1_ = asfloat(p1_.Load(asuint(e1_)*4));
                uint _e157 = at_line;
                if ((_e157 == 0u)) {
                    sum = v1_;
                }
                float _e160 = sum;
                const float _e161 = operand32_(v0_);
                const float _e163 = hide32_((_e160 + _e161));
                uint w2_ = asuint(e2_);
                p2_.Store(w2_*4, asuint(_e163));
                sum = _e163;
            }
        }
        return;
    } else {
        return;
    }
}
