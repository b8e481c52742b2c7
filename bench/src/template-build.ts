import { setTimeout } from 'node:timers/promises'
import type { Settings } from './settings.ts'

/** Short compared with the measured time, and long enough to cause no load on the server. */
const POLL_MS = 10

interface Registered {
  readonly templateID: string
  readonly buildID: string
}

/** What a build begins with. */
export type BuildBase = { readonly fromImage: string } | { readonly fromTemplate: string }

/** Builds a template of commands that root runs, and returns when it is ready. */
export async function buildTemplate(settings: Settings, name: string, base: BuildBase, commands: readonly string[]): Promise<string> {
  const { templateID, buildID } = (await call(settings, 'POST', '/v3/templates', { name })) as Registered
  const steps = commands.map((command) => ({ type: 'RUN', args: [command, 'root'] }))
  await call(settings, 'POST', `/v2/templates/${templateID}/builds/${buildID}`, { ...base, steps })
  const path = `/templates/${templateID}/builds/${buildID}/status?limit=0`
  for (;;) {
    const { status, reason } = (await call(settings, 'GET', path)) as { status: string; reason?: { message: string } }
    if (status === 'ready') return templateID
    if (status !== 'building' && status !== 'waiting') throw new Error(`a build failed: ${reason?.message ?? status}`)
    await setTimeout(POLL_MS)
  }
}

/** An absent template is success. */
export async function removeTemplate(settings: Settings, templateId: string): Promise<void> {
  await call(settings, 'DELETE', `/templates/${templateId}`).catch(() => undefined)
}

async function call({ apiUrl, apiKey }: Settings, method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const answer = await fetch(`${apiUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
