import { expect, test } from 'vitest'
import { newSandboxCode } from './new-sandbox-code.ts'

const server = { apiUrl: 'http://127.0.0.1:3000' }

test('writes the shortest request in each language', () => {
  const { javascript, python, curl } = newSandboxCode({ templateID: 'base', timeout: 900 }, server)
  expect(javascript).toBe(`import { Sandbox } from 'e2b'\n\nconst sandbox = await Sandbox.create('base', {\n  timeoutMs: 900000,\n})`)
  expect(python).toBe(`from e2b import Sandbox\n\nsandbox = Sandbox.create(\n    "base",\n    timeout=900,\n)`)
  expect(curl).toContain(`'http://127.0.0.1:3000/v2/sandboxes'`)
  expect(curl).toContain(`-d '{"templateID":"base","timeout":900}'`)
})

test('writes every field, under the names of the SDKs', () => {
  const { javascript, python } = newSandboxCode(
    {
      templateID: 'base',
      timeout: 60,
      autoPause: true,
      autoResume: { enabled: true },
      secure: false,
      metadata: { 'a-b': '1' },
      envVars: { A: 'b' },
      allow_internet_access: false,
      network: { allowOut: ['x.io'], allowPublicTraffic: false },
    },
    server,
  )
  expect(javascript).toContain(`lifecycle: { onTimeout: 'pause', autoResume: true }`)
  expect(javascript).toContain(`metadata: { 'a-b': '1' }`)
  expect(javascript).toContain(`network: { allowOut: ['x.io'], allowPublicTraffic: false }`)
  expect(python).toContain(`lifecycle={"on_timeout": "pause", "auto_resume": True}`)
  expect(python).toContain(`network={"allow_out": ["x.io"], "allow_public_traffic": False}`)
  expect(python).toContain(`allow_internet_access=False`)
})

test('quotes what a text could end', () => {
  const hostile = `'; rm -rf "\\ \n$(id)`
  const { javascript = '', curl } = newSandboxCode({ templateID: 'base', metadata: { k: hostile } }, server)
  const written = /metadata: \{ k: ('.*') \}/.exec(javascript)?.[1] ?? ''
  // A JavaScript text in single quotes: as JSON it has the other quotes.
  const asJson = `"${written
    .slice(1, -1)
    .replaceAll(String.raw`\'`, "'")
    .replaceAll(/(?<!\\)"/g, String.raw`\"`)}"`
  expect(JSON.parse(asJson)).toBe(hostile)
  expect(curl).toContain(String.raw`'\''; rm -rf`)
})
