/** The tag of the process of a terminal begins with it; every server finds a shell by its tag. */
export const TAG_PREFIX = 'dashboard-'

/** How calls of the daemon name the shell of a terminal. */
export function shellSelector(terminalId: string) {
  return { selector: { case: 'tag', value: TAG_PREFIX + terminalId } } as const
}
