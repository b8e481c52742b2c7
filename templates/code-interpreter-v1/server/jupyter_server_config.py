# The Jupyter server of the code interpreter. Only the server of /opt/code-interpreter connects to it, with a token of its own.
import ctypes
import os
import signal

from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

c = get_config()  # noqa: F821

# Ends with the server that started it, also when that is killed. Kernels end with their Jupyter server.
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

# Only what is used is loaded.
ServerApp.default_services = ("auth", "kernels", "kernelspecs", "security")


class Kernels(AsyncMappingKernelManager):
    """Starts kernels in any directory of the file system, and speaks to those that can over files that only root opens."""

    def cwd_for_path(self, path, **kwargs):
        return path

    def pre_start_kernel(self, kernel_name, kwargs):
        kernel, name, kernel_id = super().pre_start_kernel(kernel_name, kwargs)
        if name in ("python3", "bash", "java"):
            kernel.transport = "ipc"
        return kernel, name, kernel_id


class Channels(ZMQChannelsWebsocketConnection):
    """Sends each message at once: otherwise the second of a cell waits 40 ms for the acknowledgement of the first (Nagle, delayed ACK)."""

    def connect(self):
        self.websocket_handler.set_nodelay(True)
        return super().connect()


c.ServerApp.kernel_manager_class = Kernels
c.ServerApp.kernel_websocket_connection_class = Channels
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port_retries = 0
c.ServerApp.allow_root = True
c.ServerApp.open_browser = False
c.ServerApp.root_dir = "/home/user"
c.ServerApp.terminals_enabled = False
c.ServerApp.log_level = "WARN"
# Popped, so that kernels do not inherit it.
c.IdentityProvider.token = os.environ.pop("CODE_INTERPRETER_JUPYTER_TOKEN")
# Otherwise output beyond 1 MB/s is dropped.
c.ZMQChannelsWebsocketConnection.limit_rate = False
# A kernel that has died is noticed after a second.
c.KernelRestarter.time_to_dead = 1.0
