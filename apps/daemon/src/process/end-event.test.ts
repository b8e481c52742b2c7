import { expect, it } from 'vitest'
import { toEndEvent } from './end-event.ts'

const killed = (status: string) => ({ exitCode: -1, exited: false, status, error: status })

it.each([
  [{ code: 0 }, { exitCode: 0, exited: true, status: 'exit status 0' }],
  [{ code: 255 }, { exitCode: 255, exited: true, status: 'exit status 255', error: 'exit status 255' }],
  [{ signal: 15, coreDumped: false }, killed('signal: terminated')],
  [{ signal: 11, coreDumped: true }, killed('signal: segmentation fault (core dumped)')],
  [{ signal: 26, coreDumped: false }, killed('signal: virtual timer expired')],
  [{ signal: 27, coreDumped: false }, killed('signal: profiling timer expired')],
  [{ signal: 29, coreDumped: false }, killed('signal: I/O possible')],
  [{ signal: 30, coreDumped: false }, killed('signal: power failure')],
  [{ signal: 40, coreDumped: false }, killed('signal: signal 40')],
])('%j', (exit, event) => {
  expect(toEndEvent(exit)).toEqual(event)
})
