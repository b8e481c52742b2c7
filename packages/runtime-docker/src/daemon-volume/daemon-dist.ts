import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'

/** A built distribution of the daemon, with everything that it needs to run in any image. */
export interface DaemonDist {
  readonly dir: string
  /** Identifies the content: different content has a different version. */
  readonly version: string
}

/** The content of the distribution's `dist.json`. */
export interface DaemonManifest {
  /** The mount point of its files in the container. */
  readonly mount: string
  readonly command: readonly string[]
  readonly port: number
  /** The command that prepares a sandbox's files to become an image; absent when the distribution has none. */
  readonly imageTool?: readonly string[]
  /** The command of the file service of a volume, to which flags are appended; absent when the distribution has none. */
  readonly volumeServer?: readonly string[]
}

/** @throws AppError `failed_precondition` when there is no usable `dist.json` */
export async function readManifest({ dir }: DaemonDist): Promise<DaemonManifest> {
  const file = join(dir, 'dist.json')
  const unusable = (cause: unknown): AppError =>
    new AppError(
      'failed_precondition',
      `The daemon distribution has no usable ${file}: name a complete one with SANDYARD_DAEMON_DIST, or leave that out to have it built.`,
      { cause },
    )
  const manifest = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Partial<DaemonManifest>,
    (err: unknown) => {
      throw unusable(err)
    },
  )
  const { mount, command, port, imageTool = [], volumeServer = [] } = manifest
  const isUsable = typeof mount === 'string' && mount.startsWith('/') && typeof port === 'number'
  if (!isUsable || !isTexts(command) || command.length === 0 || !isTexts(imageTool) || !isTexts(volumeServer)) throw unusable(manifest)
  return { mount, command, port, imageTool, volumeServer }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((part) => typeof part === 'string')
}
