# ruff: noqa: E501 (a program is easier to read in one piece)
"""Programs that try to escape. Each prints ESCAPED, or what it has stolen, where it succeeds.

In capitals: FILE (a file with a secret), FOLDER (its folder), PORT and SOCKET (where somebody listens), PID (a
process of the same user).
"""

from __future__ import annotations

COMMON = {
    # files
    "read a file": "print(open('FILE').read())",
    "read a file through pathlib": "from pathlib import Path\nprint(Path('FILE').read_text())",
    "read a file through os": "import os\nprint(os.read(os.open('FILE', os.O_RDONLY), 99))",
    "read a file through a relative path": "print(open('../' * 20 + 'FILE'[1:]).read())",
    "read a file through a link": "import os\nos.symlink('FILE', 'link')\nprint(open('link').read())",
    "read a file through /proc": "print(open('/proc/self/root' + 'FILE').read())",
    "read a file through its folder": (
        "import os\nd = os.open('FOLDER', os.O_RDONLY)\nprint(os.read(os.open('secret.txt', os.O_RDONLY, dir_fd=d), 99))"
    ),
    "read a file as a path entry": "import sys\nsys.path.insert(0, 'FOLDER')\nimport stolen\nprint(stolen.SECRET)",
    "read a file as a module": (
        "import importlib.util as u\ns = u.spec_from_file_location('stolen', 'FOLDER/stolen.py')\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\nprint(m.SECRET)"
    ),
    "run a file": "import runpy\nprint(runpy.run_path('FOLDER/stolen.py')['SECRET'])",
    "take a file over": "import os\nos.rename('FILE', 'mine')\nprint('ESCAPED', open('mine').read())",
    "list a folder": "import os\nprint(os.listdir('FOLDER'))",
    "write a file": "open('FOLDER/written', 'w').write('x')\nprint('ESCAPED')",
    "remove a file": "import os\nos.remove('FILE')\nprint('ESCAPED')",
    "remove a folder": "import shutil\nshutil.rmtree('FOLDER')\nprint('ESCAPED')",
    "link into a folder": "import os\nos.symlink('/', 'FOLDER/root')\nprint('ESCAPED')",
    "change a mode": "import os\nos.chmod('FILE', 0o777)\nprint('ESCAPED')",
    "change an owner": "import os\nos.chown('FILE', os.getuid(), os.getgid())\nprint('ESCAPED')",
    "read the password file": "print('ESCAPED', open('/etc/passwd').read())",
    # environment
    "read the environment": "import os\nprint(dict(os.environ))",
    "read the environment through /proc": "print(open('/proc/self/environ').read())",
    "read another's environment": "print(open('/proc/PID/environ').read())",
    "read the parent's environment": "import os\nprint(open(f'/proc/{os.getppid()}/environ').read())",
    "read the parent's command line": "import os\nprint('ESCAPED', open(f'/proc/{os.getppid()}/cmdline').read())",
    "read the parent's memory": ("import os\nopen(f'/proc/{os.getppid()}/mem', 'rb')\nprint('ESCAPED')"),
    # network
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', PORT))\nprint('ESCAPED')",
    "send a datagram": (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.sendto(b'x', ('127.0.0.1', PORT))\nprint('ESCAPED')"
    ),
    "send raw packets": "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\nprint('ESCAPED')",
    "sniff packets": "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)\nprint('ESCAPED')",
    "speak to a service": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('SOCKET')\nprint('ESCAPED')",
    "fetch a page": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:PORT')\nprint('ESCAPED')",
    # processes
    "run a program": "import subprocess\nsubprocess.run(['/bin/true'], check=True)\nprint('ESCAPED')",
    "fork": "import os\npid = os.fork()\nprint('ESCAPED')",
    "fork bomb": "import os\nwhile True:\n  try:\n    os.fork()\n  except OSError:\n    pass",
    "spawn by posix": "import os\nos.posix_spawn('/bin/true', ['true'], {})\nprint('ESCAPED')",
    "kill a process": "import os\nos.kill(PID, 9)\nprint('ESCAPED')",
    "kill the parent": "import os\nos.kill(os.getppid(), 0)\nprint('ESCAPED')",
    "slow a process down": "import os\nos.setpriority(os.PRIO_PROCESS, PID, 19)\nprint('ESCAPED')",
    "starve a process": "import resource\nresource.prlimit(PID, resource.RLIMIT_CPU, (1, 1))\nprint('ESCAPED')",
    "leave the session": "import os\nos.setsid()\nprint('ESCAPED')",
    "join another group": "import os\nos.setpgid(0, os.getpgid(PID))\nprint('ESCAPED')",
    # tricks
    "unpickle": "import pickle\nprint(pickle.loads(b'cposix\\nsystem\\n(S\"cat FILE\"\\ntR.'))",
    "walk the classes": (
        "for c in ().__class__.__base__.__subclasses__():\n"
        "  if c.__name__ == 'Popen' or c.__name__ == '_wrap_close':\n"
        "    print(c.__init__.__globals__['__builtins__']['open']('FILE').read())"
    ),
    "walk a traceback": (
        "try:\n  1 / 0\nexcept Exception as e:\n  f = e.__traceback__.tb_frame\n"
        "  while f.f_back:\n    f = f.f_back\n  print(f.f_builtins['open']('FILE').read())"
    ),
    "format a walk": "print('{0.__class__.__init__.__globals__}'.format(type('A', (), {'__init__': lambda s: 0})()))",
    "call the C library": (
        "import ctypes\nc = ctypes.CDLL(None)\nfd = c.open(b'FILE', 0)\nb = ctypes.create_string_buffer(99)\n"
        "c.read(fd, b, 99)\nprint(b.value)"
    ),
    "load a library": "import ctypes\nctypes.CDLL('FOLDER/none.so')\nprint('ESCAPED')",
    "garbage": "import gc\nprint([o for o in gc.get_objects() if 'STOLEN_WORD' in str(o)[:2000]])",
    "ask a person": "print('ESCAPED' + input())",
    "debugger": "breakpoint()\nprint('ESCAPED')",
    "call what is not offered": "print(visit_webpage(url='http://127.0.0.1:PORT'), 'ESCAPED')",
    "call itself": "print(python(code='1'), 'ESCAPED')",
}

