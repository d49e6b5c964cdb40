#pragma once
// Pallas' general words: namespace palladion::pl.
#include "frontend/control/control.h"
#include "frontend/core/scalar.h"
#include "frontend/core/types.h"
#include "frontend/launch/pallas_call.h"
#include "frontend/launch/vmap.h"
#include "frontend/memory/scoped.h"
#include "frontend/pipeline/block_spec.h"
