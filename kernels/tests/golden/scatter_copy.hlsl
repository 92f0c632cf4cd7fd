cbuffer launch : register(b0) { uint4 launch[7]; }
ByteAddressBuffer p0_ : register(t1);
ByteAddressBuffer p1_ : register(t2);
RWByteAddressBuffer p2_ : register(u3);

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(256, 1, 1)]
void scatter(uint3 group : SV_GroupID, uint local : SV_GroupIndex)
{
    uint first = (uint)0;
    uint row = 0u;
    uint x = (uint)0;

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
    uint _e48 = launch[0].w;
    if ((_e44 < _e48)) {
        uint _e50 = first;
        x = _e50;
        uint i0_ = x;
        uint _e56 = launch[5].x;
        uint _e62 = launch[5].y;
        int e0_ = asint(asuint(asint(_e56)) + asuint(asint(asuint(asint(i0_)) * asuint(asint(_e62)))));
        uint _e69 = launch[5].z;
        uint _e75 = launch[5].w;
        int e1_ = asint(asuint(asint(_e69)) + asuint(asint(asuint(asint(i0_)) * asuint(asint(_e75)))));
        uint v0_ = asuint(p0_.Load(asuint(e0_)*4));
        uint _e88 = asuint(p1_.Load((asuint(e1_) >> 1u)*4));
        int v1_ = (asint(((_e88 >> ((asuint(e1_) & 1u) << 4u)) << 16u)) >> 16u);
        uint _e104 = launch[3].x;
        uint slot = (uint(v0_) - _e104);
        uint _e109 = launch[3].z;
        if ((slot < _e109)) {
            uint _e114 = launch[3].w;
            uint slot_element = (_e114 + uint(slot));
            uint _e128; p2_.InterlockedAnd((slot_element >> 1u)*4, ~((65535u << ((slot_element & 1u) << 4u))), _e128);
            uint _e141; p2_.InterlockedOr((slot_element >> 1u)*4, ((asuint(v1_) & 65535u) << ((slot_element & 1u) << 4u)), _e141);
            return;
        } else {
            return;
        }
    } else {
        return;
    }
}
