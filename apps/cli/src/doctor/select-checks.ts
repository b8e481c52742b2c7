import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { GROUPS, type CheckGroup } from './all-checks.ts'

/** The groups with the checks of `--only E1,K4`; all without it. @throws CliFailure `usage` that names what is unknown */
export function selectChecks(only: string | undefined): CheckGroup[] {
  if (only === undefined) return [...GROUPS]
  const ids = only
    .split(',')
    .map((id) => id.trim().toUpperCase())
    .filter((id) => id !== '')
  const known = GROUPS.flatMap(({ checks }) => checks.map(({ id }) => id))
  const unknown = ids.filter((id) => !known.includes(id))
  if (unknown.length > 0 || ids.length === 0) {
    throw new CliFailure(EXIT.usage, `--only takes ids of checks (${known.join(', ')}), not "${unknown.join(', ')}".`)
  }
  return GROUPS.map(({ title, checks }) => ({ title, checks: checks.filter(({ id }) => ids.includes(id)) })).filter(
    ({ checks }) => checks.length > 0,
  )
}
