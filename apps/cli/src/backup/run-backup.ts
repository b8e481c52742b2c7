import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writePrivateFile } from '@sandyard/api/program/data/write-private-file'
import { createBackup } from '@sandyard/backup/create-backup'
import { recordBackup } from '@sandyard/backup/last-backup'
import { openExisting, uploadsFolder } from './open-place.ts'
import { readPassphrase } from './passphrase.ts'
import { sizeText } from '../size-text.ts'
import type { CliParts } from '../cli-parts.ts'
import { readRelease } from '../release.ts'

/** Of the command line. */
export interface BackupOptions {
  readonly images: boolean
  readonly passphraseFile?: string
}

export async function runBackup(parts: CliParts, name: string, { images, passphraseFile }: BackupOptions): Promise<void> {
  const { output, signal, cwd } = parts
  const passphrase = readPassphrase(passphraseFile, cwd)
  const file = resolve(cwd, name)
  await using place = await openExisting(parts)
  const { directory, databaseUrl } = place
  const manifest = await createBackup({
    file,
    databaseUrl,
    sandyardVersion: readRelease(),
    uploadsFolder: uploadsFolder(parts, directory),
    credentialsFile: directory.credentialsFile,
    openEngine: images ? (installationId) => openEngine(parts, installationId) : undefined,
    passphrase,
    say: (line) => output.say(line),
    signal,
  })
  const { createdAt, hasImages, missingImages, missingFiles = [] } = manifest
  const sizeBytes = statSync(file).size
  const last = { createdAt, file, sizeBytes, hasImages }
  await recordBackup(databaseUrl, last)
  // For `status` where the database cannot be asked.
  writePrivateFile(join(directory.path, 'last-backup.json'), `${JSON.stringify(last)}\n`)
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const answer = {
    file,
    sizeBytes,
    createdAt,
    rows,
    images: manifest.images.length - manifest.paused.length,
    volumes: (manifest.volumes ?? []).length,
    missingImages,
    missingFiles,
    pausedSandboxes: manifest.paused.length,
    isEncrypted: passphrase !== undefined,
  }
  output.result(answer, () => output.line(`${file} (${sizeText(sizeBytes)})`))
  if (passphrase === undefined) output.say('The file has the keys of the server: keep it as secret as them.')
}

async function openEngine(parts: CliParts, installationId: string) {
  const { DockerEngineArchive } = await import('@sandyard/runtime-docker/archive/docker-engine-archive')
  return new DockerEngineArchive(await parts.engine(), installationId)
}
