import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { Secret } from '@sandyard/kit/config/secret'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import type { SandboxEndpoint, SandboxSpec } from '@sandyard/runtime/types'

export interface RealDaemon {
  readonly spec: SandboxSpec
  readonly endpoint: SandboxEndpoint
}

/** A connection that stays open would break the first request after a restart of the sandbox. */
const CLOSE = { connection: 'close' }

/** Waits for the daemon and sends `/init` for a sandbox without a token. Returns the status. */
export async function initRealDaemon({ endpoint, spec }: RealDaemon, key: Secret = spec.instanceKey): Promise<number> {
  const identity = { sandboxID: spec.sandboxId, templateID: 'test', buildID: 'test', tunnelSecretHash: secretDigest('tunnels') }
  const settings = { identity, envVars: {}, defaultUser: 'root', defaultWorkdir: '/', timestamp: new Date().toISOString() }
  const init = { method: 'POST', headers: { ...CLOSE, 'x-sandyard-instance-key': key.reveal() }, body: JSON.stringify(settings) }
  const answer = await pollUntil({ what: 'the daemon', timeoutMs: 30_000, everyMs: 10 }, () =>
    fetch(`${urlOf(endpoint)}/init`, init).catch(() => undefined),
  )
  return answer.status
}

/** Initialises the daemon of the project, runs a program as root and returns the bytes of the answer as text. */
export async function runInRealDaemon(daemon: RealDaemon, cmd: string, args: string[] = []): Promise<string> {
  const url = urlOf(daemon.endpoint)
  await initRealDaemon(daemon)
  const answer = await fetch(`${url}/process.Process/Start`, {
    method: 'POST',
    headers: { ...CLOSE, 'content-type': 'application/connect+json', 'connect-protocol-version': '1' },
    body: envelope(JSON.stringify({ process: { cmd, args } })),
  })
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1')
  return text.replaceAll(
    /"(stdout|stderr)":"([^"]*)"/g,
    (_, stream, data: string) => `${stream}: ${Buffer.from(data, 'base64').toString()}`,
  )
}

function urlOf({ host, daemonPort }: SandboxEndpoint): string {
  return `http://${host}:${daemonPort}`
}

/** One message of the Connect protocol: a byte of flags, four of length, the body. */
function envelope(body: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(body)
  const message = new Uint8Array(5 + bytes.length)
  new DataView(message.buffer).setUint32(1, bytes.length)
  message.set(bytes, 5)
  return message
}
