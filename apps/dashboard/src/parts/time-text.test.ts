import { expect, test } from 'vitest'
import { agoText, countdownText, durationText } from './time-text.ts'

test('counts down', () => {
  expect([-1, 0, 999, 60_000, 252_000, 7_452_000, 273_120_000].map(countdownText)).toEqual([
    'now',
    'now',
    '00:01',
    '01:00',
    '04:12',
    '2:04:12',
    '3 d 03:52:00',
  ])
})

test('says how long ago something was', () => {
  expect([-500, 12_000, 300_000, 3 * 3_600_000, 96 * 3_600_000].map(agoText)).toEqual([
    'just now',
    '12 s ago',
    '5 min ago',
    '3 h ago',
    '4 d ago',
  ])
})

test('says how long something took', () => {
  expect([850, 4200, 190_000, 7_500_000].map(durationText)).toEqual(['850 ms', '4.2 s', '3 min 10 s', '2 h 5 min'])
})
