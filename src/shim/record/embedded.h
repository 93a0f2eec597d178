#pragma once

namespace baton::recorder {

// Saves the images inside the files that this process has loaded, once for each file: for kernels
// that came into the driver by no function that is recorded, as NVIDIA's CUDA runtime may do it.
void note_embedded_images();

}  // namespace baton::recorder
