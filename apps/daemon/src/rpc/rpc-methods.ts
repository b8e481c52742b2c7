/** What a method takes and answers with (envd.md 6.1): one message each, or a stream on one side. */
export type MethodKind = 'unary' | 'server_stream' | 'client_stream'

function paths(service: string, methods: Readonly<Record<MethodKind, readonly string[]>>): [string, MethodKind][] {
  return (Object.keys(methods) as MethodKind[]).flatMap((kind) =>
    methods[kind].map((method): [string, MethodKind] => [`/${service}/${method}`, kind]),
  )
}

/** The methods of both services (envd.md 7.1, 8.1) by path, written out so that routes exist before their descriptions are loaded. */
export const RPC_METHODS: ReadonlyMap<string, MethodKind> = new Map([
  ...paths('process.Process', {
    unary: ['List', 'Update', 'SendInput', 'SendSignal', 'CloseStdin'],
    server_stream: ['Connect', 'Start'],
    client_stream: ['StreamInput'],
  }),
  ...paths('filesystem.Filesystem', {
    unary: ['Stat', 'MakeDir', 'Move', 'ListDir', 'Remove', 'CreateWatcher', 'GetWatcherEvents', 'RemoveWatcher'],
    server_stream: ['WatchDir'],
    client_stream: [],
  }),
])
