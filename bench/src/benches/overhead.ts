import { Agent } from 'node:http'
import { findSandboxContainer } from '../engine.ts'
import { send, streamed, type Call } from '../http-call.ts'
import type { Comparison } from '../report.ts'
import { differences, interleave, timeMs, type RepeatOptions } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { withSandbox } from '../with-sandbox.ts'

const DAEMON_PORT = 49_983

/** The smallest request of the daemon, and the stream of a command. */
const HEALTH: Call = { method: 'GET', path: '/health', status: 204 }
const START = streamed('/process.Process/Start', { process: { cmd: '/bin/true' } })

/** Requests to the daemon through the proxy, compared with the same requests directly to the container, on reused connections. */
export async function benchOverhead({ sandboxUrl, apiUrl, apiKey }: Settings): Promise<Comparison[]> {
  const agent = new Agent({ keepAlive: true })
  return await withSandbox(async ({ sandboxId }) => {
    const detail = await fetch(`${apiUrl}/sandboxes/${sandboxId}`, { headers: { 'X-API-Key': apiKey } })
    const { envdAccessToken: token = '' } = (await detail.json()) as { envdAccessToken?: string }
    const { NetworkSettings } = await findSandboxContainer(sandboxId)
    const [address] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
    const routing = { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': String(DAEMON_PORT) }
    const compare = async (what: string, { headers, ...rest }: Call, options: RepeatOptions): Promise<Comparison[]> => {
      const call = { ...rest, headers: { ...headers, 'X-Access-Token': token } }
      const samples = await interleave(options, {
        ours: () => timeMs(() => send(sandboxUrl, agent, { ...call, headers: { ...call.headers, ...routing } })),
        direct: () => timeMs(() => send(`http://${address}:${DAEMON_PORT}`, agent, call)),
      })
      const added = differences(samples.ours, samples.direct)
      return [
        { what: `${what} through the proxy`, unit: 'ms', ours: samples.ours, against: { name: 'direct', samples: samples.direct } },
        { what: `what the proxy adds to ${what}`, unit: 'ms', ours: added, goal: { of: 'ours', at: ['p50'], atMost: 1 } },
      ]
    }
    return [
      ...(await compare('GET /health', HEALTH, { times: 2000, warmUps: 300 })),
      ...(await compare('Start of `true`', START, { times: 200, warmUps: 20 })),
    ]
  }).finally(() => agent.destroy())
}
