import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack, AttackResult, Target } from '../attacks/attack.ts'
import { openHostileSandbox, type Server } from '../attacks/hostile-sandbox.ts'
import { failuresOf, type Cost, type Row } from './rows.ts'
import { findDaemon, findServerProcesses, usageOf, type KnownProcess } from './server-processes.ts'
import { Watch } from './watch.ts'

const ATTACK_MS = 60_000
/** How long an attack may take to end after its signal. */
const END_MS = 20_000
const BEFORE_MS = 3000
/** Generous: the machine has other work as well. */
const NEIGHBOUR_BOUND_MS = 20_000
/** The allowed growth over the memory before the first attack. A heap does not return all of its memory. */
const MAX_GROWTH_MIB: Readonly<Record<string, number>> = { api: 384, proxy: 256, daemon: 128 }
const RECOVERY_MS = 60_000

/** The memory of the server's processes before the first attack, by name. */
export type Baseline = Map<string, number>

/** Runs one attack on a new sandbox, and returns its cost and its effects on others. */
export async function drill(attack: Attack, server: Server, neighbour: Target, baseline: Baseline): Promise<Row> {
  await using sandbox = await openHostileSandbox(server)
  const { target } = sandbox
  const processes = [...findServerProcesses(), await findDaemon('daemon', target.sandboxId)]
  const victims = processes.filter(({ name }) => name !== 'database')
  await using watch = new Watch({ neighbour, boundMs: NEIGHBOUR_BOUND_MS, processes: victims })
  const { watched: before } = await watch.during(() => delay(BEFORE_MS))
  const usages = victims.map(usageOf)
  for (const [at, { name }] of victims.entries()) if (!baseline.has(name)) baseline.set(name, usages[at]?.mib ?? 0)

  const startedAt = performance.now()
  const { result, watched } = await watch.during(() => runAttack(attack, target))
  const seconds = (performance.now() - startedAt) / 1000
  const faults = [...(result.faults ?? []), ...failuresOf(watched.served)]
  const spent = victims.map((known, at) => (usageOf(known)?.cpuMs ?? 0) - (usages[at]?.cpuMs ?? 0))
  const dead = [...processes, await findDaemon("the neighbour's daemon", neighbour.sandboxId)].filter(
    (known) => usageOf(known) === undefined,
  )
  faults.push(...dead.map(({ name }) => `${name} has ended`), ...(await untilMemoryIsBack(victims, baseline)))
  const costs = victims.map((known, at): Cost => {
    const { name } = known
    const peakMib = watched.peaks[name] ?? 0
    return { name, cpuMs: spent[at] ?? 0, beforeMib: usages[at]?.mib ?? 0, peakMib, afterMib: usageOf(known)?.mib ?? 0 }
  })
  return {
    attack: attack.name,
    sent: result.sent,
    observed: result.observed,
    seconds,
    costs,
    before: before.served,
    during: watched.served,
    faults,
  }
}

/** Never rejects. An attack that does not stop after its signal is a fault, and the wait for it ends. */
async function runAttack(attack: Attack, target: Target): Promise<AttackResult> {
  const signal = AbortSignal.timeout(ATTACK_MS)
  setMaxListeners(0, signal)
  const ended = new AbortController()
  const failed = (why: string): AttackResult => ({ sent: '', observed: why, faults: [why] })
  try {
    return await Promise.race([
      attack.run(target, signal),
      delay(ATTACK_MS + END_MS, failed('the attack did not stop by itself'), { signal: ended.signal }),
    ])
  } catch (error) {
    return failed(`the attack could not be made: ${String(error)}`)
  } finally {
    ended.abort()
  }
}

async function untilMemoryIsBack(processes: readonly KnownProcess[], baseline: Baseline): Promise<string[]> {
  const deadline = performance.now() + RECOVERY_MS
  while (true) {
    const grown = processes.flatMap((known) => {
      const bound = (baseline.get(known.name) ?? 0) + (MAX_GROWTH_MIB[known.name] ?? 0)
      const mib = usageOf(known)?.mib ?? 0
      return mib > bound ? [`${known.name} has ${mib.toFixed(0)} MiB a minute after the attack, more than ${bound.toFixed(0)}`] : []
    })
    if (grown.length === 0 || performance.now() > deadline) return grown
    await delay(500)
  }
}
