import { expect, test } from 'vitest'
import { curlOf, shellWord } from './wire-code.ts'

test('a word with quotes stays one word of the shell', () => {
  expect(shellWord(`it's $HOME`)).toBe(`'it'\\''s $HOME'`)
})

test('the credential is a variable', () => {
  expect(curlOf({ method: 'POST', path: '/volumes', body: { name: 'a' } })).toBe(
    `curl -X POST http://127.0.0.1:3000/volumes -H "X-API-Key: $E2B_API_KEY" -H 'Content-Type: application/json' -d '{"name":"a"}'`,
  )
})
