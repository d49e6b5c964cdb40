#pragma once
// Pallas:Mosaic GPU's words: namespace palladion::plgpu. Includes pallas.h.
#include "frontend/array.h"
#include "frontend/barriers.h"
#include "frontend/copies.h"
#include "frontend/helpers.h"
#include "frontend/kernel.h"
#include "frontend/layout.h"
#include "frontend/pallas.h"
#include "frontend/ref.h"
#include "frontend/transforms.h"
#include "frontend/wgmma.h"
