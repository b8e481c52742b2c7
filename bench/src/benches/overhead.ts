import { Agent, request } from 'node:http'
import { findSandboxContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { withSandbox } from '../with-sandbox.ts'

const DAEMON_PORT = 49_983

/** The smallest request to the daemon, through the proxy against straight to the container, on kept connections. */
export async function benchOverhead({ sandboxUrl }: Settings): Promise<Comparison[]> {
  return withSandbox(async ({ sandboxId }) => {
    const { NetworkSettings } = await findSandboxContainer(sandboxId)
    const [address] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
    const agent = new Agent({ keepAlive: true })
    const headers = { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': String(DAEMON_PORT) }
    const proxied = new URL('/health', sandboxUrl)
    const direct = new URL(`http://${address}:${DAEMON_PORT}/health`)
    const samples = await interleave(
      { times: 2000, warmUps: 300 },
      { ours: () => timeMs(() => get(proxied, agent, headers)), direct: () => timeMs(() => get(direct, agent, headers)) },
    )
    agent.destroy()
    const added = samples.ours.map((ms, i) => ms - (samples.direct[i] ?? 0))
    return [
      { what: 'GET /health through the proxy', unit: 'ms', ours: samples.ours, against: { name: 'direct', samples: samples.direct } },
      { what: 'what the proxy adds to a request', unit: 'ms', ours: added, goal: 'p50 <= 1 ms' },
    ]
  })
}

function get(url: URL, agent: Agent, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent, headers }, (answer) => {
      if (answer.statusCode !== 204) reject(new Error(`${url.href} answered ${answer.statusCode}`))
      answer.resume().once('end', resolve)
    })
    call.once('error', reject).end()
  })
}
