import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Target } from './attack.ts'
import { callApi, callAsUser, fieldsOf } from './http-call.ts'

const CLEAN_UP_MS = 30_000
const REASON_CHARS = 160

export interface Registered {
  readonly templateId: string
  readonly buildId: string
}

/** Registers a template, passes it to `work` and deletes it, also after the signal. */
export async function withTemplate<T>(target: Target, work: (template: Registered) => Promise<T>, signal: AbortSignal): Promise<T> {
  const answer = await callApi(target, 'POST /v3/templates', { name: `attack-${randomBytes(5).toString('hex')}` }, signal)
  const { templateID, buildID } = fieldsOf(answer)
  if (typeof templateID !== 'string') throw new Error(`registering a template answered ${answer.status}: ${answer.text}`)
  try {
    return await work({ templateId: templateID, buildId: String(buildID) })
  } finally {
    await removeTemplate(target, templateID)
  }
}

/** Starts a build from a Dockerfile with the legacy operations. Returns the status of a refusal, or the end of the build. */
export async function buildDockerfile(target: Target, dockerfile: string, deadlineMs: number, signal: AbortSignal): Promise<string> {
  const alias = `attack-${randomBytes(5).toString('hex')}`
  const answer = await callAsUser(target, 'POST /templates', { dockerfile, alias }, signal)
  const { templateID, buildID } = fieldsOf(answer)
  if (typeof templateID !== 'string') return answer.status
  try {
    const started = await callAsUser(target, `POST /templates/${templateID}/builds/${String(buildID)}`, undefined, signal)
    if (started.status !== '202') return started.status
    return await endOfBuild(target, { templateId: templateID, buildId: String(buildID) }, deadlineMs, signal)
  } finally {
    await removeTemplate(target, templateID)
  }
}

/** Returns `ready`, `error` with its reason, or the state of the build after `deadlineMs`. */
export async function endOfBuild(
  target: Target,
  { templateId, buildId }: Registered,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<string> {
  const deadline = performance.now() + deadlineMs
  while (true) {
    const answer = await callApi(target, `GET /templates/${templateId}/builds/${buildId}/status`, undefined, signal)
    const { status, reason } = fieldsOf(answer)
    if (status === 'ready') return 'ready'
    if (status === 'error') return `error, ${String((reason as { message?: unknown } | null)?.message).slice(0, REASON_CHARS)}`
    if (performance.now() > deadline) return `still ${String(status)}`
    await delay(200, undefined, { signal })
  }
}

async function removeTemplate(target: Target, templateId: string): Promise<void> {
  await callApi(target, `DELETE /templates/${templateId}`, undefined, AbortSignal.timeout(CLEAN_UP_MS))
}
