#include "quant/tables/grids.hpp"

namespace brisk::quant {

const uint64_t kIq2xxsGrid[256] = {
#include "quant/tables/iq2xxs_grid.inc"
};

const uint64_t kIq2xsGrid[512] = {
#include "quant/tables/iq2xs_grid.inc"
};

const uint64_t kIq2sGrid[1024] = {
#include "quant/tables/iq2s_grid.inc"
};

const uint64_t kIq1sGrid[2048] = {
#include "quant/tables/iq1s_grid.inc"
};

const uint32_t kIq3xxsGrid[256] = {
#include "quant/tables/iq3xxs_grid.inc"
};

const uint32_t kIq3sGrid[512] = {
#include "quant/tables/iq3s_grid.inc"
};

}  // namespace brisk::quant
