"""Closes the one TCP port that a kernel keeps where its channels are sockets in the run folder.

IPython's kernel listens there for what its forked children print.
"""

from __future__ import annotations

import zmq
from ipykernel.kernelapp import IPKernelApp


def close_port() -> None:
    """Let forked children print by a socket beside the kernel's others."""
    if not IPKernelApp.initialized() or IPKernelApp.instance().transport != "ipc":
        return
    app = IPKernelApp.instance()
    thread, socket = app.iopub_thread, f"ipc://{app.ip}-forks"

    def move() -> None:
        inlet = thread._pipe_in.socket
        inlet.unbind(f"tcp://127.0.0.1:{thread._pipe_port}")
        inlet.bind(socket)

    def outlet() -> tuple[zmq.Context[zmq.Socket[bytes]], zmq.Socket[bytes]]:
        context = zmq.Context()
        out = context.socket(zmq.PUSH)
        out.linger = 3000
        out.connect(socket)
        return context, out

    thread._setup_pipe_out = outlet
    thread.schedule(move)  # a socket belongs to its thread
