import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { createClient, type Client, type Transport } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import type { Sandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { CliParts } from '../cli-parts.ts'
import { getSandbox } from '../sandboxes.ts'

/** The daemon of a running sandbox, through the proxy. */
export interface Daemon {
  readonly sandboxID: string
  /** Of the proxy. */
  readonly url: string
  /** Of every call: which sandbox is meant, its token, and the user. */
  readonly headers: Readonly<Record<string, string>>
  readonly agent: HttpAgent
  readonly process: Client<typeof Process>
  readonly filesystem: Client<typeof Filesystem>
}

/** The daemon's port for clients (clients.md 1.4). */
export const DAEMON_PORT = 49_983
/** How often the daemon sends something on a silent stream, so that nothing on the way closes it. */
const KEEP_ALIVE_SECONDS = 50
const RESUME_TIMEOUT_MS = 180_000

/**
 * Finds a sandbox and resumes it if it is paused.
 *
 * @param user - the user of its processes and files; the default one of the sandbox when absent
 * @throws CliFailure
 */
export async function openDaemon(parts: CliParts, sandboxID: string, user?: string): Promise<Daemon> {
  const token = await findToken(parts, sandboxID)
  const url = parts.connection.sandboxUrl
  const headers = {
    'e2b-sandbox-id': sandboxID,
    'e2b-sandbox-port': String(DAEMON_PORT),
    ...(token && { 'x-access-token': token }),
    ...(user !== undefined && { authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` }),
  }
  const agent = agentFor(url)
  const transport = transportTo(url, headers, agent)
  return {
    sandboxID,
    url,
    headers,
    agent,
    process: createClient(Process, transport),
    filesystem: createClient(Filesystem, transport),
  }
}

export function agentFor(url: string): HttpAgent {
  return url.startsWith('https:') ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
}

async function findToken(parts: CliParts, sandboxID: string): Promise<string | null | undefined> {
  const { state, envdAccessToken } = await getSandbox(parts.api, sandboxID)
  if (state === 'running') return envdAccessToken
  parts.output.say(`The sandbox ${sandboxID} is paused and is resumed.`)
  const call = { path: { sandboxID }, body: {}, timeoutMs: RESUME_TIMEOUT_MS }
  return (await parts.api.call<Sandbox>('connectSandboxV2', call)).envdAccessToken
}

export function transportTo(baseUrl: string, headers: Readonly<Record<string, string>>, agent: HttpAgent): Transport {
  return createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    nodeOptions: { agent },
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of Object.entries(headers)) request.header.set(name, value)
        if (request.stream) request.header.set('keepalive-ping-interval', String(KEEP_ALIVE_SECONDS))
        return next(request)
      },
    ],
  })
}
