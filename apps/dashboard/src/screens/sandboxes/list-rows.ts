import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import type { SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import type { ListView } from './list-view.ts'

/**
 * The rows that are shown. While they are held (the pointer or the focus is on them) nothing moves: rows are patched in place, new ones wait, and those
 * that no longer match stay as `gone`.
 */
export interface ListRows {
  readonly rows: readonly SandboxRow[]
  readonly waiting: readonly SandboxRow[]
  readonly gone: ReadonlySet<string>
}

export const NO_ROWS: ListRows = { rows: [], waiting: [], gone: new Set() }

export type Compare = (one: SandboxRow, other: SandboxRow) => number

/** A new snapshot: everything is as the server says. Held, it is a patch of what is shown. */
export function fromSnapshot(former: ListRows, rows: readonly SandboxRow[], isHeld: boolean): ListRows {
  if (!isHeld || former.rows.length === 0) return { ...NO_ROWS, rows }
  const ids = new Set(rows.map(({ sandboxId }) => sandboxId))
  const removed = former.rows.filter(({ sandboxId }) => !ids.has(sandboxId)).map(({ sandboxId }) => sandboxId)
  return applyPatch({ ...former, waiting: [] }, { rows, removed }, { isHeld, compare: () => 0 })
}

export function applyPatch(
  former: ListRows,
  { rows: changed = [], removed = [] }: Topics['sandboxes']['patch'],
  { isHeld, compare }: { readonly isHeld: boolean; readonly compare: Compare },
): ListRows {
  const byId = new Map(changed.map((row) => [row.sandboxId, row]))
  const gone = new Set(former.gone)
  for (const id of byId.keys()) gone.delete(id)
  for (const id of removed) gone.add(id)
  const rows = former.rows.map((row) => byId.get(row.sandboxId) ?? row)
  const shown = new Set(rows.map(({ sandboxId }) => sandboxId))
  const added = changed.filter(({ sandboxId }) => !shown.has(sandboxId))
  const addedIds = new Set(added.map(({ sandboxId }) => sandboxId))
  const waiting = [...former.waiting.filter(({ sandboxId }) => !addedIds.has(sandboxId) && !gone.has(sandboxId)), ...added]
  const next = { rows, waiting, gone: new Set([...gone].filter((id) => shown.has(id))) }
  return isHeld ? next : settle(next, compare)
}

/** Nobody points at the rows any more: new ones come in, gone ones go, all in order. */
export function settle(former: ListRows, compare: Compare): ListRows {
  const { rows, waiting, gone } = former
  if (waiting.length === 0 && gone.size === 0) return former
  const kept = rows.filter(({ sandboxId }) => !gone.has(sandboxId))
  return { ...NO_ROWS, rows: waiting.length === 0 ? kept : [...kept, ...waiting].toSorted(compare) }
}

/** The order of the server. Without a start time a sandbox is about to start: the newest of all. */
export function compareBy({ sort, order }: Pick<ListView, 'sort' | 'order'>): Compare {
  const sign = order === 'asc' ? 1 : -1
  return (one, other) => sign * (compareValues(valueOf(one, sort), valueOf(other, sort)) || (one.sandboxId < other.sandboxId ? -1 : 1))
}

function compareValues(one: string | number, other: string | number): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function valueOf(row: SandboxRow, sort: ListView['sort']): string | number {
  switch (sort) {
    case 'started':
      return row.startedAt === null ? Infinity : Date.parse(row.startedAt)
    case 'expires':
      return row.endsAt === null ? Infinity : Date.parse(row.endsAt)
    case 'ended':
      return row.end === null ? Infinity : Date.parse(row.end.at)
    case 'template':
      return row.templateName
    case 'state':
      return row.state
  }
}
