import type { Daemon } from '../../daemon/daemon.ts'
import { startProcess } from '../../daemon/start-process.ts'

/**
 * Sends a signal to everything but the init process, the daemon and itself, and tells whether there was anything. Of builtins only: a
 * sandbox may have no room for a second process.
 */
const FUNCTIONS = `
each() {
  found=1
  for path in /proc/[0-9]*; do
    pid=\${path#/proc/}
    case $pid in 1 | $$ | $PPID) ;; *) kill "-$1" "$pid" 2>/dev/null && found=0 ;; esac
  done
  return $found
}
`
/** What forks is stopped first, so that nothing new comes of it; each round finds what the one before it missed. */
const KILL = `for signal in STOP STOP STOP STOP STOP KILL KILL; do each "$signal"; done; exit 0`
/** As when a machine is shut down: databases write what they have, and lock files go. */
const TERMINATE = `each TERM; for second in 1 2 3 4 5; do each 0 || break; sleep 1; done`
const TIMEOUT_MS = 60_000

/**
 * Ends what a command has left running, at once.
 *
 * @throws DaemonCallError, also when it left no room for one process more; the abort reason
 */
export function endLeftovers(daemon: Daemon, signal: AbortSignal): Promise<void> {
  return run(daemon, `${FUNCTIONS}\n${KILL}`, signal)
}

/** Ends everything that runs, and gives it a few seconds to do so by itself. */
export function endGently(daemon: Daemon, signal: AbortSignal): Promise<void> {
  return run(daemon, `${FUNCTIONS}\n${TERMINATE}\n${KILL}`, signal)
}

async function run(daemon: Daemon, script: string, signal: AbortSignal): Promise<void> {
  const request = { cmd: '/bin/sh', args: ['-c', script], user: 'root', cwd: '/', timeoutMs: TIMEOUT_MS }
  for await (const event of startProcess(daemon, request, signal)) if (event.kind === 'end') return
}
