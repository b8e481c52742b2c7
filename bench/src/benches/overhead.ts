import { Agent, request, type IncomingMessage } from 'node:http'
import { findSandboxContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs, type RepeatOptions } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { withSandbox } from '../with-sandbox.ts'

const DAEMON_PORT = 49_983

/** A request without its host: the same bytes go through the proxy and straight to the container. */
interface Call {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly status: number
}

/** The smallest request of the daemon, and the stream that a command is. */
const HEALTH: Call = { method: 'GET', path: '/health', headers: {}, body: Buffer.alloc(0), status: 204 }
const START: Call = {
  method: 'POST',
  path: '/process.Process/Start',
  headers: { 'content-type': 'application/connect+json', 'connect-protocol-version': '1' },
  body: envelope({ process: { cmd: '/bin/true' } }),
  status: 200,
}

/** Requests to the daemon through the proxy, against the same straight to the container, on kept connections. */
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
      const added = samples.ours.map((ms, i) => ms - (samples.direct[i] ?? 0))
      return [
        { what: `${what} through the proxy`, unit: 'ms', ours: samples.ours, against: { name: 'direct', samples: samples.direct } },
        { what: `what the proxy adds to ${what}`, unit: 'ms', ours: added, goal: 'p50 <= 1 ms' },
      ]
    }
    return [
      ...(await compare('GET /health', HEALTH, { times: 2000, warmUps: 300 })),
      ...(await compare('Start of `true`', START, { times: 200, warmUps: 20 })),
    ]
  }).finally(() => agent.destroy())
}

function send(origin: string, agent: Agent, { method, path, headers, body, status }: Call): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: body.length > 0 ? { ...headers, 'content-length': String(body.length) } : headers }
    const call = request(new URL(path, origin), options, (answer: IncomingMessage) => {
      if (answer.statusCode !== status) reject(new Error(`${path} answered ${answer.statusCode}`))
      answer.resume().once('end', resolve)
    })
    call.once('error', reject).end(body)
  })
}

/** One message of a Connect stream: no flags, the length, JSON. */
function envelope(message: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(json.length, 1)
  return Buffer.concat([head, json])
}
