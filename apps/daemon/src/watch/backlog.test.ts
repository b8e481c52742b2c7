import { describe, expect, it } from 'vitest'
import { Backlog } from './backlog.ts'
import { MAX_BEHIND } from './watch-failure.ts'

describe('Backlog', () => {
  it('ends a watcher that is too far behind, and no other', () => {
    const backlog = new Backlog()
    const ended: string[] = []
    const [slow, quick] = [backlog.open(() => ended.push('slow')), backlog.open(() => ended.push('quick'))]
    quick.add()
    for (let count = 0; count < MAX_BEHIND; count += 1) slow.add()
    expect(ended).toEqual([])
    slow.add()
    slow.add()
    expect([ended, slow.count, quick.count]).toEqual([['slow'], 0, 1])
  })

  it('above the cap for all, ends the watcher with the most events, whichever adds the last', () => {
    const backlog = new Backlog()
    const ended: string[] = []
    const names = ['a', 'b', 'forgotten', 'd']
    const shares = names.map((name) => backlog.open(() => ended.push(name)))
    for (const [index, share] of shares.entries()) {
      for (let count = 0; count < MAX_BEHIND / 2 + (index === 2 ? 10 : -4); count += 1) share.add()
    }
    for (let count = 0; count < 3; count += 1) shares[0]?.add()
    expect(ended).toEqual(['forgotten'])
    for (const share of shares) share.close()
    for (let count = 0; count <= MAX_BEHIND; count += 1) shares[0]?.add()
    expect(ended).toEqual(['forgotten'])
  })
})
