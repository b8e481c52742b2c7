import { DaemonCallError } from '../../daemon/daemon-call-error.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { startProcess } from '../../daemon/start-process.ts'

/**
 * Ends everything but the init process, the daemon and itself. What forks is stopped first, so that nothing new comes of it; each
 * round finds what the one before it missed. It is of builtins only, so it needs no second process.
 */
const SCRIPT = `
each() {
  for path in /proc/[0-9]*; do
    pid=\${path#/proc/}
    case $pid in 1 | $$ | $PPID) ;; *) kill "-$1" "$pid" 2>/dev/null ;; esac
  done
}
for signal in STOP STOP STOP STOP STOP KILL KILL; do each "$signal"; done
exit 0
`
const TIMEOUT_MS = 60_000

/**
 * Ends what a command has left running.
 *
 * @throws DaemonCallError, also when it left no room for one process more; the abort reason
 */
export async function endLeftovers(daemon: Daemon, signal: AbortSignal): Promise<void> {
  const request = { cmd: '/bin/sh', args: ['-c', SCRIPT], user: 'root', cwd: '/', timeoutMs: TIMEOUT_MS }
  try {
    for await (const event of startProcess(daemon, request, signal)) if (event.kind === 'end') return
  } catch (err) {
    if (!(err instanceof DaemonCallError)) throw err
    throw new DaemonCallError(err.code, 'what it left running could not be ended', { cause: err })
  }
}
