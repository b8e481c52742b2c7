import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Target } from './attack.ts'
import { runInSandbox, writeFileInSandbox } from './daemon-call.ts'
import { call, callApi, fieldsOf, type Answer } from './http-call.ts'

/** The addresses and credentials of a running server. */
export type Server = Pick<Target, 'apiUrl' | 'proxyUrl' | 'apiKey' | 'accessToken' | 'scale'>

/** A sandbox in which `hostile-service.ts` listens; disposing kills it. */
export interface HostileSandbox extends AsyncDisposable {
  readonly target: Target
}

const PORT = 8127
const LIFETIME_SECONDS = 900
const DEADLINE_MS = 60_000
const SERVICE = new URL('hostile-service.ts', import.meta.url)

export async function openHostileSandbox(server: Server): Promise<HostileSandbox> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const empty: Target = { ...server, sandboxId: '', token: '', port: PORT }
  const created = await create(empty, signal)
  if (created.status !== '201') throw new Error(`creating a sandbox answered ${created.status}: ${created.text}`)
  const { sandboxID, envdAccessToken } = fieldsOf(created)
  const target: Target = { ...empty, sandboxId: String(sandboxID), token: typeof envdAccessToken === 'string' ? envdAccessToken : '' }
  const dispose = async (): Promise<void> => {
    await callApi(target, `DELETE /sandboxes/${target.sandboxId}`, undefined, AbortSignal.timeout(DEADLINE_MS))
  }
  try {
    await writeFileInSandbox(target, '/tmp/hostile-service.ts', await readFile(SERVICE, 'utf8'), signal)
    const started = await runInSandbox(target, `nohup node /tmp/hostile-service.ts ${PORT} >/tmp/service.log 2>&1 &`, signal)
    if (started !== 'exit status 0') throw new Error(`starting the service ended with ${started}`)
    while ((await askService(target, signal)) !== '200') await delay(50, undefined, { signal })
    return { target, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** An overloaded server asks for a retry, for example after an attack on a slow machine. */
async function create(target: Target, signal: AbortSignal): Promise<Answer> {
  while (true) {
    const answer = await callApi(target, 'POST /v2/sandboxes', { templateID: 'base', timeout: LIFETIME_SECONDS, secure: true }, signal)
    if (answer.status !== '503') return answer
    await delay(1000, undefined, { signal })
  }
}

/** The status of a request through the proxy to the service. */
export async function askService({ proxyUrl, sandboxId, port }: Target, signal: AbortSignal): Promise<string> {
  const headers = { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': String(port) }
  return (await call(`${proxyUrl}/ok`, { headers }, signal)).status
}
