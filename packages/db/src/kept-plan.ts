import { sql } from 'kysely'

const MARK = '/*kept*/'

/**
 * The end of a statement whose plan each connection keeps (a named statement): a create of a sandbox waits for the planning of the large ones longer
 * than for their execution. For statements that find their rows by keys, and of which there are few different texts. Connections through a pool in transaction
 * mode plan them anew each time.
 */
export const keptPlan = sql.raw(MARK)

const names = new Map<string, string>()

/** The name of a statement whose plan is kept; undefined for all others. */
export function keptName(text: string): string | undefined {
  if (!text.endsWith(MARK)) return undefined
  let name = names.get(text)
  if (name === undefined) {
    name = `kept_${names.size}`
    names.set(text, name)
  }
  return name
}
