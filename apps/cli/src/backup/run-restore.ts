import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { PROGRAM_SETTINGS } from '@sandyard/api/program/config'
import { writePrivateFile } from '@sandyard/api/program/data/write-private-file'
import { checkArchive } from '@sandyard/backup/check-archive'
import type { Manifest } from '@sandyard/backup/manifest'
import { restoreFiles } from '@sandyard/backup/restore-files'
import { checkSchema, checkTarget, restoreTables } from '@sandyard/backup/restore-tables'
import { parseConfig } from '@sandyard/kit/config/parse-config'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { outboundOf } from '@sandyard/kit/outbound/outbound'
import type { EngineArchive } from '@sandyard/runtime/engine-archive'
import type { DockerEngineArchive } from '@sandyard/runtime-docker/archive/docker-engine-archive'
import { GUARD_FOLDER } from '@sandyard/runtime-docker/egress/guard-image'
import { ensureEngine } from './checkout.ts'
import { directUrl, openTarget, uploadsFolder } from './open-place.ts'
import { readPassphrase } from './passphrase.ts'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

/** Of the command line. */
export interface RestoreOptions {
  readonly images: boolean
  readonly replace?: boolean
  readonly yes?: boolean
  readonly passphraseFile?: string
}

export async function runRestore(parts: CliParts, name: string, options: RestoreOptions): Promise<void> {
  const { output, signal, cwd, environment } = parts
  const { images: wantsImages, replace = false, yes } = options
  assertWhole()
  const passphrase = readPassphrase(options.passphraseFile, cwd)
  const file = resolve(cwd, name)
  output.say(`checking ${file} ...`)
  const archived = await checkArchive(file, { passphrase, signal })
  await checkSchema(archived)
  if (replace) await confirm(parts, 'Replace everything that the database has now with the backup?', yes)
  await using place = await openTarget(parts)
  const { databaseUrl, directory } = place
  await checkTarget({ databaseUrl, replace })
  if (directUrl(parts) === undefined) {
    const outbound = outboundOf(parseConfig(PROGRAM_SETTINGS, environment))
    await ensureEngine({ environment, outbound, say: (line) => output.say(line), isInteractive: parts.stdin.isTTY })
  }
  const docker = await parts.engine()
  const { DockerEngineArchive: Archive } = await import('@sandyard/runtime-docker/archive/docker-engine-archive')
  const { volumeDriver, volumeDriverOptions: driverOptions } = parseConfig(PROGRAM_SETTINGS, environment)
  const archive = new Archive(docker, archived.installationId, { name: volumeDriver, options: driverOptions })
  await assertNotServed(archive, archived)
  const engine = wantsImages && !(await hasAll(archive, archived.images)) ? archive : undefined
  const manifest = wantsImages ? archived : { ...archived, images: [], paused: [] }
  signal.throwIfAborted()
  const say = (line: string): void => output.say(line)
  const uploads = uploadsFolder(parts, directory)
  const credentials = await restoreFiles({
    file,
    passphrase,
    signal,
    uploadsFolder: uploads,
    engine,
    volumes: wantsImages ? archive : undefined,
    say,
  })
  await restoreTables({ file, passphrase, signal, manifest, databaseUrl, replace, log: silentLogger() })
  if (credentials !== undefined) writePrivateFile(directory.credentialsFile, credentials)
  const { bindToEngine } = await import('./bind-to-engine.ts')
  const { paused, ended, leftOut } = await bindToEngine(parts, databaseUrl, manifest)
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const answer = {
    file,
    createdAt: manifest.createdAt,
    directory: directory.path,
    rows,
    images: manifest.images.length - manifest.paused.length,
    volumes: wantsImages ? (manifest.volumes ?? []).length : 0,
    missingImages: manifest.missingImages,
    missingFiles: manifest.missingFiles ?? [],
    pausedSandboxes: paused,
    endedSandboxes: ended,
    leftOutSandboxes: leftOut,
  }
  for (const { sandboxId, reason } of leftOut) output.say(`the paused sandbox ${sandboxId} is left out and has ended: ${reason}`)
  output.result(answer, () => {
    output.pairs([
      ['data directory', directory.path],
      ['backup of', manifest.createdAt],
      ['rows', rows],
      ['images', answer.images],
      ['volumes', answer.volumes],
      ['paused sandboxes', paused],
      ['ended sandboxes', ended],
    ])
  })
  if (ended > 0) output.say('Sandboxes that ran at the time of the backup have ended with the reason "restored".')
  output.say('The restore is complete: start the server.')
}

/** The npm package of the command line has no daemon and no sources of images. @throws CliFailure */
function assertWhole(): void {
  if (existsSync(GUARD_FOLDER)) return
  throw new CliFailure(
    EXIT.failed,
    'A restore needs the whole of Sandyard and not only its command line: run it in a checkout, or in the container of the API.',
  )
}

/** A server with another database: both would take the sandboxes of the installation for theirs. @throws CliFailure */
async function assertNotServed(archive: DockerEngineArchive, { installationId }: Manifest): Promise<void> {
  if (!(await archive.isServed())) return
  throw new CliFailure(
    EXIT.failed,
    `A server of this installation (${installationId}) runs with the engine, with this or another database: stop all its servers, and repeat it.`,
  )
}

async function hasAll(engine: EngineArchive, images: readonly string[]): Promise<boolean> {
  for (const image of images) if (!(await engine.imageExists(image))) return false
  return true
}
