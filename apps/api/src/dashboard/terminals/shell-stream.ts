import { daemonHeaders } from '../../daemon/daemon.ts'
import { endWhenSilent, KEEPALIVE_HEADERS } from '../../daemon/end-when-silent.ts'
import { loadDaemonRpc } from '../../daemon/load-daemon-rpc.ts'
import { toProcessEvent, type DaemonProcessEvent } from '../../daemon/process-events.ts'
import type { ReachableSandbox } from '../relay/sandbox-daemon.ts'

export interface NewShell {
  readonly user: string
  /** Undefined: the directory of the template, else the user's home. */
  readonly cwd: string | undefined
  readonly cols: number
  readonly rows: number
}

/** Messages of a terminal have 16 KiB of output (envd.md 8.5). */
const MAX_MESSAGE_BYTES = 1024 ** 2
const TERMINAL_ENV = { TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' } as const

/**
 * The events of a shell on a terminal: of a new one, or of the one that runs with this tag. If the reader stops, the shell goes on.
 *
 * @throws DaemonCallError: `not_found` when no shell runs with the tag; the abort reason
 */
export async function* followShell(
  { daemon }: ReachableSandbox,
  tag: string,
  fresh: NewShell | undefined,
  signal: AbortSignal,
): AsyncGenerator<DaemonProcessEvent> {
  const { openDaemonClients, toDaemonCallError } = await loadDaemonRpc()
  using clients = openDaemonClients(daemon, MAX_MESSAGE_BYTES)
  const left = new AbortController()
  const options = {
    headers: { ...daemonHeaders(daemon, fresh?.user ?? 'root'), ...KEEPALIVE_HEADERS },
    signal: AbortSignal.any([signal, left.signal]),
  }
  try {
    const messages =
      fresh === undefined
        ? clients.processes.connect({ process: { selector: { case: 'tag', value: tag } } }, options)
        : clients.processes.start(
            {
              process: { cmd: '/bin/bash', args: ['-i', '-l'], envs: TERMINAL_ENV, ...(fresh.cwd !== undefined && { cwd: fresh.cwd }) },
              pty: { size: { cols: fresh.cols, rows: fresh.rows } },
              tag,
            },
            options,
          )
    for await (const message of endWhenSilent<Parameters<typeof toProcessEvent>[0]>(messages, (reason) => left.abort(reason))) {
      const event = toProcessEvent(message)
      if (event !== undefined) yield event
    }
  } catch (err) {
    signal.throwIfAborted()
    throw toDaemonCallError(err)
  } finally {
    left.abort()
  }
}
