import { expect, it } from 'vitest'
import { toEndEvent } from './end-event.ts'

it.each([
  [{ code: 0 }, { exitCode: 0, exited: true, status: 'exit status 0' }],
  [{ code: 255 }, { exitCode: 255, exited: true, status: 'exit status 255', error: 'exit status 255' }],
  [
    { signal: 'SIGSEGV' as const },
    { exitCode: -1, exited: false, status: 'signal: segmentation fault', error: 'signal: segmentation fault' },
  ],
  [{ signal: 'SIGPWR' as const }, { exitCode: -1, exited: false, status: 'signal: signal 30', error: 'signal: signal 30' }],
])('%j', (exit, event) => {
  expect(toEndEvent(exit)).toEqual(event)
})
