#pragma once
// Pallas' general words: namespace palladion::pl.
#include "frontend/control/control.h"
#include "frontend/core/refused_names.h"
#include "frontend/core/scalar.h"
#include "frontend/core/types.h"
#include "frontend/launch/debug.h"
#include "frontend/launch/mesh.h"
#include "frontend/launch/pallas_call.h"
#include "frontend/launch/vmap.h"
#include "frontend/memory/words.h"
#include "frontend/pipeline/block_spec.h"
