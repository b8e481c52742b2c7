import { Readable } from 'node:stream'
import { MAX_UPLOAD_BYTES } from '@sandyard/dashboard-contract/limits'
import type { FileEntry } from '@sandyard/dashboard-contract/files'
import { AppError } from '@sandyard/kit/errors/app-error'
import { putFile } from '../../../daemon/daemon-files.ts'
import type { Daemon } from '../../../daemon/daemon.ts'
import { DaemonCallError } from '../../../daemon/daemon-call-error.ts'
import { UploadBody } from '../../../uploads/upload-body.ts'
import { toRelayError } from '../relay-error.ts'
import { findFile, statFile } from './file-calls.ts'
import { TooLargeError } from './too-large-error.ts'

export interface FileWrite {
  readonly path: string
  /** That of the file which the writer has read, or `none`. Undefined: whatever is there. */
  readonly version: string | undefined
  readonly body: Readable
}

/** The file is not the one that the writer knows. */
class ChangedError extends Error {
  readonly statusCode = 412
}

/**
 * Writes a file that keeps its owner; a new one gets the owner of its folder.
 *
 * @throws AppError; an error with the status 412 or 413
 */
export async function writeFile(daemon: Daemon, { path, version, body }: FileWrite, signal: AbortSignal): Promise<FileEntry> {
  using upload = new UploadBody(body)
  const before = await findFile(daemon, path, signal)
  if (version !== undefined && version !== (before?.version ?? 'none')) {
    const sentence = before === undefined ? 'The file was removed meanwhile' : 'The file was changed meanwhile'
    throw new ChangedError(version === 'none' ? 'There is a file with this name already' : sentence)
  }
  const owner = (before ?? (await findFile(daemon, parentOf(path), signal)))?.owner ?? 'root'
  const content = Readable.from(upTo(upload, MAX_UPLOAD_BYTES), { objectMode: false })
  try {
    await putFile(daemon, path, { content, owner }, signal)
  } catch (err) {
    signal.throwIfAborted()
    // The owner has no name in the sandbox.
    if (err instanceof DaemonCallError && err.code === '401')
      throw new AppError('conflict', `The owner '${owner}' is no user of the sandbox`)
    throw toRelayError(err)
  }
  return statFile(daemon, path, signal)
}

async function* upTo(upload: UploadBody, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of upload.chunks()) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new TooLargeError(maxBytes)
    yield chunk
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}
