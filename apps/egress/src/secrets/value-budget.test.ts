import { expect, it } from 'vitest'
import { ValueBudget } from './value-budget.ts'

const LIMITS = { sandboxChars: 10, teamChars: 15, allChars: 20 }
const of = (sandboxId: string, teamId: string) => ({ sandboxId, teamId })

it('refuses what is above the cap of a sandbox, of a team and of all, and only that', () => {
  const budget = new ValueBudget(LIMITS)
  const first = budget.open(of('a', 't'))
  expect([first.add(8), first.add(3), first.add(2)]).toEqual([true, false, true])
  expect(budget.open(of('a', 't')).add(1)).toBe(false)
  const sibling = budget.open(of('b', 't'))
  expect([sibling.add(6), sibling.add(5)]).toEqual([false, true])
  const stranger = budget.open(of('c', 'u'))
  expect([stranger.add(6), stranger.add(5)]).toEqual([false, true])
})

it('gives back what a request had, once', () => {
  const budget = new ValueBudget(LIMITS)
  const first = budget.open(of('a', 't'))
  first.add(10)
  const refused = budget.open(of('a', 't'))
  expect(refused.add(1)).toBe(false)
  refused[Symbol.dispose]()
  expect(budget.open(of('a', 't')).add(1)).toBe(false)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  const next = budget.open(of('a', 't'))
  expect([next.add(10), next.add(1)]).toEqual([true, false])
})
