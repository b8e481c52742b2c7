import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openDataDirectory } from '@sandyard/api/program/data/data-directory'
import { checkArchive } from '@sandyard/backup/check-archive'
import { checkSchema, restoreTables } from '@sandyard/backup/restore-tables'
import { createScratchDatabase, type ScratchDatabase } from '@sandyard/backup/scratch-database'
import { countByKey } from '@sandyard/api/secrets/reseal-secrets'
import { Database } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { startEmbeddedPostgres } from './checkout.ts'
import { directUrl } from './open-place.ts'
import { readPassphrase } from './passphrase.ts'
import { readKeyRing } from '../read-key-ring.ts'
import type { CliParts } from '../cli-parts.ts'

/** Of the command line. */
export interface VerifyOptions {
  readonly sumsOnly?: boolean
  readonly passphraseFile?: string
}

export async function runVerify(parts: CliParts, name: string, { sumsOnly = false, passphraseFile }: VerifyOptions): Promise<void> {
  const { output, cwd, signal } = parts
  const passphrase = readPassphrase(passphraseFile, cwd)
  const file = resolve(cwd, name)
  const manifest = await checkArchive(file, { passphrase, signal })
  await checkSchema(manifest)
  let secrets: SecretCounts | undefined
  if (!sumsOnly) {
    await using scratch = await openScratch(parts)
    await restoreTables({ file, passphrase, signal, manifest, databaseUrl: scratch.url, replace: false, log: silentLogger() })
    secrets = await countSecrets(parts, scratch.url)
  }
  const { missingFiles = [] } = manifest
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const answer = {
    file,
    createdAt: manifest.createdAt,
    sandyardVersion: manifest.sandyardVersion,
    entries: manifest.entries.length,
    rows,
    hasLoaded: !sumsOnly,
    hasImages: manifest.hasImages,
    missingImages: manifest.missingImages,
    missingFiles,
    pausedSandboxes: manifest.paused.length,
    ...(secrets !== undefined && { secrets }),
  }
  output.result(answer, () => {
    output.pairs([
      ['made', `${manifest.createdAt} by ${manifest.sandyardVersion}`],
      ['sums', `${manifest.entries.length} entries are intact`],
      ['tables', sumsOnly ? 'not loaded' : `${manifest.tables.length} tables with ${rows} rows were loaded`],
      ['images', manifest.hasImages ? manifest.images.length - manifest.paused.length : 'none: made with --no-images'],
      ['missing images', manifest.missingImages.length === 0 ? undefined : manifest.missingImages.join(', ')],
      ['missing files', missingFiles.length === 0 ? undefined : missingFiles.join(', ')],
      ['paused sandboxes', manifest.paused.length],
      ['secrets', secrets === undefined ? undefined : secretsText(secrets)],
    ])
  })
}

interface SecretCounts {
  /** Stored values; a secret has one for each of its versions. */
  readonly values: number
  /** Those that no key of this machine opens. */
  readonly locked: number
}

/** What the keys of this machine could open after a restore of the tables: a backup has no key. */
async function countSecrets(parts: CliParts, url: string): Promise<SecretCounts> {
  const ring = await readKeyRing(parts.environment, parts.connection.directory)
  await using database = new Database({ url, applicationName: 'sandyard-cli', log: silentLogger(), maxConnections: 1 })
  const counts = [...(await countByKey(database.db))]
  const sum = (some: typeof counts): number => some.reduce((all, [, count]) => all + count, 0)
  return { values: sum(counts), locked: sum(counts.filter(([keyId]) => ring?.keyIds.includes(keyId) !== true)) }
}

function secretsText({ values, locked }: SecretCounts): string {
  if (values === 0) return 'none'
  return locked === 0
    ? `${values} values, which the keys of this machine open`
    : `${locked} of ${values} values need a key that is not here (docs/secrets.md)`
}

/** On the server of DATABASE_URL, else on a Postgres that is made for it. */
async function openScratch(parts: CliParts): Promise<ScratchDatabase> {
  const given = directUrl(parts)
  if (given !== undefined) return createScratchDatabase(given)
  const folder = mkdtempSync(join(tmpdir(), 'sandyard-verify-'))
  try {
    const directory = openDataDirectory(join(folder, 'data'))
    const postgres = await startEmbeddedPostgres({ directory, port: 0, say: (line) => parts.output.say(line), settings: ['fsync=off'] })
    return {
      url: postgres.url,
      async [Symbol.asyncDispose]() {
        await postgres[Symbol.asyncDispose]()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (err) {
    rmSync(folder, { recursive: true, force: true })
    throw err
  }
}
