import type { Target } from './attack.ts'
import { call, type Answer } from './http-call.ts'

const DAEMON_PORT = '49983'

export function daemonHeaders({ sandboxId, token }: Pick<Target, 'sandboxId' | 'token'>): Record<string, string> {
  const account = `Basic ${Buffer.from('user:').toString('base64')}`
  return { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': DAEMON_PORT, 'X-Access-Token': token, Authorization: account }
}

/** A unary call of the daemon through the proxy, such as `filesystem.Filesystem/CreateWatcher`. */
export async function callDaemon(target: Target, method: string, body: object, signal: AbortSignal): Promise<Answer> {
  const headers = { ...daemonHeaders(target), 'Content-Type': 'application/json', 'Connect-Protocol-Version': '1' }
  return await call(`${target.proxyUrl}/${method}`, { method: 'POST', headers, body: JSON.stringify(body) }, signal)
}

/** Runs a shell command to its end. The status is that of the process, such as `exit status 0`, or the HTTP status if no process ran. */
export async function runInSandbox(target: Target, script: string, signal: AbortSignal): Promise<string> {
  const message = Buffer.from(JSON.stringify({ process: { cmd: '/bin/sh', args: ['-c', script] }, stdin: false }))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  const headers = { ...daemonHeaders(target), 'Content-Type': 'application/connect+json', 'Connect-Protocol-Version': '1' }
  const answer = await call(
    `${target.proxyUrl}/process.Process/Start`,
    { method: 'POST', headers, body: Buffer.concat([head, message]) },
    signal,
  )
  return /"status":"([^"]*)"/.exec(answer.text)?.[1] ?? /"code":"(\w+)"/.exec(answer.text)?.[1] ?? answer.status
}

/** Writes a file of the sandbox's user. */
export async function writeFileInSandbox(target: Target, path: string, text: string, signal: AbortSignal): Promise<void> {
  const headers = { ...daemonHeaders(target), 'Content-Type': 'application/octet-stream' }
  const url = `${target.proxyUrl}/files?username=user&path=${encodeURIComponent(path)}`
  const answer = await call(url, { method: 'POST', headers, body: text }, signal)
  if (answer.status !== '200') throw new Error(`writing ${path} answered ${answer.status}: ${answer.text}`)
}
