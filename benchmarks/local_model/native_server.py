"""llama.cpp's own server, from the package xllamacpp: `python native_server.py MODEL PORT WINDOW`."""

import sys
import time

from xllamacpp import CommonParams, Server  # type: ignore[import-not-found]

parameters = CommonParams()
parameters.model.path = sys.argv[1]
parameters.port = int(sys.argv[2])
parameters.n_ctx = int(sys.argv[3])
parameters.n_parallel = 1
parameters.cpuparams.n_threads = int(sys.argv[4]) if len(sys.argv) > 4 else 2
server = Server(parameters)
while True:
    time.sleep(60)
