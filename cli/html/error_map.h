// Where two arrays differ: a small picture of their differences, and the elements around the first one.
#pragma once

#include "cli/support/json.h"
#include "verify/arrays/arrays.h"

namespace palladion::cli {

// {"shape", "rows", "columns": of the array seen as a matrix (leading dimensions together), "cells": by row
// of the picture, each [elements, differing, outside the tolerance, largest error], "cell_rows",
// "cell_columns": elements a cell, "near": {"row", "column", "got", "wanted": rows of texts, "bad": rows of 0
// (equal bits), 1 (other bits), 2 (outside)}}. Empty when the arrays are not comparable or equal.
json::object error_map(const Array& got, const Array& wanted, Tolerance tolerance,
                       const Comparison& comparison);

}  // namespace palladion::cli
