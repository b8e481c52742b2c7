import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const module = new URL('../src/tracing/open-tracing.ts', import.meta.url).href

/** Opens tracing in a process of its own and prints which packages of OpenTelemetry were loaded. */
const SCRIPT = `
import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({ resolve: (name, context, next) => (name.startsWith('@opentelemetry/') && loaded.add(name), next(name, context)) })
const { openTracing } = await import('${module}')
const { Secret } = await import(new URL('../config/secret.ts', '${module}'))
const url = process.argv[1] === 'on' ? 'http://127.0.0.1:9' : undefined
const config = { url, headers: new Secret(''), sampler: 'always_on', ratio: 1, resource: {} }
const end = await openTracing(config, { service: 'test', version: '1', log: undefined })
await end()
console.log([...loaded].length)
`

async function loaded(state: 'on' | 'off'): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT, state])
  return Number(stdout)
}

it('loads nothing of OpenTelemetry while tracing is off', async () => {
  expect(await loaded('on')).toBeGreaterThan(0)
  expect(await loaded('off')).toBe(0)
})
