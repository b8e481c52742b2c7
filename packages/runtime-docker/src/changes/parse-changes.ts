import { dirname } from 'node:path/posix'
import type { RuntimeChange } from '@sandyard/runtime/types'
import type { Capped } from './read-capped.ts'

interface EngineChange {
  readonly Path: string
  readonly Kind: number
}

const KINDS = ['modified', 'added', 'deleted'] as const
/** Between two changes. It is in no path, because quotes in it are escaped. */
const BETWEEN = '},{"'

/** The whole changes of the engine's answer. @throws SyntaxError when it is no list */
export function parseChanges({ bytes, isCut }: Capped): RuntimeChange[] {
  const text = bytes.toString('utf8')
  const last = text.lastIndexOf(BETWEEN)
  const whole = !isCut ? text : last === -1 ? '[]' : `${text.slice(0, last)}}]`
  const list = JSON.parse(whole) as readonly EngineChange[] | null
  return (list ?? []).flatMap(({ Path, Kind }) => {
    const kind = KINDS[Kind]
    return kind === undefined ? [] : [{ path: Path, kind }]
  })
}

/** Without the folders that the engine lists only because something in them has changed: it lists each folder before what is in it. */
export function withoutParents(changes: readonly RuntimeChange[]): RuntimeChange[] {
  const parents = new Set(changes.map(({ path }) => dirname(path)))
  return changes.filter(({ path, kind }) => kind !== 'modified' || !parents.has(path))
}
