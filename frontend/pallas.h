#pragma once
// Pallas' general words: namespace palladion::pl.
#include "frontend/control.h"
#include "frontend/scalar.h"
#include "frontend/scoped.h"
#include "frontend/types.h"
