import { expect, it } from 'vitest'
import { exportsOf } from './test-server.ts'

it('reads the settings for clients from the output of the server', () => {
  const printed = 'Ready.\n\n  export E2B_API_KEY=e2b_ab\n  export E2B_API_URL=http://127.0.0.1:1\n\nexported nothing=else\n'
  expect(exportsOf(printed)).toEqual({ E2B_API_KEY: 'e2b_ab', E2B_API_URL: 'http://127.0.0.1:1' })
})
