import { isOlderRelease } from '@sandyard/kit/config/release'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Migration } from './migrations.ts'

/** A row of `schema_migration`. */
export interface LandedMigration {
  readonly name: string
  readonly sha256: string
  readonly oldestRelease: string | null
}

export interface MigrationPlan {
  /** What this release adds, in order. */
  readonly pending: readonly Migration[]
  /** What a newer release has added. */
  readonly newer: readonly string[]
}

export interface PlanInput {
  readonly migrations: readonly Migration[]
  readonly landed: readonly LandedMigration[]
  readonly release: string
}

/**
 * Compares the migrations of this release with those of the database. A newer schema is accepted: a release serves with the schemas of later ones until a
 * migration names an oldest release.
 *
 * @throws AppError `failed_precondition` when the schema is too new for this release, when a landed file was changed, or when a file comes
 *   before one that has landed
 */
export function planMigrations({ migrations, landed, release }: PlanInput): MigrationPlan {
  const byName = new Map(landed.map((row) => [row.name, row]))
  const known = new Set(migrations.map(({ name }) => name))
  const newer = landed.filter(({ name }) => !known.has(name))
  const breaking = newer.find(({ oldestRelease }) => oldestRelease !== null && isOlderRelease(release, oldestRelease))
  if (breaking !== undefined) {
    throw refused(
      `The database has a newer schema (${breaking.name}), which needs release ${breaking.oldestRelease} or later, and this is ${release}: ` +
        'upgrade this server.',
    )
  }
  const changed = migrations.filter(({ name, sha256 }) => (byName.get(name)?.sha256 ?? sha256) !== sha256)
  if (changed.length > 0) throw refused(`migrations are never changed once landed: ${namesOf(changed)}`)
  const pending = migrations.filter(({ name }) => !byName.has(name))
  const late = pending.filter(({ name }) => landed.some((row) => row.name > name))
  if (late.length > 0) throw refused(`a new migration comes after all landed ones: ${namesOf(late)}`)
  return { pending, newer: newer.map(({ name }) => name).sort() }
}

function refused(message: string): AppError {
  return new AppError('failed_precondition', message)
}

function namesOf(migrations: readonly Migration[]): string {
  return migrations.map(({ name }) => name).join(', ')
}
