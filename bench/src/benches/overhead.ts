import { Agent } from 'node:http'
import { findSandboxContainer } from '../engine.ts'
import { send, streamed, type Call } from '../http-call.ts'
import type { Comparison } from '../report.ts'
import { differences, interleave, timeMs, type RepeatOptions, type Samples } from '../samples.ts'
import { cpuMsOfProcess, findServerProcesses } from '../server-processes.ts'
import type { Settings } from '../settings.ts'
import { withSandbox } from '../with-sandbox.ts'

const DAEMON_PORT = 49_983

/** The smallest request of the daemon, and the stream of a command. */
const HEALTH: Call = { method: 'GET', path: '/health', status: 204 }
const START = streamed('/process.Process/Start', { process: { cmd: '/bin/true' } })

/** Requests for one value of the CPU time, which the kernel counts in steps of 10 ms. */
const CPU_BATCH = 400
const CPU_BATCHES = 8

/**
 * Requests to the daemon through the proxy, compared with the same requests directly to the container, on reused connections, and what the
 * process of the proxy uses for each.
 */
export async function benchOverhead({ sandboxUrl, apiUrl, apiKey }: Settings): Promise<Comparison[]> {
  const agent = new Agent({ keepAlive: true })
  return await withSandbox(async ({ sandboxId }) => {
    const detail = await fetch(`${apiUrl}/sandboxes/${sandboxId}`, { headers: { 'X-API-Key': apiKey } })
    const { envdAccessToken: token = '' } = (await detail.json()) as { envdAccessToken?: string }
    const { NetworkSettings } = await findSandboxContainer(sandboxId)
    const [address] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
    const routing = { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': String(DAEMON_PORT) }
    const proxied = ({ headers, ...rest }: Call): Promise<Buffer> =>
      send(sandboxUrl, agent, { ...rest, headers: { ...headers, 'X-Access-Token': token, ...routing } })
    const direct = ({ headers, ...rest }: Call): Promise<Buffer> =>
      send(`http://${address}:${DAEMON_PORT}`, agent, { ...rest, headers: { ...headers, 'X-Access-Token': token } })
    const compare = async (what: string, call: Call, { atMost, ...options }: RepeatOptions & { atMost: number }): Promise<Comparison[]> => {
      const samples = await interleave(options, {
        ours: () => timeMs(() => proxied(call)),
        direct: () => timeMs(() => direct(call)),
      })
      const added = differences(samples.ours, samples.direct)
      return [
        { what: `${what} through the proxy`, unit: 'ms', ours: samples.ours, against: { name: 'direct', samples: samples.direct } },
        { what: `what the proxy adds to ${what}`, unit: 'ms', ours: added, goal: { of: 'ours', at: ['p50'], atMost } },
      ]
    }
    const comparisons = [
      ...(await compare('GET /health', HEALTH, { times: 2000, warmUps: 300, atMost: 0.4 })),
      ...(await compare('Start of `true`', START, { times: 200, warmUps: 20, atMost: 1 })),
    ]
    const cpu = await cpuPerRequest(sandboxUrl, () => proxied(HEALTH))
    comparisons.push({ what: 'CPU of the proxy for a GET /health', unit: 'ms', ours: cpu, goal: { of: 'ours', at: ['p50'], atMost: 0.25 } })
    return comparisons
  }).finally(() => agent.destroy())
}

/** CPU milliseconds of the process that listens at `url`, for each request: a mean for each batch after the first. */
async function cpuPerRequest(url: string, request: () => Promise<unknown>): Promise<Samples> {
  const processes = await findServerProcesses(url)
  const cpuMs = async (): Promise<number> => {
    const each = await Promise.all(processes.map(({ pid }) => cpuMsOfProcess(pid)))
    return each.reduce((sum, ms) => sum + ms, 0)
  }
  const samples: number[] = []
  for (let batch = 0; batch <= CPU_BATCHES; batch++) {
    const before = await cpuMs()
    for (let i = 0; i < CPU_BATCH; i++) await request()
    if (batch > 0) samples.push(((await cpuMs()) - before) / CPU_BATCH)
  }
  return samples
}
