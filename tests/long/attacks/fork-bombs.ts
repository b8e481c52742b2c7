import { setTimeout as delay } from 'node:timers/promises'
import type { Attack, Target } from './attack.ts'
import { runInSandbox, writeFileInSandbox } from './daemon-call.ts'

const SECONDS = 15
/** The processes end by themselves after `SECONDS`; on a loaded machine they notice it late. */
const RECOVERY_MS = 30_000

/** Every process forks until the deadline, also after the limit of processes refuses it. */
const FORK_ONLY = `my $until = time + ${SECONDS}; while (time < $until) { fork }`
/** The same, and each process writes 2 MiB of its own, so that all of them need more than the sandbox has. */
const WITH_MEMORY = `my $until = time + ${SECONDS}; my $m = ''; while (time < $until) { my $p = fork; $m = chr(97 + $$ % 26) x (2 << 20) if defined $p && $p == 0 }`

/** Bombs that end: each process looks at the clock, so a host that suffers gets its processors back. */
export const forkBombs: readonly Attack[] = [forkBomb('fork bomb', FORK_ONLY), forkBomb('fork bomb with memory', WITH_MEMORY)]

function forkBomb(name: string, program: string): Attack {
  return {
    name,
    async run(target, signal) {
      await writeFileInSandbox(target, '/tmp/bomb.pl', program, signal)
      const startedAt = performance.now()
      const end = await runInSandbox(target, 'exec perl /tmp/bomb.pl', signal)
      const bombMs = performance.now() - startedAt
      const recoveredMs = await untilRecovered(target, signal)
      return {
        sent: `processes that fork for ${SECONDS} s`,
        observed: `the first one ended with ${end} after ${(bombMs / 1000).toFixed(1)} s; its sandbox ran a command ${renderRecovery(recoveredMs)}`,
        ...(recoveredMs === undefined && { faults: [`the sandbox ran no command within ${RECOVERY_MS / 1000} s after the bomb`] }),
      }
    },
  }
}

/** Milliseconds until the sandbox runs a command again. */
async function untilRecovered(target: Target, signal: AbortSignal): Promise<number | undefined> {
  const startedAt = performance.now()
  const within = AbortSignal.any([signal, AbortSignal.timeout(RECOVERY_MS)])
  while (!within.aborted) {
    if ((await runInSandbox(target, 'true', within)) === 'exit status 0') return performance.now() - startedAt
    await delay(100, undefined, { signal: within }).catch(() => undefined)
  }
  return undefined
}

function renderRecovery(ms: number | undefined): string {
  return ms === undefined ? 'never again' : `${(ms / 1000).toFixed(1)} s later`
}
