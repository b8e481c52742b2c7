import { expect, test } from 'vitest'
import { judgeFrame, type Subscription } from './subscription.ts'

const patch = (id: number, seq: number) => ({ t: 'patch', id, seq, data: {} }) as const
const snapshot = (id: number) => ({ t: 'snapshot', id, data: {} }) as const
const begun = (): Subscription => ({ id: 7, seq: undefined })

test('takes a snapshot and then patches in order', () => {
  const subscription = begun()
  expect([snapshot(7), patch(7, 1), patch(7, 2)].map((frame) => judgeFrame(subscription, frame))).toEqual(['snapshot', 'patch', 'patch'])
})

test('asks again when a patch is missing, comes twice, or comes before the snapshot', () => {
  expect(judgeFrame(begun(), patch(7, 1))).toBe('resubscribe')
  expect(judgeFrame({ id: 7, seq: 1 }, patch(7, 3))).toBe('resubscribe')
  expect(judgeFrame({ id: 7, seq: 1 }, patch(7, 1))).toBe('resubscribe')
})

test('counts from 1 again after another snapshot', () => {
  const subscription: Subscription = { id: 7, seq: 5 }
  expect(judgeFrame(subscription, snapshot(7))).toBe('snapshot')
  expect(judgeFrame(subscription, patch(7, 1))).toBe('patch')
})

test('asks again after a gap and gives up after an error', () => {
  expect(judgeFrame(begun(), { t: 'gap', id: 7 })).toBe('resubscribe')
  expect(judgeFrame(begun(), { t: 'error', id: 7, code: 404, message: '' })).toBe('refused')
})

test('ignores frames of former subscriptions and of terminals', () => {
  const left: Subscription = { id: 0, seq: undefined }
  expect(judgeFrame(left, snapshot(7))).toBe('ignore')
  expect(judgeFrame(begun(), snapshot(6))).toBe('ignore')
  expect(judgeFrame(begun(), { t: 'error', request: 7, code: 404, message: '' })).toBe('ignore')
  expect(judgeFrame(begun(), { t: 'term.exit', channel: 7, exitCode: 0, text: '' })).toBe('ignore')
})
