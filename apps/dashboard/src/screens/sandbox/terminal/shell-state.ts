import type { OpenTerminal } from '../../../live/live-client.ts'

/** A shell of the tab strip: one that the server keeps, or one that this page is opening. */
export interface ShellTab {
  readonly terminalId: string
  readonly title: string
  /** Absent: it exists. */
  readonly create?: OpenTerminal['create']
}

interface Kept {
  readonly terminalId: string
  readonly title: string
  readonly user: string
}

/** Those that the server keeps, in its order, then those that this page is opening. `closed` ones are left out. */
export function shellTabs(kept: readonly Kept[], opening: readonly ShellTab[], closed: ReadonlySet<string>): readonly ShellTab[] {
  const created = new Map(opening.map((shell) => [shell.terminalId, shell]))
  const keptIds = new Set(kept.map(({ terminalId }) => terminalId))
  const tabs = kept.map(({ terminalId, title, user }, index): ShellTab => {
    const create = created.get(terminalId)?.create
    return { terminalId, title: title === '' ? `${index + 1} · ${user}` : title, ...(create !== undefined && { create }) }
  })
  return [...tabs, ...opening.filter(({ terminalId }) => !keptIds.has(terminalId))].filter(({ terminalId }) => !closed.has(terminalId))
}
