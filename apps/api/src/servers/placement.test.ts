import { expect, it } from 'vitest'
import { Placement } from './placement.ts'

const at = (seconds: number): Date => new Date(seconds * 1000)

it('follows orders, and tells each change once', () => {
  const placement = new Placement()
  const told: string[] = []
  placement.onChange((status) => told.push(status))
  placement.assertAccepts()
  placement.follow({ status: 'ready', since: null })
  placement.follow({ status: 'draining', since: at(1) })
  placement.follow({ status: 'draining', since: at(1) })
  expect(() => placement.assertAccepts()).toThrow('not enough capacity')
  placement.follow({ status: 'ready', since: at(2) })
  placement.assertAccepts()
  expect(told).toEqual(['draining', 'ready'])
})

it('ignores an order that arrives after a newer one', () => {
  const placement = new Placement()
  placement.follow({ status: 'draining', since: at(2) })
  placement.follow({ status: 'ready', since: at(1) })
  placement.follow({ status: 'ready', since: null })
  expect([placement.status, placement.accepts]).toEqual(['draining', false])
})
