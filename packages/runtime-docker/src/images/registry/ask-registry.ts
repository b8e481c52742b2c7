import type Docker from 'dockerode'
import type { AuthConfig } from 'dockerode'
import type { ImageReference } from '../image-reference.ts'

interface Modem {
  dial(options: object, callback: (err: Error | null, answer: unknown) => void): void
}

/**
 * Returns the digest of a reference, which the engine requests from the registry with these credentials only. A reference with a digest is
 * requested too: the answer shows whether the caller may use the image.
 *
 * @throws the engine's error; the abort reason
 */
export async function askRegistry(
  docker: Docker,
  { name }: ImageReference,
  { login, signal }: { readonly login: AuthConfig | undefined; readonly signal: AbortSignal },
): Promise<string> {
  // dockerode's own method cannot be aborted.
  const request = {
    path: `/distribution/${name}/json`,
    method: 'GET',
    authconfig: login,
    abortSignal: signal,
    statusCodes: { 200: true },
  }
  const answer = await new Promise<unknown>((resolve, reject) => {
    ;(docker.modem as Modem).dial(request, (err, data) => (err === null ? resolve(data) : reject(err)))
  })
  const digest = (answer as { Descriptor?: { digest?: string } } | undefined)?.Descriptor?.digest
  if (digest === undefined) throw new Error('the registry returned no digest')
  return digest
}
