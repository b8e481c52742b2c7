import { chmod, chown, lstat } from 'node:fs/promises'
import { RemovalFailure } from '../filesystem/remove-tree.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { attempt, ContentFailure, invalidRequest, toFailure } from './content-failure.ts'
import { readChange } from './content-query.ts'
import { readEntry } from './entry-stat.ts'
import { sendJson } from './send-json.ts'
import type { ContentCall } from './content-call.ts'
import { removeDeepTree } from './temporary.ts'

const MAX_CHANGE_BYTES = 65_536

/** `GET /path`: the entry. */
export async function statEntry({ response, query: { path } }: ContentCall): Promise<void> {
  sendJson(response, 200, await attempt('stat', path, () => readEntry(path)))
}

/** `PATCH /path`: changes owner and mode, and answers with the entry. A link is followed. */
export async function changeEntry({ request, response, query: { path } }: ContentCall): Promise<void> {
  const { uid, gid, mode } = readChange(await readText(request))
  const argument = pathArgument(path)
  // The owner first: its change clears bits of the mode.
  if (uid !== undefined || gid !== undefined) await attempt('chown', path, () => chown(argument, uid ?? -1, gid ?? -1))
  if (mode !== undefined) await attempt('chmod', path, () => chmod(argument, mode))
  sendJson(response, 200, await attempt('stat', path, () => readEntry(path)))
}

/** `DELETE /path`: removes an entry with all below it. Links are removed, never followed. */
export async function deleteEntry({ response, query: { path } }: ContentCall): Promise<void> {
  if (path === '/') throw new ContentFailure(400, 'CANNOT_DELETE_ROOT', 'cannot delete root')
  await attempt('delete', path, () => lstat(pathArgument(path)))
  try {
    await removeDeepTree(path)
  } catch (error) {
    throw toFailure(error instanceof RemovalFailure ? error.cause : error, 'delete', path)
  }
  response.writeHead(204).end()
}

async function readText(request: ContentCall['request']): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_CHANGE_BYTES) throw invalidRequest(`the body is larger than ${MAX_CHANGE_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
