cbuffer launch : register(b0) { uint4 launch[7]; }
ByteAddressBuffer p0_ : register(t1);
ByteAddressBuffer p1_ : register(t2);
RWByteAddressBuffer p2_ : register(u3);

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(256, 1, 1)]
void gather(uint3 group : SV_GroupID, uint local : SV_GroupIndex)
{
    uint first = (uint)0;
    uint row = 0u;
    uint x = (uint)0;
    bool local_1 = (bool)0;

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
        uint _e69 = launch[6].x;
        uint _e75 = launch[6].y;
        int e2_ = asint(asuint(asint(_e69)) + asuint(asint(asuint(asint(i0_)) * asuint(asint(_e75)))));
        int v0_ = asint(p0_.Load(asuint(e0_)*4));
        uint _e87 = launch[3].x;
        uint slot = (uint(v0_) - _e87);
        uint _e92 = launch[3].z;
        if ((slot < _e92)) {
            local_1 = (v0_ >= int(0));
        } else {
            local_1 = false;
        }
        bool _e99 = local_1;
        if (_e99) {
            uint _e103 = launch[3].w;
            uint slot_element = (_e103 + uint(slot));
            uint w2_ = asuint(e2_);
            float _e111 = asfloat(p1_.Load(slot_element*4));
            p2_.Store(w2_*4, asuint(_e111));
            return;
        } else {
            return;
        }
    } else {
        return;
    }
}
