import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises'
import { errnoCode } from '../sys/errno-text.ts'
import { pathArgument, toText } from '../users/path-bytes.ts'
import { parentDirectory } from '../users/path-parts.ts'
import { attempt, ContentFailure, invalidRequest } from './content-failure.ts'
import { readEntry } from './entry-stat.ts'
import { makeParents } from './make-directory.ts'
import { sendJson } from './send-json.ts'
import type { ContentCall } from './content-call.ts'
import { STALLED_MS } from './stalled.ts'
import { temporaryPath } from './temporary.ts'

const ACTION = 'write file'
const DEFAULT_MODE = 0o666
const TEMPORARY_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * `PUT /file`: the body becomes the file, whole or not at all. Without `force` nothing may be there; with it the parents are made, and a file
 * or a link is replaced, never followed.
 */
export async function writeFile({ request, response, query }: ContentCall): Promise<void> {
  const { path } = query
  const [owner, mode, force] = [query.owner(), query.mode(DEFAULT_MODE), query.force()]
  const temporary = temporaryPath()
  request.socket.setTimeout(STALLED_MS)
  const entry = await attempt(ACTION, path, async () => {
    if (force) await makeParents(path, owner)
    await checkTarget(path, force)
    const file = await open(temporary, TEMPORARY_FLAGS, 0o600)
    try {
      await using written = file
      await receive(request, written)
      await written.chown(owner.uid, owner.gid)
      await written.chmod(mode)
    } catch (error) {
      await unlink(temporary).catch(() => undefined)
      throw error
    }
    try {
      await (force ? rename(temporary, pathArgument(path)) : link(temporary, pathArgument(path)))
    } finally {
      await unlink(temporary).catch((error: unknown) => {
        if (errnoCode(error) !== 'ENOENT') throw error
      })
    }
    return readEntry(path)
  })
  sendJson(response, 201, entry)
}

/** Before the body: a refusal of gigabytes comes at once. The result holds only until another process changes the volume. */
async function checkTarget(path: string, force: boolean): Promise<void> {
  // Fails also for a missing or a wrong parent.
  if (path !== '/') await lstat(pathArgument(`${parentDirectory(path)}/.`))
  const found = await lstat(pathArgument(path)).catch((error: unknown) => {
    if (errnoCode(error) !== 'ENOENT') throw error
  })
  if (found === undefined) return
  if (!force) throw new ContentFailure(409, 'PATH_ALREADY_EXISTS', `failed to ${ACTION}: "${toText(path)}" already exists.`)
  if (found.isDirectory()) throw invalidRequest(`failed to ${ACTION}: the path is a directory`)
}

async function receive(request: ContentCall['request'], file: FileHandle): Promise<void> {
  // After a failure the connection stays, so that the client gets the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten
  }
}
