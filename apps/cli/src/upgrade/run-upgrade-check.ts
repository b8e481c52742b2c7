import type { CliParts } from '../cli-parts.ts'
import { sizeText } from '../size-text.ts'
import { EXIT } from '../exit-codes.ts'
import { EndWith } from '../fail.ts'
import { readRelease } from '../release.ts'
import { agoText } from '../time-text.ts'
import { readUpgrade, type UpgradePlan } from './read-upgrade.ts'

const DAY_MS = 24 * 3_600_000
/** A backup before an upgrade is at most this old. */
const RECENT_MS = DAY_MS

/** Prints the plan. @throws EndWith `checksFailed` for a database that must not be upgraded as it is */
export async function runUpgradeCheck(parts: CliParts): Promise<void> {
  const { db } = await parts.database()
  const plan = await readUpgrade(db, readRelease())
  const problems = problemsOf(plan)
  const { output } = parts
  output.result({ ...plan, problems }, () => {
    output.pairs([
      ['release of this program', plan.release],
      ['releases that run', plan.serverReleases.length === 0 ? 'none' : plan.serverReleases.join(', ')],
      ['migrations to run', plan.pending.length],
      ['newer migrations', plan.newer.length === 0 ? undefined : plan.newer.join(', ')],
      ['last backup', plan.lastBackup === undefined ? 'none' : `${agoText(plan.lastBackup.createdAt)}, ${plan.lastBackup.file}`],
    ])
    for (const { name, purpose, oldestRelease, tables } of plan.pending) {
      output.line(`\n${name}${purpose === undefined ? '' : `: ${purpose}`}`)
      if (oldestRelease !== undefined) output.line(`  stop the servers of releases before ${oldestRelease} first`)
      for (const table of tables) output.line(`  locks ${table.name} (${sizeText(table.sizeBytes)})`)
    }
  })
  for (const problem of problems) output.say(problem)
  if (problems.length > 0) throw new EndWith(EXIT.checksFailed)
  output.say(
    plan.pending.length === 0 ? 'This release starts with the database as it is.' : 'A start of this release runs these migrations.',
  )
}

function problemsOf({ isNew, refusal, pending, lastBackup }: UpgradePlan): string[] {
  const problems: string[] = []
  if (refusal !== undefined) problems.push(refusal)
  const isRecent = lastBackup !== undefined && Date.now() - Date.parse(lastBackup.createdAt) < RECENT_MS
  if (pending.length > 0 && !isNew && !isRecent) {
    problems.push('There is no backup of the last 24 hours, and migrations have no way back: run `sandyard backup <file>` first.')
  }
  return problems
}
