import { expect, it } from 'vitest'
import { curlText, extendedTimeout, shellWord } from './sandbox-code.ts'

it('quotes words for the shell', () => {
  expect(shellWord('plain-1.txt')).toBe('plain-1.txt')
  expect(shellWord(`it's`)).toBe(`'it'\\''s'`)
})

it('writes a curl command without a credential in it', () => {
  const text = curlText({ apiUrl: 'http://host:3000' }, 'POST', '/sandboxes/i1/timeout', { timeout: 60 })
  expect(text).toContain(`curl -X POST 'http://host:3000/sandboxes/i1/timeout'`)
  expect(text).toContain('$E2B_API_KEY')
  expect(text).toContain(`-d '{"timeout":60}'`)
})

it('adds seconds to the end time, up to the most that a sandbox may live', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(extendedTimeout('2026-01-01T00:01:00Z', 900, 3600, now)).toBe(960)
  expect(extendedTimeout('2026-01-01T00:59:00Z', 900, 3600, now)).toBe(3600)
  expect(extendedTimeout('2025-12-31T00:00:00Z', 900, 3600, now)).toBe(900)
  expect(extendedTimeout(null, 900, 3600, now)).toBe(900)
})
