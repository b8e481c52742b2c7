import type { IncomingMessage } from 'node:http'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { findablePath } from '@sandyard/runtime/findable-path'
import type { OriginalRequest } from '@sandyard/runtime/sandbox-runtime'
import type { OriginalFile } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { createContainer } from '../containers/create-container.ts'
import { removeContainer } from '../containers/remove-container.ts'
import { statusOf, toAppError } from '../engine/docker-errors.ts'
import { LABEL } from '../labels.ts'
import { fileInTar } from './file-in-tar.ts'
import { kindOfStat, readStat } from './path-stat.ts'

export interface OriginalParts {
  readonly docker: Docker
  readonly installation: string
  readonly log: Logger
}

export interface ReadOriginalRequest extends OriginalRequest {
  /** Of the sandbox's container. */
  readonly name: string
  readonly signal: AbortSignal
}

/** The engine's texts for paths below a file, for names that are too long, and for links in a circle. */
const NO_SUCH_PATH = /not a directory|file name too long|too many (?:levels of symbolic )?links/i

/**
 * Reads a file of the image of a container through another container of the image, which is never started and always removed: at once, or as
 * a leftover when the engine does not answer or this process dies. The engine resolves the path within the files of the container.
 *
 * @throws AppError; the abort reason
 */
export async function readOriginal(parts: OriginalParts, { name, path, maxBytes, signal }: ReadOriginalRequest): Promise<OriginalFile> {
  signal.throwIfAborted()
  const found = findablePath(path)
  try {
    const { Image: image } = await parts.docker.getContainer(name).inspect({ abortSignal: signal })
    if (found === undefined) return { kind: 'absent' }
    return await withImage(parts, image, async (id) => {
      signal.throwIfAborted()
      return readFile(parts.docker, id, { path: found, maxBytes, signal })
    })
  } catch (err) {
    signal.throwIfAborted()
    if (statusOf(err) === 404) throw new AppError('not_found', 'The sandbox does not exist.', { cause: err })
    throw toAppError(err, 'The original file could not be read.')
  }
}

/** The create has no signal, so that no container is made after its removal. */
async function withImage<T>({ docker, installation, log }: OriginalParts, image: string, read: (id: string) => Promise<T>): Promise<T> {
  const name = `sandyard-original-${randomId(16)}`
  try {
    await createContainer(docker, {
      name,
      options: {
        Image: image,
        Entrypoint: [],
        Cmd: ['-'],
        NetworkDisabled: true,
        Healthcheck: { Test: ['NONE'] },
        // The image may be a snapshot of a sandbox, with labels of its own.
        Labels: { [LABEL.installation]: installation, [LABEL.role]: 'original', [LABEL.member]: '' },
      },
    })
    return await read(name)
  } finally {
    await removeContainer(docker, name).catch((err: unknown) => log.warn({ err, name }, 'the container of an original file is left behind'))
  }
}

async function readFile(
  docker: Docker,
  id: string,
  { path, maxBytes, signal }: OriginalRequest & { signal: AbortSignal },
): Promise<OriginalFile> {
  const stream = await openArchive(docker, id, { path, signal })
  if (stream === undefined) return { kind: 'absent' }
  try {
    const stat = readStat(stream)
    const kind = kindOfStat(stat)
    if (kind !== 'file') return { kind }
    if (stat.size > maxBytes) return { kind: 'large', sizeBytes: stat.size }
    return { kind, content: await fileInTar(stream, maxBytes) }
  } finally {
    stream.destroy()
  }
}

/** Undefined when the image has no such path. */
async function openArchive(
  docker: Docker,
  id: string,
  { path, signal: abortSignal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<IncomingMessage | undefined> {
  try {
    return (await docker.getContainer(id).getArchive({ path, abortSignal })) as IncomingMessage
  } catch (err) {
    if (statusOf(err) === 404 || (statusOf(err) === 500 && NO_SUCH_PATH.test((err as Error).message))) return undefined
    throw err
  }
}
