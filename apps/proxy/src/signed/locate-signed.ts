import type { IncomingMessage } from 'node:http'
import { DAEMON_PORT, namesNoSandbox } from '../address/host.ts'
import { addressSource, readTarget, type Location } from '../address/locate.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import type { SignedUrlFinder } from './signed-url-finder.ts'
import { parseSignedUrl } from './signed-url.ts'

const FILES_URL = /^(?:https?:\/\/[^/?]*)?\/files(?:\?|$)/i
const OPERATIONS: ReadonlyMap<string | undefined, 'read' | 'write'> = new Map([
  ['GET', 'read'],
  ['POST', 'write'],
])

/**
 * Whether a request is for the files of a sandbox that neither its host nor its headers name, as `uploadUrl()` and `downloadUrl()` are
 * where one address serves all sandboxes (clients.md 1.6).
 *
 * @throws ProxyError `bad_request`
 */
export function isUnaddressedFile(req: IncomingMessage, headerHosts: ReadonlySet<string>): boolean {
  return FILES_URL.test(req.url ?? '') && namesNoSandbox(addressSource(req, readTarget(req)), headerHosts)
}

/**
 * The place of such a request, by its signature.
 *
 * @throws ProxyError `bad_request` without one, and what the finder throws
 */
export async function locateSigned(req: IncomingMessage, finder: SignedUrlFinder): Promise<Location> {
  const target = readTarget(req)
  const operation = OPERATIONS.get(req.method)
  const signed = operation && parseSignedUrl(operation, target.path.slice(target.path.indexOf('?') + 1))
  if (signed === undefined) {
    throw new ProxyError({ kind: 'bad_request', message: 'Invalid host: it names no sandbox, and the URL is not a signed one' })
  }
  return { target, address: { sandboxId: await finder.find(signed), port: DAEMON_PORT } }
}
