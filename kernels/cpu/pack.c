#include "kernels/cpu/pack.h"
