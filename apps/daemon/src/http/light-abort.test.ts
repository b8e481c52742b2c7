import { expect, it } from 'vitest'
import { AbortController } from './light-abort.ts'

const abort = (...reason: unknown[]): AbortSignal => {
  const controller = new AbortController()
  controller.abort(...reason)
  return controller.signal
}

it('shares the reason of aborts without a reason, which is the standard AbortError', () => {
  expect(abort().reason).toMatchObject({ name: 'AbortError', code: DOMException.ABORT_ERR })
  expect(abort().reason).toBe(abort(undefined).reason)
})

it('keeps the reason of an abort', () => {
  expect(abort('gone')).toMatchObject({ aborted: true, reason: 'gone' })
})
