"""A recorded launch without a GPU: `palladion exec` around `palladion capture` around a program of the driver API."""
import sys

import numpy as np
from driver import Device

device = Device()
x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
device.launch(open(sys.argv[1]).read(), "reversed", 1, 64, device.array(x), device.array(y), 2.0)
