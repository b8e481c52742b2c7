import { createHash } from 'node:crypto'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { SandboxEndpoint } from '@sandyard/runtime/types'

/** The environment that the api sets for the daemon of a sandbox without a token. */
export const UNSECURED_ENV = {
  SANDYARD_SANDBOX_ID: 'test',
  SANDYARD_TEMPLATE_ID: 'test',
  SANDYARD_TOKEN_HASH: createHash('sha512').digest('hex'),
}

/** Waits for the daemon of the project, initialises it, runs a program as root and returns the bytes of the answer as text. */
export async function runInRealDaemon({ host, daemonPort }: SandboxEndpoint, cmd: string, args: string[] = []): Promise<string> {
  const url = `http://${host}:${daemonPort}`
  const settings = { envVars: {}, defaultUser: 'root', defaultWorkdir: '/', timestamp: new Date().toISOString() }
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(settings) }
  await pollUntil({ what: 'the daemon', timeoutMs: 30_000, everyMs: 10 }, () => fetch(`${url}/init`, init).catch(() => undefined))
  const answer = await fetch(`${url}/process.Process/Start`, {
    method: 'POST',
    headers: { 'content-type': 'application/connect+json', 'connect-protocol-version': '1' },
    body: envelope(JSON.stringify({ process: { cmd, args } })),
  })
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1')
  return text.replaceAll(
    /"(stdout|stderr)":"([^"]*)"/g,
    (_, stream, data: string) => `${stream}: ${Buffer.from(data, 'base64').toString()}`,
  )
}

/** One message of the Connect protocol: a byte of flags, four of length, the body. */
function envelope(body: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(body)
  const message = new Uint8Array(5 + bytes.length)
  new DataView(message.buffer).setUint32(1, bytes.length)
  message.set(bytes, 5)
  return message
}
