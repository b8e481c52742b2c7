import { Agent } from 'node:http'
import { findSandboxContainer } from '../engine.ts'
import { send, streamed, type Call } from '../http-call.ts'
import type { Comparison } from '../report.ts'
import { differences, interleave, timeMs, type RepeatOptions } from '../samples.ts'
import { cpuMsOfProcess, findServerProcesses } from '../server-processes.ts'
import type { Settings } from '../settings.ts'
import { startBareRelay } from '../start-bare-relay.ts'
import { withSandbox } from '../with-sandbox.ts'

const DAEMON_PORT = 49_983
const RELAY = 'bare relay'

/** The smallest request of the daemon, and the stream of a command. */
const HEALTH: Call = { method: 'GET', path: '/health', status: 204 }
const START = streamed('/process.Process/Start', { process: { cmd: '/bin/true' } })

/** Requests for one value of the CPU time, which the kernel counts in steps of 10 ms. */
const CPU_BATCH = 400
const CPU_BATCHES = 8

/**
 * Requests to the daemon through the proxy, compared with the same requests directly to the container, on reused connections, and what the
 * process of the proxy uses for each. A process that only copies bytes shows how much of both no proxy could save.
 */
export async function benchOverhead({ sandboxUrl, apiUrl, apiKey }: Settings): Promise<Comparison[]> {
  const agent = new Agent({ keepAlive: true })
  return await withSandbox(async ({ sandboxId }) => {
    const detail = await fetch(`${apiUrl}/sandboxes/${sandboxId}`, { headers: { 'X-API-Key': apiKey } })
    const { envdAccessToken: token = '' } = (await detail.json()) as { envdAccessToken?: string }
    const { NetworkSettings } = await findSandboxContainer(sandboxId)
    const [address] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
    const daemonUrl = `http://${address}:${DAEMON_PORT}`
    await using relay = await startBareRelay(daemonUrl)
    const routing = { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': String(DAEMON_PORT) }
    const sendTo = (url: string, { headers, ...rest }: Call): Promise<Buffer> =>
      send(url, agent, { ...rest, headers: { ...headers, 'X-Access-Token': token, ...routing } })
    const compare = async (what: string, call: Call, { atMost, ...options }: RepeatOptions & { atMost: number }): Promise<Comparison[]> => {
      const samples = await interleave(options, {
        ours: () => timeMs(() => sendTo(sandboxUrl, call)),
        relay: () => timeMs(() => sendTo(relay.origin, call)),
        direct: () => timeMs(() => sendTo(daemonUrl, call)),
      })
      const added = differences(samples.ours, samples.direct)
      const byRelay = { name: RELAY, samples: differences(samples.relay, samples.direct) }
      return [
        { what: `${what} through the proxy`, unit: 'ms', ours: samples.ours, against: { name: 'direct', samples: samples.direct } },
        { what: `what the proxy adds to ${what}`, unit: 'ms', ours: added, against: byRelay, goal: { of: 'ours', at: ['p50'], atMost } },
      ]
    }
    const comparisons = [
      ...(await compare('GET /health', HEALTH, { times: 2000, warmUps: 300, atMost: 0.4 })),
      ...(await compare('Start of `true`', START, { times: 200, warmUps: 20, atMost: 1 })),
    ]
    const cpu = await interleave(
      { times: CPU_BATCHES, warmUps: 1 },
      {
        ours: await cpuMeter(sandboxUrl, () => sendTo(sandboxUrl, HEALTH)),
        relay: await cpuMeter(relay.origin, () => sendTo(relay.origin, HEALTH)),
      },
    )
    comparisons.push({
      what: 'CPU of the proxy for a GET /health',
      unit: 'ms',
      ours: cpu.ours,
      against: { name: RELAY, samples: cpu.relay },
      goal: { of: 'ours', at: ['p50'], atMost: 0.25 },
    })
    return comparisons
  }).finally(() => agent.destroy())
}

/** Measures a batch of requests: the CPU milliseconds of the process that listens at `url`, and of its children, for each. */
async function cpuMeter(url: string, request: () => Promise<unknown>): Promise<() => Promise<number>> {
  const processes = await findServerProcesses(url)
  const cpuMs = async (): Promise<number> => {
    const each = await Promise.all(processes.map(({ pid }) => cpuMsOfProcess(pid)))
    return each.reduce((sum, ms) => sum + ms, 0)
  }
  return async () => {
    const before = await cpuMs()
    for (let i = 0; i < CPU_BATCH; i++) await request()
    return ((await cpuMs()) - before) / CPU_BATCH
  }
}
