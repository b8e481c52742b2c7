import { sql } from 'kysely'
import { skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'

const MOST_MS = 1000

export const clock: Check = {
  id: 'M2',
  title: 'Clock',
  checks:
    'the clocks of the engine (SystemTime), of Postgres (`now()`) and of this machine: more than 1 s apart warns; not synchronised by NTP warns, where there is `timedatectl`',
  why: 'End times, leases and tokens are compared across these clocks: sandboxes end early or late, and servers lose their leases.',
  todo: 'Synchronise all machines with NTP.',
  async run(facts): Promise<Finding> {
    const engine = await offsetOf(facts, async () =>
      Date.parse((await facts.engine.read('its time', (docker) => docker.info() as Promise<{ SystemTime: string }>)).SystemTime),
    )
    const database = await offsetOf(facts, () =>
      facts.database.read(async (db) => (await sql<{ at: Date }>`select now() as at`.execute(db)).rows[0]?.at.getTime() ?? 0),
    )
    if (engine === undefined && database === undefined) return skipped('neither the engine nor Postgres tells its time')
    const ntp = (await facts.machine.run('timedatectl', ['show', '--property=NTPSynchronized', '--value']))?.trim()
    return worstOf(
      [
        judge('the engine', engine),
        judge('Postgres', database),
        ntp === 'no' ? warn('this machine is not synchronised by NTP', { commands: ['timedatectl set-ntp true'] }) : undefined,
      ],
      [show('engine', engine), show('Postgres', database), `NTP ${ntp === 'yes' ? 'synchronised' : 'unknown'}`].join(', '),
    )
  },
}

/** How far a clock is from ours, within the time that the question took; undefined when it does not answer. */
async function offsetOf({ machine }: Facts, ask: () => Promise<number>): Promise<number | undefined> {
  const before = machine.now()
  const theirs = await ask().catch(() => undefined)
  const after = machine.now()
  if (theirs === undefined || Number.isNaN(theirs)) return undefined
  return theirs < before ? theirs - before : theirs > after ? theirs - after : 0
}

function judge(name: string, offset: number | undefined): Finding | undefined {
  if (offset === undefined || Math.abs(offset) <= MOST_MS) return undefined
  return warn(`the clock of ${name} is ${(Math.abs(offset) / 1000).toFixed(1)} s ${offset < 0 ? 'behind' : 'ahead'}`)
}

function show(name: string, offset: number | undefined): string {
  return offset === undefined ? `${name} unknown` : `${name} within ${Math.abs(Math.round(offset))} ms`
}
