import type { SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import { expect, test } from 'vitest'
import { applyPatch, compareBy, fromSnapshot, NO_ROWS, settle, type ListRows } from './list-rows.ts'

const compare = compareBy({ sort: 'started', order: 'desc' })

function row(sandboxId: string, minute: number | null, change: Partial<SandboxRow> = {}): SandboxRow {
  return {
    sandboxId,
    state: 'running',
    alias: null,
    templateId: 't',
    templateName: 'base',
    buildId: 'b',
    cpuCount: 2,
    memoryMib: 512,
    diskMib: 1024,
    startedAt: minute === null ? null : new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    endsAt: null,
    pausesAtEnd: false,
    metadata: {},
    createdBy: { kind: 'key', label: 'ci' },
    end: null,
    ...change,
  }
}

const ids = ({ rows }: ListRows): string[] => rows.map(({ sandboxId }) => sandboxId)
const shown = fromSnapshot(NO_ROWS, [row('c', 3), row('b', 2), row('a', 1)], false)
const free = { isHeld: false, compare }
const held = { isHeld: true, compare }

test('puts new rows in their place and takes removed ones away', () => {
  expect(ids(applyPatch(shown, { rows: [row('d', 4)], removed: ['b'] }, free))).toEqual(['d', 'c', 'a'])
})

test('patches a row in place, also when its order would be another one', () => {
  const next = applyPatch(shown, { rows: [row('a', 9, { state: 'paused' })] }, free)
  expect(ids(next)).toEqual(['c', 'b', 'a'])
  expect(next.rows[2]?.state).toBe('paused')
})

test('moves nothing while it is held, and everything afterwards', () => {
  const next = applyPatch(shown, { rows: [row('d', 4), row('b', 2, { state: 'paused' })], removed: ['c'] }, held)
  expect(ids(next)).toEqual(['c', 'b', 'a'])
  expect(next.rows[1]?.state).toBe('paused')
  expect([...next.gone]).toEqual(['c'])
  expect(next.waiting.map(({ sandboxId }) => sandboxId)).toEqual(['d'])
  expect(settle(next, compare)).toEqual({ ...NO_ROWS, rows: [row('d', 4), row('b', 2, { state: 'paused' }), row('a', 1)] })
})

test('forgets a waiting row that is removed, and brings a gone row back', () => {
  const waiting = applyPatch(shown, { rows: [row('d', 4)], removed: ['c'] }, held)
  const next = applyPatch(waiting, { rows: [row('c', 3)], removed: ['d'] }, held)
  expect(next.waiting).toEqual([])
  expect([...next.gone]).toEqual([])
})

test('keeps the newest of a row that waits', () => {
  const once = applyPatch(shown, { rows: [row('d', 4)] }, held)
  const twice = applyPatch(once, { rows: [row('d', 4, { state: 'paused' })] }, held)
  expect(twice.waiting.map(({ state }) => state)).toEqual(['paused'])
})

test('treats a snapshot after a reconnect as a patch while it is held', () => {
  const next = fromSnapshot(shown, [row('d', 4), row('c', 3), row('a', 1)], true)
  expect(ids(next)).toEqual(['c', 'b', 'a'])
  expect([...next.gone]).toEqual(['b'])
  expect(next.waiting).toHaveLength(1)
  expect(ids(fromSnapshot(shown, [row('d', 4)], false))).toEqual(['d'])
})

test('orders as the server does: what has no start time yet is the newest', () => {
  const rows = [row('a', 1), row('x', null), row('b', 2)]
  expect(rows.toSorted(compare).map(({ sandboxId }) => sandboxId)).toEqual(['x', 'b', 'a'])
  const byEnd = compareBy({ sort: 'expires', order: 'asc' })
  const ends = [row('never', 1), row('soon', 2, { endsAt: '2026-01-01T00:00:00Z' })]
  expect(ends.toSorted(byEnd).map(({ sandboxId }) => sandboxId)).toEqual(['soon', 'never'])
})
