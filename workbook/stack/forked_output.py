"""Closes the port on which a kernel hears what its forked children print."""

from typing import Any

import zmq
from ipykernel.kernelapp import IPKernelApp


def close_port() -> None:
    """Let them print by a socket beside the kernel's others, where those are no ports either."""
    app = IPKernelApp.instance() if IPKernelApp.initialized() else None
    if app is None or app.transport != "ipc":
        return
    thread, place = app.iopub_thread, f"ipc://{app.ip}-forks"

    def move() -> None:
        thread._pipe_in.socket.unbind(f"tcp://127.0.0.1:{thread._pipe_port}")
        thread._pipe_in.socket.bind(place)

    def outlet() -> tuple[Any, Any]:
        context = zmq.Context()
        out = context.socket(zmq.PUSH)
        out.linger = 3000
        out.connect(place)
        return context, out

    thread._setup_pipe_out = outlet
    thread.schedule(move)  # the socket belongs to that thread
