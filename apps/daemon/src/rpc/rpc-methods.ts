/** What a method takes and answers with (envd.md 6.1): one message each, or a stream on one side. */
export type MethodKind = 'unary' | 'server_stream' | 'client_stream'

function paths(service: string, kinds: Readonly<Record<string, MethodKind>>): [string, MethodKind][] {
  return Object.entries(kinds).map(([method, kind]) => [`/${service}/${method}`, kind])
}

/** The methods of both services (envd.md 7.1, 8.1) by path, written out so that routes exist before their descriptions are loaded. */
export const RPC_METHODS: ReadonlyMap<string, MethodKind> = new Map([
  ...paths('process.Process', {
    List: 'unary',
    Connect: 'server_stream',
    Start: 'server_stream',
    Update: 'unary',
    StreamInput: 'client_stream',
    SendInput: 'unary',
    SendSignal: 'unary',
    CloseStdin: 'unary',
  }),
  ...paths('filesystem.Filesystem', {
    Stat: 'unary',
    MakeDir: 'unary',
    Move: 'unary',
    ListDir: 'unary',
    Remove: 'unary',
    WatchDir: 'server_stream',
    CreateWatcher: 'unary',
    GetWatcherEvents: 'unary',
    RemoveWatcher: 'unary',
  }),
])
