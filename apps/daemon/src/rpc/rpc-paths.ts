/** The paths of both services (envd.md 7.1, 8.1), written out so that routes exist before their descriptions are loaded. */
export const RPC_PATHS: readonly string[] = [
  ...['List', 'Connect', 'Start', 'Update', 'StreamInput', 'SendInput', 'SendSignal', 'CloseStdin'].map(
    (method) => `/process.Process/${method}`,
  ),
  ...['Stat', 'MakeDir', 'Move', 'ListDir', 'Remove', 'WatchDir', 'CreateWatcher', 'GetWatcherEvents', 'RemoveWatcher'].map(
    (method) => `/filesystem.Filesystem/${method}`,
  ),
]
