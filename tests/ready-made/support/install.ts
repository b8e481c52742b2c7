import { setTimeout as delay } from 'node:timers/promises'

interface ReadyMadeTemplate {
  readonly name: string
  readonly state: string
  readonly build: object | null
  readonly failure: { readonly message: string } | null
}

const LOOK_EVERY_MS = 1000

/**
 * Builds a ready-made template on the server of the environment, which takes minutes, and waits for it.
 *
 * @throws Error with the reason of a build that fails
 */
export async function install(name: string): Promise<void> {
  let template = (await call('POST', `/ready-made-templates/${name}`)) as ReadyMadeTemplate
  while (template.build !== null) {
    await delay(LOOK_EVERY_MS)
    const all = (await call('GET', '/ready-made-templates')) as ReadyMadeTemplate[]
    template = all.find((one) => one.name === name) ?? template
  }
  if (template.state !== 'installed') throw new Error(`${name} is ${template.state}: ${template.failure?.message}`)
}

async function call(method: string, path: string): Promise<unknown> {
  const url = `${process.env['E2B_API_URL']}${path}`
  const answer = await fetch(url, {
    method,
    headers: { 'x-api-key': process.env['E2B_API_KEY'] ?? '' },
    signal: AbortSignal.timeout(60_000),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
