#pragma once
// Pallas' general words: namespace palladion::pl.
#include "frontend/block_spec.h"
#include "frontend/control.h"
#include "frontend/pallas_call.h"
#include "frontend/scalar.h"
#include "frontend/scoped.h"
#include "frontend/types.h"
#include "frontend/vmap.h"
