#pragma once
// What stands where host code was hidden calls this. It is defined nowhere: a kernel that comes to
// call it cannot be linked.
extern "C" __device__ void baton_hidden_host_code();