BOMBS = {
    "endless loop": "while True: pass",
    "endless loop in C": "sum(range(10**13))",
    "catch every exception": "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "regular expression": "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "power": "print(len(str(9**9**9)))",
    "list": "x = []\nwhile True: x.append('a' * 1000000)",
    "one string": "x = 'a' * (1 << 36)",
    "dict": "d = {}\ni = 0\nwhile True:\n  d[i] = [i]\n  i += 1",
    "sort": "x = sorted(range(10**9))",
    "format width": "print(f'{1:>{10**10}}')",
    "output": "while True: print('a' * 1000)",
    "output without newline": "while True: print('a' * 1000, end='')",
    "recursion": "def f(): return f()\nf()",
    "deep nesting": "x = []\nfor _ in range(10**7): x = [x]\nprint(x)",
}

FULL = {
    # For a backend with the whole of Python.
    "threads": (
        "import threading\ndef f():\n  while True: pass\n"
        "for _ in range(50): threading.Thread(target=f).start()\nf()"
    ),
    "ignore signals": (
        "import signal\nfor s in range(1, 65):\n  try:\n    signal.signal(s, signal.SIG_IGN)\n"
        "  except (OSError, ValueError): pass\nwhile True: pass"
    ),
    "close the line and go on": "import os\nfor i in range(64):\n  try: os.close(i)\n  except OSError: pass\nwhile True: pass",
    "hold the line": "import os, time\nfor i in range(3, 64):\n  try: os.write(i, b'[' * 60000)\n  except OSError: pass\ntime.sleep(99)",
    "flood the line": (
        "import os\nwhile True:\n  for i in range(3, 10):\n    try: os.write(i, b'x' * 60000)\n    except OSError: pass"
    ),
    "inherited files": (
        "import os\nfor i in range(3, 256):\n  try: print(os.pread(i, 99, 0))\n  except OSError: pass"
    ),
    "fill the folder": "i = 0\nwhile True:\n  open(f'f{i}', 'wb').write(b'x' * 10**7)\n  i += 1",
    "one big file": "f = open('f', 'wb')\nwhile True: f.write(b'x' * 10**7)",
    "sparse file": "f = open('f', 'wb')\nf.truncate(1 << 40)\nprint('ESCAPED')",
    "shared memory": "open('/dev/shm/x', 'w').write('x')\nprint('ESCAPED')",
    "anonymous maps": "import mmap\nm = []\nwhile True:\n  m.append(mmap.mmap(-1, 10**7))\n  m[-1][:] = b'x' * 10**7",
    "write its own code": "import sys\nopen(sys.argv[0], 'a').write('x')\nprint('ESCAPED')",
    "write a package": "import json\nopen(json.__file__, 'a').write('x')\nprint('ESCAPED')",
    "become another program": "import os\nos.execv('/bin/cat', ['cat', 'FILE'])",
    "read in another program": (
        "import os, sys\nos.execv(sys.executable, ['python', '-c', 'print(open(\"FILE\").read())'])"
    ),
    "loop in another program": "import os, sys\nos.execv(sys.executable, ['python', '-c', 'while True: pass'])",
    "lift its own limits": (
        "import resource\nfor w in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):\n"
        "  resource.setrlimit(w, (resource.RLIM_INFINITY,) * 2)\n  print('ESCAPED')"
    ),
    "change the root": "import os\nos.chroot('.')\nprint('ESCAPED')",
    "become another user": "import os\nos.setuid(12345)\nprint('ESCAPED')",
    "trace a process": "import ctypes\nif ctypes.CDLL(None).ptrace(16, PID, 0, 0) == 0: print('ESCAPED')",
    "mount": "import ctypes\nif ctypes.CDLL(None).mount(b'none', b'/mnt', b'tmpfs', 0, None) == 0: print('ESCAPED')",
    "new namespaces": "import ctypes\nif ctypes.CDLL(None).unshare(0x10020000) == 0: print('ESCAPED')",
    "ring of calls": "import ctypes\nif ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(512)) >= 0: print('ESCAPED')",
    "handle of a process": "import os\nos.pidfd_open(PID)\nprint('ESCAPED')",
    "memory of a process": (
        "import ctypes\nclass V(ctypes.Structure):\n  _fields_ = [('b', ctypes.c_void_p), ('l', ctypes.c_size_t)]\n"
        "b = ctypes.create_string_buffer(9)\nv = V(ctypes.addressof(b), 9)\n"
        "if ctypes.CDLL(None).process_vm_readv(PID, ctypes.byref(v), 1, ctypes.byref(v), 1, 0) >= 0: print('ESCAPED')"
    ),
    "program in memory": "import os\nos.memfd_create('x')\nprint('ESCAPED')",
    "attributes of a file": "import os\nos.setxattr('FILE', 'user.x', b'x')\nprint('ESCAPED')",
    "device": "import os\nos.mknod('disk', 0o60600, os.makedev(8, 0))\nprint('ESCAPED')",
    "watch a folder": "import ctypes\nif ctypes.CDLL(None).inotify_init1(0) >= 0: print('ESCAPED')",
    "set the clock": "import time\ntime.clock_settime(time.CLOCK_REALTIME, time.time())\nprint('ESCAPED')",
    "kernel messages": "import ctypes\nif ctypes.CDLL(None).klogctl(3, ctypes.create_string_buffer(99), 99) > 0: print('ESCAPED')",
    "crash": "import ctypes\nctypes.string_at(0)",
    "abort": "import os\nos.abort()",
    "stop itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "end quietly": "import os\nos._exit(0)",
}
