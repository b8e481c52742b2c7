import { fail, warn, worstOf, type Check, type Finding } from '../check.ts'
import { requireEngineHost } from '../facts/facts.ts'
import { showBytes } from '../sizes.ts'

const MUCH_PRESSURE = 10
/** An idle sandbox takes far less than its limit; the default of SANDYARD_MAX_SANDBOXES assumes an eighth for each. */
const IDLE_SHARE = 1 / 16

export const memory: Check = {
  id: 'M1',
  title: 'Memory',
  checks:
    'MemAvailable against the memory of the `base` template × the sandboxes of a team: under one sandbox fails, under a sixteenth of the product warns; ' +
    'PSI `some avg60` over 10 warns',
  why: 'Without memory the kernel ends processes of the host and of sandboxes; under pressure everything waits for the disk.',
  todo: 'Lower SANDYARD_MAX_SANDBOXES or SANDYARD_PAUSED_MEMORY, kill or pause sandboxes, or add memory.',
  async run(facts): Promise<Finding> {
    await requireEngineHost(facts)
    const [, kib = '0'] = /^MemAvailable:\s+(\d+) kB$/m.exec(facts.host.text('proc/meminfo')) ?? []
    const available = Number(kib) * 1024
    const { baseMemory, maxSandboxes } = facts.settings
    const [, pressure] = /^some .*avg60=([\d.]+)/m.exec(facts.host.find('proc/pressure/memory') ?? '') ?? []
    const found = `${showBytes(available)} are available: ${Math.floor(available / baseMemory)} full sandboxes of ${showBytes(baseMemory)}, of ${maxSandboxes} possible ones`
    return worstOf(
      [
        available < baseMemory ? fail(found) : undefined,
        available >= baseMemory && available < baseMemory * maxSandboxes * IDLE_SHARE ? warn(found) : undefined,
        Number(pressure ?? 0) > MUCH_PRESSURE ? warn(`processes waited for memory ${pressure} % of the last minute`) : undefined,
      ],
      `${found}; ${pressure === undefined ? 'the kernel does not measure pressure' : `pressure ${pressure} %`}`,
    )
  },
}
